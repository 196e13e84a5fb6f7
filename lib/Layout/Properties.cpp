//===- Properties.cpp - Properties of layouts -----------------------------===//
#include "Digits.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace tile;
using namespace tile::detail;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Returns the distinct sums of the digits as row-major element numbers,
/// sorted.
static SmallVector<int64_t> elementNumbers(ArrayRef<Digit> digits,
                                           ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> weights(shape.size(), 1);
  for (unsigned d = shape.size(); d-- > 1;)
    weights[d - 1] = weights[d] * shape[d];
  SmallVector<int64_t> sums = {0};
  for (const Digit &digit : digits) {
    if (digit.stride == 0)
      continue;
    int64_t step = digit.stride * weights[digit.dim];
    size_t count = sums.size();
    for (int64_t v = 1; v < digit.extent; ++v)
      for (size_t i = 0; i < count; ++i)
        sums.push_back(sums[i] + v * step);
  }
  llvm::sort(sums);
  sums.erase(std::unique(sums.begin(), sums.end()), sums.end());
  return sums;
}

static int64_t largestPowerOfTwoDivisor(int64_t value) {
  return value & -value;
}

bool Layout::operator==(const Layout &other) const {
  return kind == other.kind && axes == other.axes && extents == other.extents &&
         swz == other.swz && inSwz == other.inSwz;
}

bool Layout::equivalent(const Layout &other) const {
  if (numAxes() != other.numAxes() || extents != other.extents)
    return false;
  for (unsigned a = 0; a < numAxes(); ++a)
    if (axisSize(a) != other.axisSize(a))
      return false;
  auto effective = [](const Layout &layout) {
    return layout.rank() == 1
               ? effectiveSwizzle(layout.swz, largestCoordinate(layout, 0))
               : layout.swz;
  };
  auto effectiveIn = [](const Layout &layout) {
    int64_t size = layout.numAxes() == 1 ? layout.axisSize(0) : kDynamic;
    return effectiveSwizzle(layout.inSwz, size == kDynamic ? size : size - 1);
  };
  if (effective(*this) == effective(other) &&
      effectiveIn(*this) == effectiveIn(other)) {
    bool sameDigits = llvm::equal(axes, other.axes,
                                  [](const Digits &mine, const Digits &theirs) {
                                    return coalesce(mine) == coalesce(theirs);
                                  });
    bool isSwizzled =
        effective(*this).bits != 0 || effectiveIn(*this).bits != 0;
    // Without a swizzle, equal functions have equal coalesced digits.
    if (sameDigits || !isSwizzled)
      return sameDigits;
  }
  // Different swizzles are equal if they differ only in bits that are zero in
  // all offsets.
  if (inputSize() == kDynamic)
    return false;
  for (int64_t number = 0, e = inputSize(); number < e; ++number) {
    SmallVector<int64_t, 4> index = unflatten(*this, number);
    if (apply(index) != other.apply(index))
      return false;
  }
  return true;
}

bool Layout::equivalentUpToRegisters(const Layout &other) const {
  if (kind != LayoutFamily::Distributed || other.kind != kind ||
      extents != other.extents)
    return false;
  // The elements of a thread are those of thread 0 plus the coordinates of the
  // thread's own digits. A finite set plus an offset equals itself only if the
  // offset is zero.
  for (unsigned a : {kLane, kWarp})
    if (axisSize(a) != other.axisSize(a) ||
        coalesce(axes[a]) != coalesce(other.axes[a]))
      return false;
  return elementNumbers(axes[kRegister], extents) ==
         elementNumbers(other.axes[kRegister], extents);
}

bool Layout::isInjective(bool countReplication, Witness *witness) const {
  if (countReplication) {
    for (unsigned a = 0; a < numAxes(); ++a)
      for (auto [position, digit] : llvm::enumerate(axes[a]))
        if (digit.stride == 0 && digit.extent != 1) {
          if (witness) {
            witness->first.assign(numAxes(), 0);
            witness->second.assign(numAxes(), 0);
            witness->second[a] = indexOf(*this, a, position, 1);
          }
          return false;
        }
  }
  for (unsigned d = 0; d < rank(); ++d)
    if (findCollision(*this, digitsOf(*this, d), witness))
      return false;
  return true;
}

int64_t Layout::imageSize() const {
  int64_t size = 1;
  for (unsigned d = 0; d < rank(); ++d) {
    SmallVector<Located, 8> digits = digitsOf(*this, d);
    if (llvm::any_of(digits, [](const Located &digit) {
          return digit.extent == kDynamic;
        }))
      return kDynamic;
    if (stridesSeparate(digits)) {
      for (const Located &digit : digits)
        size *= digit.extent;
      continue;
    }
    Digits plain;
    for (const Located &digit : digits)
      plain.push_back({digit.extent, 0, digit.stride});
    size *= elementNumbers(plain, {1}).size();
  }
  return size;
}

bool Layout::isSurjective() const {
  for (unsigned d = 0; d < rank(); ++d) {
    // All coordinates below `covered` are covered. If the next stride leaves a
    // gap, no later digit fills it, because later strides are larger.
    int64_t covered = 1;
    for (const Located &digit : digitsOf(*this, d)) {
      if (digit.stride > covered)
        return false;
      covered = digit.extent == kDynamic
                    ? kUnbounded
                    : covered + (digit.extent - 1) * digit.stride;
    }
    if (extents[d] == kDynamic ? covered < kUnbounded : covered != extents[d])
      return false;
  }
  return true;
}

int64_t Layout::replication(unsigned axis) const {
  int64_t copies = 1;
  for (const Digit &digit : axes[axis])
    if (digit.stride == 0) {
      if (digit.extent == kDynamic)
        return kDynamic;
      copies *= digit.extent;
    }
  return copies;
}

int64_t Layout::contiguity(unsigned axis, unsigned dim) const {
  Digits own = coalesce(axes[axis]);
  if (own.empty() || own.front().dim != dim || own.front().stride != 1)
    return 1;
  // All other digits, and the end of this one, must be multiples of the result.
  int64_t bits = int64_t(1) << 30;
  if (own.front().extent != kDynamic)
    bits |= own.front().extent;
  for (const Located &digit : digitsOf(coalesced(), dim))
    if (digit.stride != 1 || digit.axis != axis)
      bits |= digit.stride;
  int64_t width = largestPowerOfTwoDivisor(bits);
  if (axis == 0 && inSwz.bits != 0)
    width = std::min(width, int64_t(1) << inSwz.base);
  Swizzle effective = effectiveSwizzle(
      swz, rank() == 1 ? largestCoordinate(*this, 0) : kDynamic);
  if (effective.bits != 0)
    width = std::min(width, int64_t(1) << effective.base);
  return width;
}
