//===- Layout.cpp - The layout algebra ------------------------------------===//
//
// Every function works on digits. If digits do not suffice (two digits of one
// dimension overlap), it enumerates the sums of one dimension. The dimensions
// of a layout are independent, because each digit changes one dimension only.
//
//===----------------------------------------------------------------------===//
#include "tile/Layout/Layout.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <numeric>
#include <tuple>

using namespace tile;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::Twine;

namespace {

/// Stands for "no limit"; small enough that sums do not overflow.
constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max() / 4;

/// The largest number of indices of a layout, and of each axis of a distributed
/// layout. They ensure that products do not overflow and that a table of an
/// axis fits the memory.
constexpr int64_t kMostIndices = int64_t(1) << 40;
constexpr int64_t kMostThreads = int64_t(1) << 20;

Error error(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

std::string extentText(int64_t extent) {
  return extent == kDynamic ? "?" : std::to_string(extent);
}

std::string digitText(const Digit &digit) {
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

std::string tupleText(ArrayRef<int64_t> tuple) {
  return "(" + llvm::join(llvm::map_range(tuple, extentText), ", ") + ")";
}

std::string axisName(LayoutFamily family, unsigned axis) {
  static const char *const names[] = {"register", "lane", "warp"};
  if (family == LayoutFamily::Distributed && axis < 3)
    return names[axis];
  return "x" + std::to_string(axis);
}

/// A digit with its axis and its position in the axis.
struct Located {
  unsigned axis, position;
  int64_t extent, stride;
};

/// Returns the digits that change dimension `dim`, smallest stride first.
SmallVector<Located, 8> digitsOf(const Layout &layout, unsigned dim) {
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

/// Returns the index of `axis` whose digit at `position` is `value` and whose
/// other digits are zero.
int64_t indexOf(const Layout &layout, unsigned axis, unsigned position,
                int64_t value) {
  for (const Digit &digit : layout.axis(axis).take_front(position))
    value *= digit.extent;
  return value;
}

/// Returns true if each stride exceeds the largest sum of the digits with
/// smaller strides. All sums are distinct then; otherwise two may be equal.
/// `digits` are sorted by stride.
bool stridesSeparate(ArrayRef<Located> digits) {
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
void boundDynamicDigits(SmallVectorImpl<Located> &digits) {
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

/// Finds two indices with equal sums of the digits of one dimension and writes
/// them to `witness`. Returns false if there are none.
bool findCollision(const Layout &layout, SmallVector<Located, 8> digits,
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

/// Removes digits of extent 1 and merges digits that continue each other. Equal
/// functions give equal results.
Digits coalesce(ArrayRef<Digit> digits) {
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

/// Returns the largest sum of the digits of one dimension, at most kUnbounded;
/// kDynamic if it is unknown.
int64_t largestCoordinate(const Layout &layout, unsigned dim) {
  uint64_t sum = 0;
  for (const Located &digit : digitsOf(layout, dim)) {
    if (digit.extent == kDynamic)
      return kDynamic;
    sum = llvm::SaturatingMultiplyAdd<uint64_t>(digit.extent - 1, digit.stride,
                                                sum);
  }
  return std::min<uint64_t>(sum, kUnbounded);
}

/// Returns the distinct sums of the digits as row-major element numbers,
/// sorted.
SmallVector<int64_t> elementNumbers(ArrayRef<Digit> digits,
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

/// Returns the swizzle without the bits that are zero in all offsets up to
/// `largest`.
Swizzle effectiveSwizzle(Swizzle swizzle, int64_t largest) {
  if (swizzle.bits == 0 || largest == kDynamic)
    return swizzle;
  int64_t source = largest >> (swizzle.base + swizzle.shift);
  unsigned bits = source == 0 ? 0 : llvm::Log2_64(source) + 1;
  swizzle.bits = std::min(swizzle.bits, bits);
  return swizzle;
}

int64_t largestPowerOfTwoDivisor(int64_t value) { return value & -value; }

/// One axis of the outer layout of a composition, with the place value of every
/// digit. It maps the digits of the inner layout to digits of the result.
class OuterAxis {
public:
  OuterAxis(ArrayRef<Digit> axis, unsigned number)
      : number(number), digits(coalesce(axis)) {
    int64_t place = 1;
    for (const Digit &digit : digits) {
      places.push_back(place);
      place = digit.extent == kDynamic ? kUnbounded : place * digit.extent;
    }
    size = place;
    used.assign(digits.size(), 0);
  }

  /// Appends the digits of the result for the digit `inner` to `result`.
  Error map(Digit inner, Digits &result) {
    const Digit whole = inner;
    auto crosses = [&](int64_t boundary) {
      return error("digit " + digitText(whole) +
                   " of the inner layout crosses the digit boundary " +
                   Twine(boundary) + " of axis " + Twine(number));
    };
    SmallVector<int64_t, 4> usedBefore = used;
    while (inner.extent != 1) {
      unsigned k = places.size() - 1;
      while (places[k] > inner.stride)
        --k;
      bool isLast = k + 1 == places.size();
      bool isMultiple = inner.stride % places[k] == 0;
      bool isDynamic = inner.extent == kDynamic;
      // compose() has checked that no value exceeds the last digit.
      bool fits = isLast || (!isDynamic &&
                             (inner.extent - 1) * inner.stride < places[k + 1]);
      if (isMultiple && fits) {
        emit(inner.extent, inner.stride, result);
        break;
      }
      int64_t part = isDynamic ? 1 : linearPart(inner, k);
      if (part == 1)
        return crosses(places[isLast ? k : k + 1]);
      emit(part, inner.stride, result);
      inner.extent /= part;
      inner.stride *= part;
    }
    for (unsigned k = 0; k + 1 < digits.size(); ++k)
      if (used[k] - usedBefore[k] >= digits[k].extent)
        return crosses(places[k + 1]);
    return Error::success();
  }

  /// Fails if the sum of the mapped digits carries from one outer digit to the
  /// next and the outer layout is not linear there.
  Error checkCarries() const {
    for (unsigned k = 0; k + 1 < digits.size(); ++k)
      if (used[k] >= digits[k].extent)
        return error("the digits of the inner layout that move d" +
                     Twine(number) + " carry over the digit boundary " +
                     Twine(places[k + 1]) + " of axis " + Twine(number) +
                     ": they add up to " + Twine(used[k] * places[k]));
    return Error::success();
  }

private:
  /// Returns digit k of `value`.
  int64_t digitAt(int64_t value, unsigned k) const {
    value /= places[k];
    return k + 1 == places.size() ? value : value % digits[k].extent;
  }

  /// Returns the image of `value` as a dimension and a coordinate; std::nullopt
  /// if it has nonzero coordinates in two dimensions.
  std::optional<std::pair<unsigned, int64_t>> image(int64_t value) const {
    std::pair<unsigned, int64_t> result(0, 0);
    for (unsigned k = 0; k < digits.size(); ++k) {
      int64_t moved = digitAt(value, k) * digits[k].stride;
      if (moved == 0)
        continue;
      if (result.second != 0 && result.first != digits[k].dim)
        return std::nullopt;
      result = {digits[k].dim, result.second + moved};
    }
    return result;
  }

  /// Returns the largest divisor n of the extent such that the outer layout is
  /// linear on the first n multiples of the stride.
  int64_t linearPart(const Digit &inner, unsigned k) const {
    auto unit = image(inner.stride);
    if (!unit)
      return 1;
    int64_t linear = 0;
    int64_t step = inner.stride / places[k];
    if (inner.stride % places[k] == 0 && digits[k].extent % step == 0) {
      linear = digits[k].extent / step;
    } else {
      for (linear = 2; linear < inner.extent; ++linear) {
        auto here = image(linear * inner.stride);
        if (!here || here->second != linear * unit->second ||
            (here->second != 0 && here->first != unit->first))
          break;
      }
    }
    for (int64_t part = std::min(linear, inner.extent); part > 1; --part)
      if (inner.extent % part == 0)
        return part;
    return 1;
  }

  /// Appends a digit for `extent` multiples of `stride`. The outer layout must
  /// be linear on them.
  void emit(int64_t extent, int64_t stride, Digits &result) {
    auto [dim, step] = *image(stride);
    result.push_back({extent, dim, step});
    for (unsigned k = 0; k + 1 < digits.size(); ++k)
      used[k] += largestDigit(extent, stride, k);
  }

  /// Returns the largest value of digit k in `extent` multiples of `stride`.
  /// Digit k must not be the last one.
  int64_t largestDigit(int64_t extent, int64_t stride, unsigned k) const {
    if (stride % places[k + 1] == 0)
      return 0;
    int64_t last = (extent - 1) * stride;
    if (last < places[k])
      return 0;
    if (stride % places[k] == 0 && last < places[k + 1])
      return last / places[k];
    int64_t largest = 0;
    for (int64_t v = 1; v < extent; ++v)
      largest = std::max(largest, digitAt(v * stride, k));
    return largest;
  }

  unsigned number;
  Digits digits;
  SmallVector<int64_t, 4> places, used;

public:
  /// The number of values of the axis; kUnbounded if dynamic.
  int64_t size;
};

} // namespace

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
    SmallVector<int64_t, 4> index(numAxes(), 0);
    for (int64_t number = 0, e = inputSize(); number < e; ++number) {
      int64_t rest = number;
      for (unsigned a = 0; a < numAxes(); ++a) {
        index[a] = rest % axisSize(a);
        rest /= axisSize(a);
      }
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
// Algebra
//===----------------------------------------------------------------------===//

Expected<Layout> Layout::compose(const Layout &inner) const {
  if (inner.rank() != numAxes())
    return error("the inner layout has " + Twine(inner.rank()) +
                 " dimensions, but the outer one has " + Twine(numAxes()) +
                 " axes");
  // The swizzles between the two layouts must cancel each other.
  if (!(inner.swz == inSwz))
    return error("the swizzle between the inner and the outer layout does not "
                 "cancel");

  Layout result;
  result.kind = inner.kind == LayoutFamily::Distributed ? inner.kind
                : kind == LayoutFamily::Memory          ? kind
                                                        : LayoutFamily::Map;
  result.extents = extents;
  result.swz = swz;
  result.inSwz = inner.inSwz;

  SmallVector<OuterAxis, 4> outer;
  for (unsigned a = 0; a < numAxes(); ++a) {
    outer.emplace_back(axes[a], a);
    int64_t largest = largestCoordinate(inner, a);
    if (largest == kDynamic ? outer[a].size != kUnbounded
                            : largest >= outer[a].size)
      return error("coordinate " + extentText(largest) + " of dimension " +
                   Twine(a) + " of the inner layout is outside axis " +
                   Twine(a) + " of the outer layout, which has " +
                   Twine(outer[a].size) + " values");
  }
  for (const Digits &axis : inner.axes) {
    Digits digits;
    for (const Digit &digit : coalesce(axis)) {
      if (digit.stride == 0)
        digits.push_back(digit);
      else if (Error e = outer[digit.dim].map(digit, digits))
        return e;
    }
    result.axes.push_back(coalesce(digits));
  }
  for (const OuterAxis &axis : outer)
    if (Error e = axis.checkCarries())
      return e;
  return result;
}

Expected<Layout> Layout::invert() const {
  if (!isStatic())
    return error("a layout with dynamic extents cannot be inverted");
  Witness witness;
  if (!isInjective(/*countReplication=*/true, &witness))
    return error("the layout is not injective: indices " +
                 tupleText(witness.first) + " and " +
                 tupleText(witness.second) + " have the same coordinates");
  Layout result;
  result.kind = inSwz.bits != 0 ? LayoutFamily::Memory : LayoutFamily::Map;
  result.swz = inSwz;
  result.inSwz = swz;
  for (unsigned a = 0; a < numAxes(); ++a)
    result.extents.push_back(axisSize(a));
  for (unsigned d = 0; d < rank(); ++d) {
    // In an injective layout onto a whole interval each stride is the product
    // of the extents of the digits with smaller strides.
    int64_t covered = 1;
    Digits digits;
    for (const Located &digit : digitsOf(*this, d)) {
      if (digit.stride != covered)
        break;
      digits.push_back({digit.extent, digit.axis,
                        indexOf(*this, digit.axis, digit.position, 1)});
      covered *= digit.extent;
    }
    if (covered != extents[d])
      return error(
          "the layout is not surjective: no index has the coordinate " +
          Twine(covered) + " in dimension " + Twine(d));
    result.axes.push_back(std::move(digits));
  }
  return result;
}

Expected<Layout> Layout::complement() const {
  if (!isStatic())
    return error("a layout with dynamic extents has no complement");
  if (swz.bits != 0 || inSwz.bits != 0)
    return error("a swizzled layout has no complement");
  Digits rest;
  for (unsigned d = rank(); d-- > 0;) {
    int64_t covered = 1;
    for (const Located &digit : digitsOf(*this, d)) {
      if (digit.stride % covered != 0) {
        Witness witness;
        if (findCollision(*this, digitsOf(*this, d), &witness))
          return error("the layout is not injective: indices " +
                       tupleText(witness.first) + " and " +
                       tupleText(witness.second) +
                       " have the same coordinates");
        return error("stride " + Twine(digit.stride) + " in dimension " +
                     Twine(d) + " is not a multiple of the " + Twine(covered) +
                     " values that the smaller strides cover");
      }
      if (digit.stride != covered)
        rest.push_back({digit.stride / covered, d, covered});
      covered = digit.stride * digit.extent;
    }
    if (extents[d] % covered != 0)
      return error("the extent " + Twine(extents[d]) + " of dimension " +
                   Twine(d) + " is not a multiple of the " + Twine(covered) +
                   " values that the layout spans");
    if (extents[d] != covered)
      rest.push_back({extents[d] / covered, d, covered});
  }
  return map({rest}, extents);
}

Expected<Layout> Layout::divide(ArrayRef<int64_t> tiler) const {
  if (tiler.size() != numAxes())
    return error("the tiler has " + Twine(tiler.size()) +
                 " extents, but the layout has " + Twine(numAxes()) + " axes");
  if (inSwz.bits != 0)
    return error("the index of a layout with a swizzle on the way in cannot "
                 "be divided");
  Layout result;
  result.kind =
      kind == LayoutFamily::Memory ? LayoutFamily::Memory : LayoutFamily::Map;
  result.extents = extents;
  result.swz = swz;
  for (unsigned a = 0; a < numAxes(); ++a) {
    Digits inTile, rest;
    int64_t need = tiler[a];
    if (need < 1)
      return error("the tile of axis " + Twine(a) + " has the extent " +
                   Twine(need) + "; a positive number is needed");
    for (Digit digit : coalesce(axes[a])) {
      if (need == 1) {
        rest.push_back(digit);
      } else if (digit.extent != kDynamic && need % digit.extent == 0) {
        inTile.push_back(digit);
        need /= digit.extent;
      } else if (digit.extent == kDynamic || digit.extent % need == 0) {
        inTile.push_back({need, digit.dim, digit.stride});
        rest.push_back(
            {digit.extent == kDynamic ? kDynamic : digit.extent / need,
             digit.dim, digit.stride * need});
        need = 1;
      } else {
        return error("a tile of " + Twine(tiler[a]) + " values of axis " +
                     Twine(a) + " does not divide evenly at digit " +
                     digitText(digit));
      }
    }
    if (need != 1)
      return error("a tile of " + Twine(tiler[a]) +
                   " values is larger than axis " + Twine(a) + ", which has " +
                   Twine(axisSize(a)));
    result.axes.push_back(std::move(inTile));
    result.axes.push_back(std::move(rest));
  }
  return result;
}

Expected<Layout> Layout::product(const Layout &outer) const {
  if (numAxes() != outer.numAxes() || rank() != outer.rank())
    return error("the factors have " + Twine(numAxes()) + " and " +
                 Twine(outer.numAxes()) + " axes and " + Twine(rank()) +
                 " and " + Twine(outer.rank()) +
                 " dimensions; they must agree");
  for (const Layout *factor : {this, &outer})
    if (factor->swz.bits != 0 || factor->inSwz.bits != 0)
      return error("a swizzled layout has no product");
  Layout result = *this;
  for (unsigned d = 0; d < rank(); ++d) {
    if (extents[d] == kDynamic)
      return error("dimension " + Twine(d) +
                   " of the repeated layout has a dynamic extent");
    result.extents[d] =
        outer.extents[d] == kDynamic ? kDynamic : extents[d] * outer.extents[d];
  }
  for (unsigned a = 0; a < numAxes(); ++a) {
    if (axisSize(a) == kDynamic)
      return error("axis " + Twine(a) +
                   " of the repeated layout has a dynamic extent");
    for (Digit digit : outer.axes[a]) {
      if (digit.stride != 0)
        digit.stride *= extents[digit.dim];
      result.axes[a].push_back(digit);
    }
  }
  return result;
}

Layout Layout::permuteDims(ArrayRef<unsigned> order) const {
  Layout result = *this;
  SmallVector<unsigned, 4> newDim(order.size());
  for (auto [position, dim] : llvm::enumerate(order)) {
    newDim[dim] = position;
    result.extents[position] = extents[dim];
  }
  for (Digits &axis : result.axes)
    for (Digit &digit : axis)
      if (digit.stride != 0)
        digit.dim = newDim[digit.dim];
  return result;
}

Layout Layout::permuteAxes(ArrayRef<unsigned> order) const {
  Layout result = *this;
  for (auto [position, axis] : llvm::enumerate(order))
    result.axes[position] = axes[axis];
  return result;
}

Layout Layout::dropDim(unsigned dim) const {
  Layout result = *this;
  result.extents.erase(result.extents.begin() + dim);
  for (auto [a, axis] : llvm::enumerate(result.axes)) {
    for (Digit &digit : axis) {
      if (digit.stride == 0 || digit.dim == dim)
        digit = {digit.extent, 0, 0};
      else if (digit.dim > dim)
        --digit.dim;
    }
    if (kind == LayoutFamily::Distributed && a == kRegister)
      llvm::erase_if(axis, [](const Digit &d) { return d.stride == 0; });
  }
  return result;
}

std::optional<Layout> Layout::part(ArrayRef<int64_t> shape) const {
  Layout result = *this;
  result.extents.assign(shape.begin(), shape.end());
  for (auto [a, axis] : llvm::enumerate(result.axes)) {
    Digits digits;
    for (Digit digit : axis) {
      int64_t extent = shape[digit.dim];
      if (digit.stride == 0 || digit.stride * digit.extent <= extent) {
        digits.push_back(digit);
        continue;
      }
      // The values below `inside` stay in a part, the others change the part.
      int64_t inside = std::max<int64_t>(extent / digit.stride, 1);
      bool divides = digit.stride < extent ? extent % digit.stride == 0 &&
                                                 digit.extent % inside == 0
                                           : digit.stride % extent == 0;
      if (!divides || a != kRegister)
        return std::nullopt;
      if (inside > 1)
        digits.push_back({inside, digit.dim, digit.stride});
    }
    axis = digits;
  }
  if (llvm::errorToBool(result.verify()) || !result.isSurjective())
    return std::nullopt;
  return result;
}

Layout Layout::repeated(ArrayRef<int64_t> counts) const {
  Layout result = *this;
  for (unsigned d = rank(); d-- > 0;) {
    if (counts[d] != 1)
      result.axes[kRegister].push_back({counts[d], d, extents[d]});
    result.extents[d] *= counts[d];
  }
  return result;
}

Layout Layout::reduceWithin(unsigned dim, ArrayRef<unsigned> spread) const {
  Layout result = *this;
  int64_t places = 1;
  for (auto [a, axis] : llvm::enumerate(result.axes)) {
    bool isKept = llvm::is_contained(spread, a);
    for (Digit &digit : axis) {
      if (digit.stride == 0 || digit.dim != dim)
        continue;
      digit.stride = isKept ? places : 0;
      if (isKept)
        places *= digit.extent;
    }
    if (a == kRegister)
      llvm::erase_if(axis, [](const Digit &d) { return d.stride == 0; });
  }
  result.extents[dim] = places;
  return result;
}

Layout Layout::reduceInWarps(unsigned dim) const {
  return reduceWithin(dim, {kWarp});
}

Layout Layout::reduceInThreads(unsigned dim) const {
  return reduceWithin(dim, {kLane, kWarp});
}

int64_t Layout::runInWarps(unsigned dim) const {
  // The digits of a dimension follow each other without gaps, so that a run
  // ends where the lowest digit of the warps begins.
  int64_t length = extents[dim];
  for (const Digit &digit : axes[kWarp])
    if (digit.stride != 0 && digit.dim == dim)
      length = std::min(length, digit.stride);
  return length;
}

Layout Layout::reduceRuns(unsigned dim, int64_t length) const {
  Layout result = *this;
  for (Digits &axis : result.axes)
    for (Digit &digit : axis)
      if (digit.dim == dim)
        digit.stride /= length;
  llvm::erase_if(result.axes[kRegister],
                 [](const Digit &d) { return d.stride == 0; });
  result.extents[dim] /= length;
  return result;
}

Layout Layout::insertDim(unsigned dim, int64_t extent) const {
  Layout result = *this;
  result.extents.insert(result.extents.begin() + dim, extent);
  for (Digits &axis : result.axes)
    for (Digit &digit : axis)
      if (digit.stride != 0 && digit.dim >= dim)
        ++digit.dim;
  Digits &registers = result.axes[kRegister];
  registers.insert(registers.begin(), {extent, dim, 1});
  return result;
}

Layout Layout::coalesced() const {
  Layout result = *this;
  for (Digits &axis : result.axes)
    axis = coalesce(axis);
  return result;
}

Expected<Layout> Layout::reshape(ArrayRef<int64_t> newShape) const {
  if (kind == LayoutFamily::Memory)
    return error("the offsets of a memory layout cannot be reshaped; compose "
                 "it with a map of its coordinates");
  auto count = [](ArrayRef<int64_t> shape) {
    return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                           std::multiplies<int64_t>());
  };
  if (llvm::is_contained(extents, kDynamic) ||
      llvm::is_contained(newShape, kDynamic))
    return error("a dynamic shape cannot be reshaped");
  if (count(extents) != count(newShape))
    return error("the shapes " + tupleText(extents) + " and " +
                 tupleText(newShape) + " have " + Twine(count(extents)) +
                 " and " + Twine(count(newShape)) + " elements");
  // Row major: coordinates -> element number -> new coordinates.
  SmallVector<Digits, 3> toNumber(rank());
  int64_t stride = 1;
  for (unsigned d = rank(); d-- > 0;) {
    toNumber[d] = {Digit{extents[d], 0, stride}};
    stride *= extents[d];
  }
  Digits fromNumber;
  for (unsigned d = newShape.size(); d-- > 0;)
    fromNumber.push_back({newShape[d], d, 1});
  Expected<Layout> number = map(toNumber, {stride}).compose(*this);
  if (!number)
    return number.takeError();
  return map({fromNumber}, newShape).compose(*number);
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

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
  SmallVector<int64_t, 4> index(numAxes(), 0);
  for (int64_t number = 0, e = inputSize(); number < e; ++number) {
    int64_t rest = number;
    for (unsigned a = 0; a < numAxes(); ++a) {
      index[a] = rest % axisSize(a);
      rest /= axisSize(a);
    }
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
