//===- DecomposeShapes.cpp - Parts and shapes in steps --------------------===//

#include "DecomposeShapes.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "tile/Analysis/MemoryLayouts.h"
#include "tile/Chips/Chips.h"

using namespace mlir;
using namespace tile;

static RankedTensorType tileType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static void splitReshape(ReshapeOp reshape) {
  RankedTensorType source = tileType(reshape.getSource());
  RankedTensorType result = tileType(reshape);
  if (source.getEncoding() || source.getRank() == 1 || result.getRank() == 1 ||
      getReassociationIndicesForReshape(source, result))
    return;
  OpBuilder builder(reshape);
  reshape.getSourceMutable().assign(ReshapeOp::create(
      builder, reshape.getLoc(),
      source.clone(ArrayRef(source.getNumElements())), reshape.getSource()));
}

/// Converts a tile to one of integers with the bits of its elements, and back.
/// Narrow floats become f32 on the way.
static Value toBits(ImplicitLocOpBuilder &b, Value value) {
  RankedTensorType type = tileType(value);
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (!element)
    return value;
  if (element.getWidth() < 32)
    value = arith::ExtFOp::create(b, type.clone(b.getF32Type()), value);
  return arith::BitcastOp::create(
      b, type.clone(b.getIntegerType(std::max(element.getWidth(), 32u))),
      value);
}

static Value fromBits(ImplicitLocOpBuilder &b, Value bits, Type element) {
  RankedTensorType type = tileType(bits);
  auto result = dyn_cast<FloatType>(element);
  if (!result)
    return bits;
  bool isNarrow = result.getWidth() < 32;
  bits = arith::BitcastOp::create(
      b, type.clone(isNarrow ? Type(b.getF32Type()) : element), bits);
  return isNarrow ? Value(arith::TruncFOp::create(b, type.clone(element), bits))
                  : bits;
}

/// Returns true if the default layout of a tile leaves threads with copies.
static bool hasCopies(RankedTensorType tile, int64_t lanes, int64_t warps) {
  Layout layout = getCanonicalLayout(withLayout(
      tile, getDefaultLayout(tile.getContext(), tile.getShape(),
                             tile.getElementTypeBitWidth(), lanes, warps)));
  return layout.inputSize() > tile.getNumElements();
}

/// Computes the part along `dim`, the part with the number `number` of those of
/// `extent` elements.
static Value reduceToPart(ImplicitLocOpBuilder &b, Value bits, int64_t dim,
                          int64_t extent, int64_t number) {
  RankedTensorType type = tileType(bits);
  SmallVector<int64_t> shape(type.getShape());
  int64_t count = shape[dim] / extent;
  shape[dim] = extent;
  RankedTensorType part = type.clone(shape);
  shape.insert(shape.begin() + dim, count);
  RankedTensorType parts = type.clone(shape);
  RankedTensorType numbers = parts.clone(b.getI32Type());
  auto splat = [&](RankedTensorType tile, int64_t value) -> Value {
    Type element = tile.getElementType();
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(
               tile, ArrayRef(Attribute(b.getIntegerAttr(element, value)))));
  };
  Value divided = ReshapeOp::create(b, parts, bits);
  Value isPart = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                       IotaOp::create(b, numbers, dim),
                                       splat(numbers, number));
  Value kept = arith::SelectOp::create(b, isPart, divided, splat(parts, 0));
  return ReduceOp::create(b, part, arith::AtomicRMWKind::ori, kept, dim);
}

static void reduceSmallPart(ExtractOp extract, int64_t lanes, int64_t warps) {
  RankedTensorType source = tileType(extract.getSource());
  RankedTensorType result = tileType(extract);
  if (source.getEncoding() || !hasCopies(result, lanes, warps))
    return;
  IRRewriter rewriter(extract);
  ImplicitLocOpBuilder b(extract.getLoc(), rewriter);
  Value bits = toBits(b, extract.getSource());
  for (int64_t dim = 0; dim < source.getRank(); ++dim) {
    int64_t extent = result.getDimSize(dim);
    if (extent != source.getDimSize(dim))
      bits = reduceToPart(b, bits, dim, extent,
                          extract.getOffsets()[dim] / extent);
  }
  rewriter.replaceOp(extract, fromBits(b, bits, result.getElementType()));
}

/// Lets a part whose extents do not divide those of the tile go through shared
/// memory, where it may begin anywhere.
static void exchangePart(ExtractOp extract) {
  RankedTensorType source = tileType(extract.getSource());
  RankedTensorType result = tileType(extract);
  bool divides = true;
  for (auto [extent, part, offset] : llvm::zip_equal(
           source.getShape(), result.getShape(), extract.getOffsets()))
    divides &= extent % part == 0 && offset % part == 0;
  if (source.getEncoding() || result.getEncoding() || divides)
    return;
  IRRewriter rewriter(extract);
  ImplicitLocOpBuilder b(extract.getLoc(), rewriter);
  // Flags are bytes in memory.
  Value value = extract.getSource();
  Type element = source.getElementType();
  bool isFlag = element.isInteger(1);
  if (isFlag)
    value = arith::ExtUIOp::create(b, source.clone(b.getI8Type()), value);
  auto order = llvm::map_to_vector(llvm::reverse(llvm::seq(source.getRank())),
                                   [](int64_t dim) { return int64_t(dim); });
  auto memory = BufferType::get(
      b.getContext(), source.getShape(), tileType(value).getElementType(),
      PaddedAttr::get(b.getContext(), /*padding=*/0, order),
      MemorySpace::Shared);
  Value buffer = AllocOp::create(b, memory, IntegerAttr());
  auto index = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, number);
  };
  SmallVector<Value> origin(source.getRank(), index(0));
  StoreOp::create(b, value, buffer, origin);
  auto offsets = llvm::map_to_vector(extract.getOffsets(), index);
  Value part =
      LoadOp::create(b, result.clone(memory.getElementType()), buffer, offsets);
  if (isFlag)
    part = arith::TruncIOp::create(b, result, part);
  rewriter.replaceOp(extract, part);
}

void tile::decomposeShapes(KernelOp kernel, const Chip &chip) {
  kernel.walk(exchangePart);
  kernel.walk([&](ExtractOp extract) {
    reduceSmallPart(extract, chip.warpSize, kernel.getNumWarps());
  });
  kernel.walk(splitReshape);
}
