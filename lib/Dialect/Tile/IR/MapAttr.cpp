//===- MapAttr.cpp - Affine maps of permuted memory as digits -------------===//

#include "OptionalError.h"
#include "mlir/IR/AffineExprVisitor.h"
#include "mlir/IR/AffineMap.h"
#include "tile/Dialect/Tile/IR/LaunchExpressions.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace tile;

static constexpr int64_t kMostFactor = int64_t(1) << 31;

namespace {
/// The term factor * ((dim mod end) floordiv begin). Without a `mod`, end is 0.
struct Part {
  unsigned dim;
  int64_t begin, end, factor;
};
} // namespace

/// Appends to `parts` the terms whose sum is `factor` times `expr`.
static LogicalResult collectParts(AffineExpr expr, int64_t factor,
                                  SmallVectorImpl<Part> &parts,
                                  EmitError emitError) {
  auto refuse = [&](const Twine &why) -> LogicalResult {
    std::string text;
    llvm::raw_string_ostream(text) << expr;
    return OptionalError(emitError)
           << "cannot lay out memory by " << text << ": " << why;
  };
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    parts.push_back({dim.getPosition(), 1, 0, factor});
    return success();
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() == 0 ? success() : refuse("a constant term");
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return refuse("not a function of the dimensions alone");
  if (binary.getKind() == AffineExprKind::Add)
    return success(
        succeeded(collectParts(binary.getLHS(), factor, parts, emitError)) &&
        succeeded(collectParts(binary.getRHS(), factor, parts, emitError)));
  auto number = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!number || number.getValue() < 1 || number.getValue() > kMostFactor)
    return refuse("factors and divisors must be constants in 1 .. 2^31");
  int64_t value = number.getValue();
  if (binary.getKind() == AffineExprKind::Mul) {
    if (factor * value > kMostFactor)
      return refuse("factors must be constants in 1 .. 2^31");
    return collectParts(binary.getLHS(), factor * value, parts, emitError);
  }
  SmallVector<Part> inner;
  if (failed(collectParts(binary.getLHS(), 1, inner, emitError)))
    return failure();
  if (inner.size() != 1 || inner[0].factor != 1)
    return refuse("mod and floordiv apply to one dimension, not to sums and "
                  "products");
  Part part = inner[0];
  part.factor = factor;
  if (value > kMostFactor / part.begin)
    return refuse("factors and divisors must be constants in 1 .. 2^31");
  int64_t border = part.begin * value;
  switch (binary.getKind()) {
  case AffineExprKind::Mod:
    if (part.end != 0 && border % part.end == 0)
      break; // the operand is already smaller than the divisor
    if (part.end != 0 && part.end % border != 0)
      return refuse(Twine(border) + " does not divide " + Twine(part.end));
    part.end = border;
    break;
  case AffineExprKind::FloorDiv:
    if (part.end != 0 && part.end % border != 0)
      return refuse(Twine(border) + " does not divide " + Twine(part.end));
    part.begin = border;
    if (part.begin == part.end)
      return success(); // the value is always 0
    break;
  default:
    return refuse("only mod and floordiv are known");
  }
  parts.push_back(part);
  return success();
}

//===----------------------------------------------------------------------===//
// MapAttr
//===----------------------------------------------------------------------===//

LogicalResult MapAttr::verify(EmitError emitError, AffineMap map,
                              int64_t align) {
  if (map.getNumSymbols() != 0)
    return emitError() << "a map has dimensions only, no symbols";
  if (map.getNumDims() == 0 || map.getNumResults() == 0)
    return emitError() << "a map needs at least one dimension and one result";
  if (align < 0 || align > 4096 || (align != 0 && !llvm::isPowerOf2_64(align)))
    return emitError() << "the alignment must be a power of two up to 4096 "
                          "bytes, got "
                       << align;
  for (AffineExpr expr : map.getResults()) {
    SmallVector<Part> parts;
    if (failed(collectParts(expr, 1, parts, emitError)))
      return failure();
  }
  return success();
}

FailureOr<Layout> MapAttr::getMapLayout(ArrayRef<int64_t> shape,
                                        EmitError emitError) const {
  AffineMap map = getMap();
  if (map.getNumDims() != shape.size())
    return OptionalError(emitError)
           << Attribute(*this) << " has " << map.getNumDims()
           << " dimensions for a buffer of rank " << shape.size();
  SmallVector<SmallVector<Part>> parts(map.getNumResults());
  // The place values at which the digits of each dimension begin.
  SmallVector<SmallVector<int64_t>> borders(shape.size(), {1});
  for (auto [expr, list] : llvm::zip_equal(map.getResults(), parts)) {
    if (failed(collectParts(expr, 1, list, emitError)))
      return failure();
    for (const Part &part : list)
      for (int64_t border : {part.begin, part.end})
        if (border != 0)
          borders[part.dim].push_back(border);
  }

  SmallVector<Digits> axes(shape.size());
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    SmallVector<int64_t> &begins = borders[dim];
    llvm::sort(begins);
    begins.erase(llvm::unique(begins), begins.end());
    for (size_t i = 0; i < begins.size(); ++i) {
      int64_t begin = begins[i];
      bool last = i + 1 == begins.size();
      if (!last && begins[i + 1] % begin != 0)
        return OptionalError(emitError)
               << "cannot lay out memory by digits of d" << dim << ": " << begin
               << " does not divide " << begins[i + 1];
      bool ends = extent != kDynamic && (last || begins[i + 1] >= extent);
      Digit digit{ends   ? int64_t(llvm::divideCeil(extent, begin))
                  : last ? kDynamic
                         : begins[i + 1] / begin,
                  0, 0};
      for (auto [result, list] : llvm::enumerate(parts))
        for (const Part &part : list) {
          if (part.dim != dim || begin < part.begin ||
              (part.end != 0 && begin >= part.end))
            continue;
          if (digit.stride != 0 && digit.dim != result)
            return OptionalError(emitError)
                   << "results " << digit.dim << " and " << result
                   << " both depend on d" << dim << " floordiv " << begin;
          digit.dim = result;
          digit.stride += part.factor * (begin / part.begin);
        }
      if (digit.extent != 1)
        axes[dim].push_back(digit);
      if (ends)
        break;
    }
    if (axes[dim].empty())
      axes[dim].push_back({1, 0, 0});
  }

  // Each extent of the storage is as large as the digits need.
  SmallVector<int64_t> extents(map.getNumResults(), 1);
  for (ArrayRef<Digit> axis : axes)
    for (const Digit &digit : axis) {
      if (digit.stride == 0)
        continue;
      int64_t &extent = extents[digit.dim];
      int64_t span;
      if (digit.extent == kDynamic || extent == kDynamic)
        extent = kDynamic;
      else if (llvm::MulOverflow(digit.extent - 1, digit.stride, span) ||
               llvm::AddOverflow(extent, span, extent))
        return OptionalError(emitError)
               << "the offsets of the elements exceed 64 bits";
    }
  return Layout::map(axes, extents);
}

MapExtent tile::getMapExtent(const Layout &map, unsigned result) {
  MapExtent extent;
  for (unsigned dim = 0; dim < map.numAxes(); ++dim) {
    int64_t divisor = 1;
    for (const Digit &digit : map.axis(dim)) {
      bool counts = digit.stride != 0 && digit.dim == result;
      if (digit.extent != kDynamic) {
        extent.constant += counts ? (digit.extent - 1) * digit.stride : 0;
        divisor *= digit.extent;
      } else if (counts) {
        extent.constant -= digit.stride;
        extent.terms.push_back({dim, divisor, digit.stride});
      }
    }
  }
  return extent;
}

SmallVector<int64_t> tile::getStorageStrides(const Layout &map) {
  // A dynamic extent is represented by a number with the same divisor, without
  // a further factor of two, and larger than any tile: results for this number
  // hold for every extent with that divisor.
  constexpr int64_t kMany = (int64_t(1) << 16) + 1;
  SmallVector<int64_t> strides(map.rank(), 1);
  for (unsigned result = map.rank(); result-- > 1;) {
    int64_t extent = map.shape()[result];
    if (extent == kDynamic) {
      MapExtent terms = getMapExtent(map, result);
      int64_t divisor = 0;
      for (const MapExtent::Term &term : terms.terms)
        divisor = std::gcd(divisor, term.factor);
      extent = std::gcd(divisor, terms.constant) * kMany;
    }
    if (llvm::MulOverflow(strides[result], extent, strides[result - 1]))
      return {};
  }
  return strides;
}

FailureOr<Layout> MapAttr::getLayout(ArrayRef<int64_t> shape,
                                     unsigned elementBits,
                                     EmitError emitError) const {
  FailureOr<Layout> map = getMapLayout(shape, emitError);
  if (failed(map))
    return failure();
  SmallVector<int64_t> strides = getStorageStrides(*map);
  int64_t size = 1;
  bool overflow = strides.empty(), dynamic = false;
  SmallVector<Digits> axes;
  for (unsigned axis = 0; axis < map->numAxes() && !overflow; ++axis) {
    Digits &digits = axes.emplace_back();
    for (Digit digit : map->axis(axis)) {
      overflow |= llvm::MulOverflow(digit.stride, strides[digit.dim],
                                    digit.stride) != 0;
      digit.dim = 0;
      digits.push_back(digit);
    }
  }
  for (auto [result, extent] : llvm::enumerate(map->shape())) {
    dynamic |= extent == kDynamic;
    if (!dynamic && !overflow)
      overflow |= llvm::MulOverflow(size, extent, size) != 0;
  }
  if (overflow)
    return OptionalError(emitError)
           << "the offsets of the elements exceed 64 bits";
  return Layout::memory(axes, dynamic ? kDynamic : size);
}

FailureOr<MapAttr> MapAttr::getSlice(ArrayRef<bool> kept, int64_t align,
                                     EmitError emitError) const {
  AffineMap map = getMap();
  SmallVector<AffineExpr> dims(map.getNumDims());
  unsigned numKept = 0;
  for (auto [dim, keep] : llvm::enumerate(kept))
    dims[dim] = keep ? getAffineDimExpr(numKept++, getContext())
                     : getAffineConstantExpr(0, getContext());
  SmallVector<AffineExpr> results;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    bool usesKept = false, usesFixed = false;
    expr.walk([&](AffineExpr part) {
      if (auto dim = dyn_cast<AffineDimExpr>(part))
        (kept[dim.getPosition()] ? usesKept : usesFixed) = true;
    });
    if (usesFixed && (usesKept || !results.empty()))
      return OptionalError(emitError)
             << "cannot fix a dimension of " << Attribute(*this)
             << " that result " << i
             << " depends on; only those of leading results that no other "
                "dimension shares";
    if (!usesFixed)
      results.push_back(expr.replaceDims(dims));
  }
  return MapAttr::getChecked(
      [&] { return emitError ? emitError() : makeDroppedError(getContext()); },
      getContext(), AffineMap::get(numKept, 0, results, getContext()), align);
}

MapAttr MapAttr::get(MLIRContext *context, const Layout &map, int64_t align) {
  SmallVector<AffineExpr> results(map.rank(),
                                  getAffineConstantExpr(0, context));
  for (unsigned axis = 0; axis < map.numAxes(); ++axis) {
    AffineExpr dim = getAffineDimExpr(axis, context);
    ArrayRef<Digit> digits = map.axis(axis);
    int64_t begin = 1;
    for (auto [i, digit] : llvm::enumerate(digits)) {
      AffineExpr value = dim;
      bool last = i + 1 == digits.size();
      if (!last)
        value = value % (begin * digit.extent);
      if (begin != 1)
        value = value.floorDiv(begin);
      if (digit.stride != 0)
        results[digit.dim] = results[digit.dim] + value * digit.stride;
      if (!last)
        begin *= digit.extent;
    }
  }
  return get(context, AffineMap::get(map.numAxes(), 0, results, context),
             align);
}
