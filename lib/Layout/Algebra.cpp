//===- Algebra.cpp - The layout algebra -----------------------------------===//
#include "Digits.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <numeric>

using namespace tile;
using namespace tile::detail;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;
using llvm::Twine;

namespace {
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
