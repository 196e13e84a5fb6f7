//===- Layout.cpp - Layouts and their verification ------------------------===//
#include "Digits.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile;
using namespace tile::detail;
using llvm::ArrayRef;
using llvm::Error;
using llvm::SmallVector;
using llvm::Twine;

/// The largest number of indices of a layout, and of each axis of a distributed
/// layout. They ensure that products do not overflow and that a table of an
/// axis fits the memory.
static constexpr int64_t kMostIndices = int64_t(1) << 40;
static constexpr int64_t kMostThreads = int64_t(1) << 20;

static std::string axisName(LayoutFamily family, unsigned axis) {
  static const char *const names[] = {"register", "lane", "warp"};
  if (family == LayoutFamily::Distributed && axis < 3)
    return names[axis];
  return "x" + std::to_string(axis);
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

Layout Layout::distributed(Digits registers, Digits lanes, Digits warps,
                           ArrayRef<int64_t> shape) {
  Layout result;
  result.kind = LayoutFamily::Distributed;
  result.axes = {std::move(registers), std::move(lanes), std::move(warps)};
  result.extents.assign(shape.begin(), shape.end());
  return result;
}

Layout Layout::map(ArrayRef<Digits> axes, ArrayRef<int64_t> shape) {
  Layout result;
  result.axes.assign(axes.begin(), axes.end());
  result.extents.assign(shape.begin(), shape.end());
  return result;
}

Layout Layout::memory(ArrayRef<Digits> axes, int64_t size, Swizzle swizzle) {
  Layout result = map(axes, {size});
  result.kind = LayoutFamily::Memory;
  result.swz = swizzle;
  return result;
}

Layout Layout::strided(ArrayRef<int64_t> extents, ArrayRef<int64_t> strides,
                       Swizzle swizzle) {
  SmallVector<Digits, 3> axes;
  int64_t largest = 0;
  for (auto [extent, stride] : llvm::zip_equal(extents, strides)) {
    axes.push_back({Digit{extent, 0, stride}});
    if (extent == kDynamic)
      largest = kDynamic;
    else if (largest != kDynamic)
      largest += (extent - 1) * stride;
  }
  int64_t size = largest;
  if (largest != kDynamic) {
    Swizzle effective = effectiveSwizzle(swizzle, largest);
    size = effective.bits == 0
               ? largest + 1
               : llvm::alignTo(largest + 1,
                               int64_t(1) << (swizzle.base + effective.bits));
  }
  return memory(axes, size, swizzle);
}

Layout Layout::identity(ArrayRef<int64_t> shape) {
  SmallVector<Digits, 3> axes;
  for (auto [dim, extent] : llvm::enumerate(shape))
    axes.push_back({Digit{extent, unsigned(dim), 1}});
  return map(axes, shape);
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

int64_t Layout::axisSize(unsigned i) const {
  int64_t size = 1;
  for (const Digit &digit : axes[i]) {
    if (digit.extent == kDynamic)
      return kDynamic;
    size *= digit.extent;
  }
  return size;
}

int64_t Layout::inputSize() const {
  int64_t size = 1;
  for (unsigned a = 0; a < numAxes(); ++a) {
    int64_t extent = axisSize(a);
    if (extent == kDynamic)
      return kDynamic;
    size *= extent;
  }
  return size;
}

bool Layout::isStatic() const {
  return inputSize() != kDynamic && !llvm::is_contained(extents, kDynamic);
}

SmallVector<int64_t, 4> Layout::apply(ArrayRef<int64_t> index) const {
  SmallVector<int64_t, 4> coords(extents.size(), 0);
  for (unsigned a = 0; a < axes.size(); ++a) {
    int64_t rest = a == 0 ? inSwz(index[0]) : index[a];
    ArrayRef<Digit> digits = axes[a];
    if (digits.empty())
      continue;
    // A digit with stride 0 may have a dimension that does not exist.
    for (const Digit &digit : digits.drop_back()) {
      if (digit.stride != 0)
        coords[digit.dim] += rest % digit.extent * digit.stride;
      rest /= digit.extent;
    }
    if (digits.back().stride != 0)
      coords[digits.back().dim] += rest * digits.back().stride;
  }
  if (swz.bits != 0)
    coords[0] = swz(coords[0]);
  return coords;
}

int64_t Layout::offset(ArrayRef<int64_t> coords) const {
  int64_t offset = 0;
  for (unsigned a = 0; a < axes.size(); ++a) {
    int64_t rest = coords[a];
    ArrayRef<Digit> digits = axes[a];
    if (digits.empty())
      continue;
    for (const Digit &digit : digits.drop_back()) {
      offset += rest % digit.extent * digit.stride;
      rest /= digit.extent;
    }
    offset += rest * digits.back().stride;
  }
  return swz(offset);
}

Error Layout::verify() const {
  bool isDistributed = kind == LayoutFamily::Distributed;
  if (isDistributed && numAxes() != 3)
    return error("a distributed layout has the axes register, lane and warp, "
                 "but this one has " +
                 Twine(numAxes()) + " axes");
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    if (extent == kDynamic ? isDistributed : extent < 1)
      return error("dimension " + Twine(dim) + " has the extent " +
                   extentText(extent) + "; a positive number is needed");
  }
  for (unsigned a = 0; a < numAxes(); ++a) {
    for (auto [position, digit] : llvm::enumerate(axes[a])) {
      std::string where = "digit " + std::to_string(position) + " (" +
                          digitText(digit) + ") of axis " + axisName(kind, a);
      if (digit.extent == kDynamic) {
        if (isDistributed)
          return error(where + " is dynamic, but the layout is distributed");
        if (position + 1 != axes[a].size())
          return error(where +
                       " is dynamic; only the last digit of an axis may be");
        if (digit.stride != 0 && digit.dim < rank() &&
            extents[digit.dim] != kDynamic)
          return error(where + " is dynamic, but dimension " +
                       Twine(digit.dim) + " has the extent " +
                       Twine(extents[digit.dim]));
      } else if (digit.extent < 1) {
        return error(where + " has an extent that is not positive");
      }
      if (digit.stride < 0)
        return error(where + " has a negative stride");
      if (digit.stride != 0 && digit.dim >= rank())
        return error(where + " names dimension " + Twine(digit.dim) +
                     ", but there are " + Twine(rank()));
    }
  }
  uint64_t indices = 1;
  for (unsigned a = 0; a < numAxes(); ++a) {
    uint64_t size = 1;
    for (const Digit &digit : axes[a])
      if (digit.extent != kDynamic)
        size = llvm::SaturatingMultiply<uint64_t>(size, digit.extent);
    indices = llvm::SaturatingMultiply(indices, size);
    if (isDistributed && size > kMostThreads)
      return error("axis " + axisName(kind, a) + " has more than " +
                   Twine(kMostThreads) + " values");
  }
  if (indices > kMostIndices)
    return error("the layout has more than " + Twine(kMostIndices) +
                 " indices");
  for (const Swizzle &swizzle : {swz, inSwz}) {
    if (swizzle.bits == 0)
      continue;
    if (swizzle.shift < swizzle.bits)
      return error("swizzle with " + Twine(swizzle.bits) +
                   " bits needs a shift of at least that, but it is " +
                   Twine(swizzle.shift));
    if (swizzle.bits > 32 || swizzle.base > 32 || swizzle.shift > 32)
      return error("swizzle <" + Twine(swizzle.bits) + ", " +
                   Twine(swizzle.base) + ", " + Twine(swizzle.shift) +
                   "> is out of range; each number may be 32 at most");
  }
  if (swz.bits != 0 && rank() != 1)
    return error("a swizzle permutes the offsets of a single dimension, but "
                 "there are " +
                 Twine(rank()));
  if (inSwz.bits != 0 && numAxes() != 1)
    return error("a swizzle on the way in needs a single axis, but there are " +
                 Twine(numAxes()));

  for (unsigned d = 0; d < rank(); ++d) {
    int64_t largest = largestCoordinate(*this, d);
    if (extents[d] == kDynamic || largest == kDynamic)
      continue;
    if (largest >= extents[d]) {
      SmallVector<int64_t, 4> index(numAxes(), 0);
      for (const Located &digit : digitsOf(*this, d))
        index[digit.axis] +=
            indexOf(*this, digit.axis, digit.position, digit.extent - 1);
      return error("index " + tupleText(index) + " has the coordinate " +
                   Twine(largest) + " in dimension " + Twine(d) +
                   ", which has the extent " + Twine(extents[d]));
    }
    Swizzle effective = effectiveSwizzle(swz, largest);
    if (effective.bits == 0 ||
        (largest | ((int64_t(1) << (effective.base + effective.bits)) - 1)) <
            extents[d])
      continue;
    // A swizzled offset may exceed the storage; check every offset.
    if (inputSize() > kMostThreads)
      return error("a storage of " + Twine(extents[d]) +
                   " elements is no multiple of the " +
                   Twine(int64_t(1) << (effective.base + effective.bits)) +
                   " elements that the swizzle permutes");
    for (int64_t number = 0, e = inputSize(); number < e; ++number) {
      SmallVector<int64_t, 4> index = unflatten(*this, number);
      int64_t at = apply(index)[0];
      if (at >= extents[d])
        return error("the swizzle moves index " + tupleText(index) +
                     " to offset " + Twine(at) + " of a storage of " +
                     Twine(extents[d]) + " elements");
    }
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

void tile::printDigits(llvm::raw_ostream &os, ArrayRef<Digit> digits) {
  os << '[';
  llvm::interleaveComma(digits, os,
                        [&](const Digit &digit) { os << digitText(digit); });
  os << ']';
}

void Layout::print(llvm::raw_ostream &os) const {
  for (unsigned a = 0; a < numAxes(); ++a) {
    os << (a == 0 ? "" : ", ") << axisName(kind, a) << " = ";
    printDigits(os, axes[a]);
  }
  os << " : " << llvm::join(llvm::map_range(extents, extentText), "x");
  auto printSwizzle = [&](llvm::StringRef name, Swizzle swizzle) {
    if (swizzle.bits != 0)
      os << ", " << name << '<' << swizzle.bits << ", " << swizzle.base << ", "
         << swizzle.shift << '>';
  };
  printSwizzle("swizzle", swz);
  printSwizzle("input swizzle", inSwz);
}

std::string Layout::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}
