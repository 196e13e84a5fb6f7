//===- TileMemoryOps.cpp - Views of buffers and accesses to memory --------===//

#include "VerifyTiles.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Layout/Queries.h"

using namespace mlir;
using namespace tile;

/// Verifies that there is one index per dimension and that the tile has the
/// rank and the element type of the buffer.
static LogicalResult verifyAccess(Operation *op, BufferType buffer,
                                  ValueRange indices, ArrayRef<int64_t> shape,
                                  Type element) {
  if (int64_t(indices.size()) != buffer.getRank())
    return op->emitOpError()
           << "has " << indices.size() << " indices for a buffer of rank "
           << buffer.getRank();
  if (int64_t(shape.size()) != buffer.getRank())
    return op->emitOpError()
           << "moves a tile of rank " << shape.size() << " in a buffer of rank "
           << buffer.getRank() << "; use tile.slice to fix dimensions";
  if (element != buffer.getElementType())
    return op->emitOpError() << "moves elements of type " << element
                             << " in a buffer of " << buffer.getElementType();
  if (buffer.isPaged() && !isa<LoadOp, MaskedLoadOp, CopyOp>(op))
    return op->emitOpError()
           << "cannot access " << buffer << ", a view of pages; tile.load can";
  if (!buffer.isShared())
    return success();
  if (llvm::any_of(shape, ShapedType::isDynamic))
    return op->emitOpError("moves a tile with open extents in shared memory");
  // Accesses to shared memory have no bounds checks at run time, so the tile
  // must lie within the buffer.
  for (auto [dim, index] : llvm::enumerate(indices)) {
    APInt value;
    int64_t start =
        matchPattern(index, m_ConstantInt(&value)) ? value.getSExtValue() : 0;
    if (start < 0 || start > buffer.getShape()[dim] - shape[dim])
      return op->emitOpError()
             << "accesses " << shape[dim] << " elements from element " << start
             << " on along dimension " << dim
             << " of a shared buffer of extent " << buffer.getShape()[dim];
  }
  return success();
}

/// Verifies an operation that moves `tile`; reports `bothShared` if it moves a
/// tile in shared memory to or from a shared buffer.
template <typename OpT>
static LogicalResult verifyTileAccess(OpT op, Type type, StringRef bothShared) {
  auto tile = cast<RankedTensorType>(type);
  BufferType buffer = op.getBuffer().getType();
  if (isSharedTile(tile) && buffer.isShared())
    return op.emitOpError(bothShared);
  return verifyAccess(op, buffer, op.getIndices(), tile.getShape(),
                      tile.getElementType());
}

/// Returns the alignment in bytes of an address that is aligned to `align` plus
/// any multiple of `stride` elements. A dynamic stride is a multiple of
/// `divisor`.
static int64_t alignmentAfter(int64_t align, int64_t stride, int64_t divisor,
                              int64_t bytes) {
  int64_t step = (stride == kDynamic ? divisor : stride) * bytes;
  while (step % align != 0)
    align /= 2;
  return align;
}

//===----------------------------------------------------------------------===//
// SliceOp
//===----------------------------------------------------------------------===//

FailureOr<BufferType>
SliceOp::inferType(BufferType source, ArrayRef<bool> kept,
                   llvm::function_ref<InFlightDiagnostic()> emitError) {
  if (int64_t(kept.size()) != source.getRank())
    return emitError() << "gives " << kept.size()
                       << " indices for a buffer of rank " << source.getRank();
  if (source.isPaged())
    return emitError() << "cannot slice " << source
                       << ", a view of pages; slice the pages";
  SmallVector<int64_t> shape;
  for (auto [extent, keep] : llvm::zip_equal(source.getShape(), kept))
    if (keep)
      shape.push_back(extent);
  if (shape.empty())
    return emitError() << "must keep at least one dimension";
  LayoutAttrInterface layout = source.getLayout();
  if (auto strided = dyn_cast<StridedAttr>(layout)) {
    SmallVector<int64_t> strides, divisors;
    int64_t bytes = source.getElementBits() / 8;
    int64_t align = strided.getAlign() ? strided.getAlign() : bytes;
    for (auto [stride, divisor, keep] :
         llvm::zip_equal(strided.getStrides(), strided.getDivisors(), kept)) {
      if (keep) {
        strides.push_back(stride);
        divisors.push_back(divisor);
        continue;
      }
      align = alignmentAfter(align, stride, divisor, bytes);
    }
    layout = StridedAttr::get(source.getContext(), strides, divisors, align);
  } else if (auto map = dyn_cast<MapAttr>(layout)) {
    FailureOr<Layout> digits = map.getMapLayout(source.getShape(), emitError);
    if (failed(digits))
      return failure();
    // The alignment that any index of the fixed dimensions leaves.
    int64_t bytes = source.getElementBits() / 8, align = source.getAlignment();
    Layout memory = source.getCanonicalLayout();
    for (auto [dim, keep] : llvm::enumerate(kept))
      for (const Digit &digit : memory.axis(dim))
        while (!keep && digit.stride * bytes % align != 0)
          align /= 2;
    FailureOr<MapAttr> sliced = map.getSlice(kept, align, emitError);
    if (failed(sliced))
      return failure();
    layout = *sliced;
  } else {
    // Swizzled and padded layouts stack tiles along leading dimensions. A slice
    // that fixes only these keeps the layout.
    size_t inner = isa<SwizzleAttr>(layout) ? 2
                   : isa<PaddedAttr>(layout)
                       ? cast<PaddedAttr>(layout).getOrder().size()
                       : kept.size();
    for (auto [dim, keep] : llvm::enumerate(kept))
      if (!keep && dim + inner >= kept.size())
        return emitError() << "cannot fix dimension " << dim << " of " << layout
                           << "; only leading dimensions that stack tiles";
  }
  return BufferType::getChecked(emitError, source.getContext(), ArrayRef(shape),
                                source.getElementType(), layout,
                                source.getSpace());
}

void SliceOp::build(OpBuilder &builder, OperationState &state, Value source,
                    ArrayRef<Value> indices) {
  SmallVector<bool> kept;
  SmallVector<Value> operands;
  for (Value index : indices) {
    kept.push_back(!index);
    if (index)
      operands.push_back(index);
  }
  FailureOr<BufferType> type =
      inferType(cast<BufferType>(source.getType()), kept,
                [&] { return mlir::emitError(state.location); });
  build(builder, state, succeeded(type) ? Type(*type) : source.getType(),
        source, operands, builder.getDenseBoolArrayAttr(kept));
}

LogicalResult SliceOp::verify() {
  FailureOr<BufferType> type = inferType(getSource().getType(), getKept(),
                                         [&] { return emitOpError(); });
  if (failed(type))
    return failure();
  if (llvm::count(getKept(), false) != int64_t(getIndices().size()))
    return emitOpError() << "has " << getIndices().size() << " indices for "
                         << llvm::count(getKept(), false)
                         << " fixed dimensions";
  if (*type != getType())
    return emitOpError() << "result type should be " << *type << ", got "
                         << getType();
  return success();
}

//===----------------------------------------------------------------------===//
// NarrowOp
//===----------------------------------------------------------------------===//

FailureOr<BufferType>
NarrowOp::inferType(BufferType source, int64_t dim, bool fromFirst,
                    llvm::function_ref<InFlightDiagnostic()> emitError) {
  auto strided = dyn_cast<StridedAttr>(source.getLayout());
  if (source.isShared() || !strided || source.isPaged())
    return emitError() << "narrows buffers in global memory, got " << source;
  if (dim >= source.getRank())
    return emitError() << "dimension " << dim
                       << " does not exist in a buffer of rank "
                       << source.getRank();
  SmallVector<int64_t> shape(source.getShape());
  shape[dim] = ShapedType::kDynamic;
  int64_t bytes = source.getElementBits() / 8;
  int64_t align = strided.getAlign() ? strided.getAlign() : bytes;
  if (!fromFirst)
    align = alignmentAfter(align, strided.getStrides()[dim],
                           strided.getDivisors()[dim], bytes);
  LayoutAttrInterface layout = StridedAttr::get(
      source.getContext(), strided.getStrides(), strided.getDivisors(), align);
  return BufferType::getChecked(emitError, source.getContext(), ArrayRef(shape),
                                source.getElementType(), layout,
                                source.getSpace());
}

void NarrowOp::build(OpBuilder &builder, OperationState &state, Value source,
                     int64_t dim, Value start, Value length) {
  FailureOr<BufferType> type = inferType(
      cast<BufferType>(source.getType()), dim, matchPattern(start, m_Zero()),
      [&] { return mlir::emitError(state.location); });
  build(builder, state, succeeded(type) ? Type(*type) : source.getType(),
        source, builder.getI64IntegerAttr(dim), start, length);
}

LogicalResult NarrowOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  FailureOr<BufferType> type = inferType(getSource().getType(), getDim(),
                                         /*fromFirst=*/false, emitError);
  if (failed(type))
    return failure();
  if (*type != getType() && matchPattern(getStart(), m_Zero()))
    type = inferType(getSource().getType(), getDim(), /*fromFirst=*/true,
                     emitError);
  if (*type != getType())
    return emitOpError() << "result type should be " << *type << ", got "
                         << getType();
  return success();
}

//===----------------------------------------------------------------------===//
// PagedOp
//===----------------------------------------------------------------------===//

FailureOr<BufferType>
PagedOp::inferType(BufferType source,
                   llvm::function_ref<InFlightDiagnostic()> emitError) {
  auto strided = dyn_cast<StridedAttr>(source.getLayout());
  if (source.isShared() || !strided || source.isPaged())
    return emitError() << "views pages in global memory with strides, got "
                       << source;
  if (source.getRank() < 2 || ShapedType::isDynamic(source.getShape()[1]))
    return emitError() << "views pages [pages, rows, ...] with a static number "
                          "of rows, got "
                       << source;
  SmallVector<int64_t> shape(source.getShape().drop_front());
  SmallVector<int64_t> strides(strided.getStrides().drop_front());
  SmallVector<int64_t> divisors(strided.getDivisors().drop_front());
  auto divisorOf = [&](unsigned dim) {
    constexpr int64_t most = 1 << 20;
    int64_t stride = strided.getStrides()[dim];
    return stride == kDynamic ? strided.getDivisors()[dim]
                              : std::gcd(stride, most);
  };
  int64_t bytes = source.getElementBits() / 8;
  int64_t align =
      alignmentAfter(strided.getAlign() ? strided.getAlign() : bytes,
                     strided.getStrides()[0], strided.getDivisors()[0], bytes);
  int64_t page = std::exchange(shape[0], ShapedType::kDynamic);
  strides[0] = kDynamic;
  divisors[0] = std::gcd(divisorOf(0), divisorOf(1));
  LayoutAttrInterface layout =
      StridedAttr::get(source.getContext(), strides, divisors, align, page);
  return BufferType::getChecked(emitError, source.getContext(), ArrayRef(shape),
                                source.getElementType(), layout,
                                source.getSpace());
}

void PagedOp::build(OpBuilder &builder, OperationState &state, Value source,
                    Value table, Value length) {
  FailureOr<BufferType> type =
      inferType(cast<BufferType>(source.getType()),
                [&] { return mlir::emitError(state.location); });
  build(builder, state, succeeded(type) ? Type(*type) : source.getType(),
        source, table, length);
}

LogicalResult PagedOp::verify() {
  FailureOr<BufferType> type =
      inferType(getSource().getType(), [&] { return emitOpError(); });
  if (failed(type))
    return failure();
  if (*type != getType())
    return emitOpError() << "result type should be " << *type << ", got "
                         << getType();
  return verifyTable(*this, getTable().getType());
}

LogicalResult PagedOp::verifyTable(Operation *op, BufferType table) {
  if (!table.isShared() && !table.isPaged() && table.getRank() == 1 &&
      table.getElementType().isSignlessInteger(32) &&
      isa<StridedAttr>(table.getLayout()))
    return success();
  return op->emitOpError() << "needs a table of rank 1 with i32 elements in "
                              "global memory, got "
                           << table;
}

//===----------------------------------------------------------------------===//
// Memory operations
//===----------------------------------------------------------------------===//

LogicalResult AllocOp::verify() {
  if (!getType().isShared())
    return emitOpError("allocates shared memory only");
  return success();
}

LogicalResult LoadOp::verify() {
  return verifyTileAccess(*this, getType(),
                          "loads from shared memory into shared memory");
}

LogicalResult MaskedLoadOp::verify() {
  BufferType buffer = getBuffer().getType();
  auto tile = cast<RankedTensorType>(getType());
  if (buffer.isShared())
    return emitOpError() << "reads global memory, got " << buffer;
  if (getMask() &&
      getMask().getType() != tile.clone(IntegerType::get(getContext(), 1)))
    return emitOpError() << "needs a mask of the shape of the result, got "
                         << getMask().getType();
  if (getOther() && getOther().getType() != tile.getElementType())
    return emitOpError() << "fills a tile of " << tile.getElementType()
                         << " with a value of type " << getOther().getType();
  return verifyAccess(*this, buffer, getIndices(), tile.getShape(),
                      tile.getElementType());
}

LogicalResult GatherOp::verify() {
  BufferType buffer = getBuffer().getType();
  auto tile = cast<RankedTensorType>(getType());
  auto rows = cast<RankedTensorType>(getRows().getType());
  if (buffer.isShared() || !isa<StridedAttr>(buffer.getLayout()))
    return emitOpError() << "reads global memory with strides, got " << buffer;
  if (isSharedTile(tile) || isSharedTile(rows))
    return emitOpError("works on tiles in registers");
  if (failed(verifyAccess(*this, buffer, getIndices(), tile.getShape(),
                          tile.getElementType())) ||
      failed(verifyDimension(*this, getDim(), tile)) ||
      failed(verifyBothLaidOut(*this, tile, rows)))
    return failure();
  SmallVector<TileExtent> extents = getExtents(tile);
  if (getExtents(rows) != extents &&
      getExtents(rows) != ArrayRef<TileExtent>(extents[getDim()]))
    return emitOpError() << "expected indices of shape ["
                         << describeExtent(extents[getDim()]) << "] or ["
                         << describeExtents(extents) << "], got ["
                         << describeExtents(getExtents(rows)) << "]";
  if (!getLayoutAttr(tile))
    return success();
  return verifySameLayout(*this, getRowsLayout(getCanonicalLayout(tile)),
                          getCanonicalLayout(rows),
                          "the indices must have the layout of the result "
                          "along their dimensions");
}

Layout GatherOp::getRowsLayout(Layout result) {
  auto rows = cast<RankedTensorType>(getRows().getType());
  if (rows.getRank() == int64_t(result.rank()))
    return result;
  for (unsigned dim = result.rank(); dim-- > 0;)
    if (dim != getDim())
      result = result.dropDim(dim);
  return result;
}

LogicalResult LoadScalarOp::verify() {
  BufferType buffer = getBuffer().getType();
  if (buffer.isShared())
    return emitOpError("reads global memory only");
  if (buffer.isPaged())
    return emitOpError() << "cannot access " << buffer
                         << ", a view of pages; tile.load can";
  if (int64_t(getIndices().size()) != buffer.getRank())
    return emitOpError() << "has " << getIndices().size()
                         << " indices for a buffer of rank "
                         << buffer.getRank();
  if (getType() != buffer.getElementType())
    return emitOpError() << "reads an element of type " << getType()
                         << " in a buffer of " << buffer.getElementType();
  return success();
}

LogicalResult StoreOp::verify() {
  return verifyTileAccess(*this, getValue().getType(),
                          "stores from shared memory into shared memory");
}

void AtomicRMWOp::build(OpBuilder &builder, OperationState &state,
                        arith::AtomicRMWKind kind, Value value, Value buffer,
                        ValueRange indices) {
  build(builder, state, /*result=*/Type(), kind, value, buffer, indices);
}

LogicalResult AtomicRMWOp::verify() {
  auto tile = cast<RankedTensorType>(getValue().getType());
  Type element = tile.getElementType();
  switch (getKind()) {
  case arith::AtomicRMWKind::addf:
    if (!isa<FloatType>(element))
      return emitOpError() << "addf needs float elements, got " << element;
    break;
  case arith::AtomicRMWKind::addi:
  case arith::AtomicRMWKind::maxs:
  case arith::AtomicRMWKind::mins:
  case arith::AtomicRMWKind::maxu:
  case arith::AtomicRMWKind::minu:
  case arith::AtomicRMWKind::ori:
  case arith::AtomicRMWKind::andi:
    if (!element.isInteger(32) && !element.isInteger(64))
      return emitOpError() << stringifyEnum(getKind())
                           << " needs i32 or i64 elements, got " << element;
    break;
  default:
    return emitOpError() << "kind " << stringifyEnum(getKind())
                         << " is not an atomic operation of tiles";
  }
  if (getResult() && getResult().getType() != tile)
    return emitOpError() << "returns " << getResult().getType()
                         << ", expected the type of its value, " << tile;
  if (getResult() && isSharedTile(tile))
    return emitOpError("returns tiles in registers only");
  return verifyTileAccess(*this, tile,
                          "combines shared memory into shared memory");
}

LogicalResult CopyOp::verify() {
  BufferType source = getSource().getType(), dest = getDest().getType();
  if (source.isShared() || !dest.isShared())
    return emitOpError("copies from global to shared memory");
  return verifyAccess(*this, source, getIndices(), dest.getShape(),
                      dest.getElementType());
}
