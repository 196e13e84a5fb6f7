//===- Digits.cpp - The digits of a layout --------------------------------===//
#include "Digits.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <numeric>
#include <tuple>

using namespace tile;
using namespace tile::detail;
using llvm::ArrayRef;
using llvm::Error;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::Twine;

std::string detail::extentText(int64_t extent) {
  return extent == kDynamic ? "?" : std::to_string(extent);
}

std::string detail::digitText(const Digit &digit) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << extentText(digit.extent) << " -> ";
  if (digit.stride == 0)
    os << 0;
  else
    os << 'd' << digit.dim;
  if (digit.stride > 1 || digit.stride < 0)
    os << " * " << digit.stride;
  return text;
}

std::string detail::tupleText(ArrayRef<int64_t> tuple) {
  return "(" + llvm::join(llvm::map_range(tuple, extentText), ", ") + ")";
}

Error detail::error(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

SmallVector<Located, 8> detail::digitsOf(const Layout &layout, unsigned dim) {
  SmallVector<Located, 8> result;
  for (unsigned a = 0; a < layout.numAxes(); ++a)
    for (auto [position, digit] : llvm::enumerate(layout.axis(a)))
      if (digit.dim == dim && digit.stride != 0 && digit.extent != 1)
        result.push_back({a, unsigned(position), digit.extent, digit.stride});
  llvm::sort(result, [](const Located &x, const Located &y) {
    return std::tie(x.stride, x.axis, x.position) <
           std::tie(y.stride, y.axis, y.position);
  });
  return result;
}

int64_t detail::indexOf(const Layout &layout, unsigned axis, unsigned position,
                        int64_t value) {
  for (const Digit &digit : layout.axis(axis).take_front(position))
    value *= digit.extent;
  return value;
}

SmallVector<int64_t, 4> detail::unflatten(const Layout &layout,
                                          int64_t number) {
  SmallVector<int64_t, 4> index;
  for (unsigned a = 0; a < layout.numAxes(); ++a) {
    index.push_back(number % layout.axisSize(a));
    number /= layout.axisSize(a);
  }
  return index;
}

bool detail::stridesSeparate(ArrayRef<Located> digits) {
  int64_t largest = 0;
  for (const Located &digit : digits) {
    if (digit.stride <= largest)
      return false;
    largest = digit.extent == kDynamic
                  ? kUnbounded
                  : largest + (digit.extent - 1) * digit.stride;
  }
  return true;
}

/// Replaces dynamic extents by static ones that are large enough to show a
/// collision: if a dynamic digit collides with others at all, it does so within
/// this extent.
static void boundDynamicDigits(SmallVectorImpl<Located> &digits) {
  int64_t reach = 0;
  int64_t strides = 1;
  for (const Located &digit : digits) {
    if (digit.extent == kDynamic)
      // Two unbounded digits of strides s and t have a common sum at s * t.
      strides = strides == 1 ? digit.stride : std::lcm(strides, digit.stride);
    else
      reach += (digit.extent - 1) * digit.stride;
  }
  for (Located &digit : digits)
    if (digit.extent == kDynamic)
      digit.extent = std::max(reach, strides) / digit.stride + 1;
}

bool detail::findCollision(const Layout &layout, SmallVector<Located, 8> digits,
                           Layout::Witness *witness) {
  if (stridesSeparate(digits))
    return false;
  boundDynamicDigits(digits);
  int64_t total = 1;
  for (const Located &digit : digits)
    total *= digit.extent;
  auto indexTuple = [&](int64_t number) {
    SmallVector<int64_t, 4> tuple(layout.numAxes(), 0);
    for (const Located &digit : digits) {
      tuple[digit.axis] +=
          indexOf(layout, digit.axis, digit.position, number % digit.extent);
      number /= digit.extent;
    }
    return tuple;
  };
  // By the pigeonhole principle this ends after at most (largest sum + 2)
  // steps.
  llvm::DenseMap<int64_t, int64_t> firstWith;
  for (int64_t number = 0; number < total; ++number) {
    int64_t rest = number, sum = 0;
    for (const Located &digit : digits) {
      sum += rest % digit.extent * digit.stride;
      rest /= digit.extent;
    }
    auto [it, isNew] = firstWith.try_emplace(sum, number);
    if (isNew)
      continue;
    if (witness)
      *witness = {indexTuple(it->second), indexTuple(number)};
    return true;
  }
  return false;
}

Digits detail::coalesce(ArrayRef<Digit> digits) {
  Digits result;
  for (const Digit &digit : digits) {
    if (digit.extent == 1)
      continue;
    if (!result.empty()) {
      Digit &last = result.back();
      bool continues = digit.stride == last.stride * last.extent &&
                       (digit.stride == 0 || digit.dim == last.dim);
      if (continues) {
        last.extent =
            digit.extent == kDynamic ? kDynamic : last.extent * digit.extent;
        continue;
      }
    }
    result.push_back(digit);
    if (digit.stride == 0)
      result.back().dim = 0;
  }
  return result;
}

int64_t detail::largestCoordinate(const Layout &layout, unsigned dim) {
  uint64_t sum = 0;
  for (const Located &digit : digitsOf(layout, dim)) {
    if (digit.extent == kDynamic)
      return kDynamic;
    sum = llvm::SaturatingMultiplyAdd<uint64_t>(digit.extent - 1, digit.stride,
                                                sum);
  }
  return std::min<uint64_t>(sum, kUnbounded);
}

Swizzle detail::effectiveSwizzle(Swizzle swizzle, int64_t largest) {
  if (swizzle.bits == 0 || largest == kDynamic)
    return swizzle;
  int64_t source = largest >> (swizzle.base + swizzle.shift);
  unsigned bits = source == 0 ? 0 : llvm::Log2_64(source) + 1;
  swizzle.bits = std::min(swizzle.bits, bits);
  return swizzle;
}
