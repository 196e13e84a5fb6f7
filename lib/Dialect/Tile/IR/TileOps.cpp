//===- TileOps.cpp - Verifiers and effects of the operations --------------===//

#include "AttentionTypes.h"
#include "VerifyTiles.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/StringExtras.h"
#include <numeric>

using namespace mlir;
using namespace tile;

// `[` (index | `*`),* `]`
static ParseResult
parseSliceIndices(OpAsmParser &parser,
                  SmallVectorImpl<OpAsmParser::UnresolvedOperand> &indices,
                  DenseBoolArrayAttr &kept) {
  SmallVector<bool> flags;
  ParseResult result = parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        flags.push_back(succeeded(parser.parseOptionalStar()));
        return flags.back() ? success()
                            : parser.parseOperand(indices.emplace_back());
      });
  kept = parser.getBuilder().getDenseBoolArrayAttr(flags);
  return result;
}

static void printSliceIndices(OpAsmPrinter &printer, Operation *,
                              OperandRange indices, DenseBoolArrayAttr kept) {
  printer << '[';
  size_t next = 0;
  llvm::interleaveComma(kept.asArrayRef(), printer, [&](bool keep) {
    if (keep)
      printer << '*';
    else
      printer << indices[next++];
  });
  printer << ']';
}

using InferView = llvm::function_ref<FailureOr<BufferType>(
    BufferType, llvm::function_ref<InFlightDiagnostic()>)>;

/// Parses `(to result-type)?` behind the types of a view of `source`, which are
/// at `loc`; `infer` gives the result's type where none is written.
static ParseResult parseResultType(OpAsmParser &parser, SMLoc loc, Type source,
                                   Type &result, InferView infer) {
  if (succeeded(parser.parseOptionalKeyword("to")))
    return parser.parseType(result);
  auto emitError = [&] { return parser.emitError(loc); };
  auto buffer = dyn_cast<BufferType>(source);
  if (!buffer)
    return emitError() << "expected the type of a buffer, got " << source;
  FailureOr<BufferType> type = infer(buffer, emitError);
  if (failed(type))
    return failure();
  result = *type;
  return success();
}

/// Parses `source-type (to result-type)?`.
static ParseResult parseViewTypes(OpAsmParser &parser, Type &source,
                                  Type &result, InferView infer) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(source))
    return failure();
  return parseResultType(parser, loc, source, result, infer);
}

static ParseResult parseViewTypes(OpAsmParser &parser, Type &source,
                                  Type &result, DenseBoolArrayAttr kept) {
  return parseViewTypes(parser, source, result,
                        [&](BufferType buffer, auto emitError) {
                          return SliceOp::inferType(buffer, kept, emitError);
                        });
}

static ParseResult parseViewTypes(OpAsmParser &parser, Type &source,
                                  Type &result, IntegerAttr dim) {
  return parseViewTypes(
      parser, source, result, [&](BufferType buffer, auto emitError) {
        return NarrowOp::inferType(buffer, dim.getInt(),
                                   /*fromFirst=*/false, emitError);
      });
}

static void printViewTypes(OpAsmPrinter &printer, Operation *, Type source,
                           Type result, Attribute) {
  printer << source << " to " << result;
}

/// Parses `source-type, table-type (to result-type)?`.
static ParseResult parsePagedTypes(OpAsmParser &parser, Type &source,
                                   Type &table, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(source) || parser.parseComma() ||
      parser.parseType(table))
    return failure();
  return parseResultType(parser, loc, source, result, PagedOp::inferType);
}

static void printPagedTypes(OpAsmPrinter &printer, Operation *, Type source,
                            Type table, Type result) {
  printer << source << ", " << table << " to " << result;
}

/// Parses the types of a, b, the accumulator and the result. The type of the
/// accumulator is that of the result, or of its tile, unless it is written.
static ParseResult parseDotTypes(OpAsmParser &parser, Type &a, Type &b,
                                 Type &acc, Type &result) {
  if (parser.parseType(a) || parser.parseComma() || parser.parseType(b))
    return failure();
  if (succeeded(parser.parseOptionalComma()) && parser.parseType(acc))
    return failure();
  if (parser.parseArrow() || parser.parseType(result))
    return failure();
  auto pending = dyn_cast<PendingType>(result);
  if (!acc)
    acc = pending ? pending.getTile() : result;
  return success();
}

/// Parses and prints the name of a parameter.
static ParseResult parseParameter(OpAsmParser &parser, StringAttr &name) {
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  name = parser.getBuilder().getStringAttr(keyword);
  return success();
}

static void printParameter(OpAsmPrinter &printer, Operation *,
                           StringAttr name) {
  printer << name.getValue();
}

/// Parses and prints one type for all `values`.
static ParseResult
parseEqualTypes(OpAsmParser &parser,
                ArrayRef<OpAsmParser::UnresolvedOperand> values,
                SmallVectorImpl<Type> &types) {
  Type type;
  if (parser.parseType(type))
    return failure();
  types.assign(values.size(), type);
  return success();
}

static void printEqualTypes(OpAsmPrinter &printer, Operation *, OperandRange,
                            TypeRange types) {
  printer << types.front();
}

/// Parses `buffer-type -> result-type`, from which the types of the mask and of
/// the other value follow.
static ParseResult
parseMaskedLoadTypes(OpAsmParser &parser,
                     const std::optional<OpAsmParser::UnresolvedOperand> &mask,
                     const std::optional<OpAsmParser::UnresolvedOperand> &other,
                     Type &buffer, Type &maskType, Type &otherType,
                     Type &result) {
  if (parser.parseType(buffer) || parser.parseArrow())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  auto tile = dyn_cast<RankedTensorType>(result);
  if (!tile)
    return parser.emitError(loc)
           << "expected the type of a tile, got " << result;
  if (mask)
    maskType = tile.clone(parser.getBuilder().getI1Type());
  if (other)
    otherType = tile.getElementType();
  return success();
}

static void printMaskedLoadTypes(OpAsmPrinter &printer, Operation *, Value,
                                 Value, Type buffer, Type, Type, Type result) {
  printer << buffer << " -> " << result;
}

static void printDotTypes(OpAsmPrinter &printer, DotOp, Type a, Type b,
                          Type acc, Type result) {
  printer << a << ", " << b;
  if (isa<PendingType>(acc))
    printer << ", " << acc;
  printer << " -> " << result;
}

#define GET_OP_CLASSES
#include "tile/Dialect/Tile/IR/TileOps.cpp.inc"
#include "tile/Layout/Queries.h"

//===----------------------------------------------------------------------===//
// Shared checks and effects
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Tile operations
//===----------------------------------------------------------------------===//

RankedTensorType DotOp::getTile() {
  Type type = getResult().getType();
  if (auto pending = dyn_cast<PendingType>(type))
    return pending.getTile();
  return cast<RankedTensorType>(type);
}

bool DotOp::isComputedBy(const Mma &row) {
  if (row.accumulator != getMmaElement(getTile().getElementType()))
    return false;
  Type element = getElementTypeOrSelf(getA());
  if (!element.isF32())
    return row.operand == getMmaElement(element);
  return getPrecision() == ProductPrecision::TF32 &&
         (row.operand == MmaElement::TF32 || row.operand == MmaElement::F32);
}

/// Verifies the types of the elements that `dot` multiplies and adds.
static LogicalResult verifyElements(DotOp dot) {
  Type a = getElementTypeOrSelf(dot.getA());
  Type b = getElementTypeOrSelf(dot.getB());
  Type acc = dot.getTile().getElementType();
  std::optional<MmaElement> operand = getMmaElement(a);
  if (a != b || !operand || operand == MmaElement::I32 ||
      getMmaElement(acc) !=
          (isInteger(*operand) ? MmaElement::I32 : MmaElement::F32))
    return dot.emitOpError()
           << "expected f16, bf16 or f32 operands of one type and an f32 "
              "accumulator, or i8 operands and an i32 accumulator, got "
           << a << ", " << b << " and " << acc;
  if (a.isF32() && !dot.getPrecision())
    return dot.emitOpError("multiplies f32 operands and needs a precision: "
                           "precision(tf32) or precision(bf16x3)");
  if (!a.isF32() && dot.getPrecision())
    return dot.emitOpError()
           << "has a precision, which f32 operands have; got " << a;
  return success();
}

/// Verifies that an instruction of `mma` multiplies the operands of `dot`, or
/// what tile-expand-products makes of them.
static LogicalResult verifyInstruction(DotOp dot, MmaAttr mma) {
  bool isExpanded = dot.getPrecision() == ProductPrecision::BF16x3;
  const Mma &row = mma.getMma();
  if (isExpanded ? row.operand == MmaElement::BF16 : dot.isComputedBy(row))
    return success();
  InFlightDiagnostic diag = dot.emitOpError()
                            << mma.getInstruction() << " does not multiply "
                            << getElementTypeOrSelf(dot.getA());
  if (std::optional<ProductPrecision> precision = dot.getPrecision())
    diag << " of precision " << stringifyProductPrecision(*precision);
  return diag;
}

LogicalResult DotOp::verify() {
  auto a = cast<ShapedType>(getA().getType());
  auto b = cast<ShapedType>(getB().getType());
  RankedTensorType acc = getTile();
  auto pendingAcc = dyn_cast<PendingType>(getAcc().getType());
  if (getAsync() != isa<PendingType>(getResult().getType()))
    return emitOpError() << (getAsync()
                                 ? "is asynchronous and yields a !tile.pending"
                                 : "is not asynchronous and yields a tile")
                         << ", got " << getResult().getType();
  if (pendingAcc && !getAsync())
    return emitOpError("adds to a product in flight, which requires 'async'");
  if ((pendingAcc ? Type(pendingAcc.getTile()) : getAcc().getType()) != acc)
    return emitOpError() << "expected an accumulator of type " << acc
                         << ", got " << getAcc().getType();
  if (a.getRank() != 2 || b.getRank() != 2 || acc.getRank() != 2)
    return emitOpError("operands must have rank 2");
  SmallVector<TileExtent> aExtents = getExtents(a), bExtents = getExtents(b);
  if (aExtents[1] != bExtents[0])
    return emitOpError() << "contracts " << describeExtent(aExtents[1])
                         << " columns of a with " << describeExtent(bExtents[0])
                         << " rows of b";
  TileExtent expected[] = {aExtents[0], bExtents[1]};
  if (ArrayRef(expected) != ArrayRef<TileExtent>(getExtents(acc)))
    return emitOpError() << "expected an accumulator of "
                         << describeExtents(expected, "x") << ", got "
                         << describeExtents(getExtents(acc), "x");
  if (failed(verifyElements(*this)))
    return failure();
  if (std::optional<StringRef> name = getInstruction())
    if (!findMma(*name))
      return emitOpError() << "unknown matrix instruction \"" << *name << '"';
  std::optional<ArrayRef<int64_t>> warps = getWarps();
  if (warps && (warps->size() != 2 || llvm::any_of(*warps, [](int64_t count) {
                  return count < 1 || count > 32;
                })))
    return emitOpError("'warps' must be two numbers from 1 to 32");
  LayoutAttrInterface layout = getLayoutAttr(acc);
  for (ShapedType type : {a, b}) {
    auto buffer = dyn_cast<BufferType>(type);
    if (buffer && !buffer.isShared())
      return emitOpError("multiplies buffers in shared memory only");
    if (bool(buffer || getLayoutAttr(type)) != bool(layout))
      return emitOpError() << "mixes a tile with a layout and one without";
  }
  auto mma = dyn_cast_or_null<MmaAttr>(layout);
  if (getAsync() && !(mma && mma.getMma().isAsync))
    return emitOpError("is asynchronous, which requires a wgmma instruction");
  if (!layout)
    return success();
  if (!mma)
    return emitOpError() << "accumulator layout must be #tile.mma, got "
                         << layout;
  if (std::optional<StringRef> name = getInstruction())
    if (*name != mma.getInstruction().getValue())
      return emitOpError() << "pins the instruction \"" << *name
                           << "\", but the accumulator is one of "
                           << mma.getInstruction();
  if (warps && *warps != ArrayRef<int64_t>(mma.getWarps()))
    return emitOpError() << "pins " << (*warps)[0] << " x " << (*warps)[1]
                         << " warps, but the accumulator has the layout "
                         << layout;
  if (failed(verifyInstruction(*this, mma)))
    return failure();
  SmallVector<int64_t, 2> shape = mma.getInstructionShape();
  for (unsigned dim : {0u, 1u})
    if (acc.getDimSize(dim) % (shape[dim] * mma.getWarps()[dim]) != 0)
      return emitOpError() << "accumulator extent " << acc.getDimSize(dim)
                           << " of dimension " << dim << " is no multiple of "
                           << shape[dim] * mma.getWarps()[dim] << " ("
                           << mma.getWarps()[dim] << " warps of "
                           << mma.getInstruction() << ")";
  if (a.getDimSize(1) % mma.getMma().k != 0)
    return emitOpError() << "contraction extent " << a.getDimSize(1)
                         << " is no multiple of " << mma.getMma().k;
  ShapedType operands[] = {a, b};
  for (auto [i, type] : llvm::enumerate(operands)) {
    StringRef name = i == 0 ? "a" : "b";
    bool isShared = isa<BufferType>(type) || isSharedTile(type);
    OperandSpaces spaces = mma.getMma().spaces[i];
    if (isShared && getPrecision() == ProductPrecision::BF16x3)
      return emitOpError() << "of precision bf16x3 reads operand " << name
                           << " from registers, got " << type;
    if (isShared && spaces.shared)
      continue;
    if (!spaces.registers)
      return emitOpError() << mma.getInstruction() << " reads operand " << name
                           << " from shared memory, got " << type;
    auto expected = DotOperandAttr::get(getContext(), i, mma);
    if (getLayoutAttr(type) == expected)
      continue;
    InFlightDiagnostic diag = emitOpError()
                              << "operand " << name << " must have the layout "
                              << Attribute(expected) << ", got ";
    if (LayoutAttrInterface other = getLayoutAttr(type))
      return diag << Attribute(other);
    return diag << type;
  }
  return success();
}

void DotOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : (*this)->getOpOperands())
    if (isa<BufferType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
}

/// Verifies that `bigType` has the shape of `smallType` with one more dimension
/// `dim`, and that the layout of `smallType` is the #tile.slice of the other.
static LogicalResult verifySliced(Operation *op, Type bigType, Type smallType,
                                  int64_t dim) {
  auto big = cast<RankedTensorType>(bigType);
  auto small = cast<RankedTensorType>(smallType);
  if (failed(verifyDimension(op, dim, big)))
    return failure();
  SmallVector<TileExtent> expected = getExtents(big);
  expected.erase(expected.begin() + dim);
  if (isa<ReduceOp>(op) && big.getRank() == 1)
    expected.push_back(TileExtent{1, StringAttr()});
  if (getExtents(small) != expected)
    return op->emitOpError()
           << "expected a tile of shape [" << describeExtents(expected)
           << "] beside [" << describeExtents(getExtents(big))
           << "] without dimension " << dim << ", got ["
           << describeExtents(getExtents(small)) << "]";
  if (big.getElementType() != small.getElementType())
    return op->emitOpError() << "element types differ: " << big.getElementType()
                             << " and " << small.getElementType();
  if (failed(verifyBothLaidOut(op, big, small)))
    return failure();
  if (!getLayoutAttr(big))
    return success();
  if (big.getRank() == 1)
    return op->emitOpError("with layouts needs a tile of two or more "
                           "dimensions");
  if (isSharedTile(big) || isSharedTile(small))
    return op->emitOpError("works on tiles in registers");
  return verifySameLayout(op, getCanonicalLayout(big).dropDim(dim),
                          getCanonicalLayout(small),
                          "the smaller tile must have the slice of the larger "
                          "one's layout");
}

/// Verifies that `kind` is defined for elements of this type.
LogicalResult ReduceOp::verify() {
  Type element = cast<RankedTensorType>(getSource().getType()).getElementType();
  if (failed(verifyReductionKind(*this, getKind(), element)))
    return failure();
  return verifySliced(*this, getSource().getType(), getType(), getDim());
}

LogicalResult UnitTriangularInverseOp::verify() {
  auto tile = cast<RankedTensorType>(getType());
  SmallVector<TileExtent> extents = getExtents(tile);
  if (tile.getRank() != 2 || extents[0] != extents[1])
    return emitOpError() << "needs a square tile, got ["
                         << describeExtents(extents) << "]";
  if (getLayoutAttr(tile))
    return emitOpError("applies to tiles without layouts");
  return success();
}

/// Builds a reduction within each warp or each thread.
template <typename OpT>
static void buildPartialReduction(OpBuilder &builder, OperationState &state,
                                  arith::AtomicRMWKind kind, Value source,
                                  int64_t dim) {
  auto tile = cast<RankedTensorType>(source.getType());
  Layout layout = OpT::reduceLayout(getCanonicalLayout(tile), dim);
  OpT::build(builder, state, withLayout(tile, layout), kind, source, dim);
}

/// Verifies a reduction within each `part`, a warp or a thread.
template <typename OpT>
static LogicalResult verifyPartialReduction(OpT op, const Twine &part) {
  auto source = cast<RankedTensorType>(op.getSource().getType());
  auto result = cast<RankedTensorType>(op.getType());
  if (failed(verifyCombination(op, op.getKind(), op.getDim(), source, result)))
    return failure();
  Layout expected = OpT::reduceLayout(getCanonicalLayout(source), op.getDim());
  if (result.getShape() != expected.shape())
    return op.emitOpError()
           << "expected a result of shape [" << expected.shape()
           << "], one element per " << part << " along dimension "
           << op.getDim() << ", got [" << result.getShape() << "]";
  return verifySameLayout(op, expected, getCanonicalLayout(result),
                          ("the result must have the layout that a reduction "
                           "within each " +
                           part + " leaves")
                              .str());
}

void ReduceInWarpsOp::build(OpBuilder &builder, OperationState &state,
                            arith::AtomicRMWKind kind, Value source,
                            int64_t dim) {
  buildPartialReduction<ReduceInWarpsOp>(builder, state, kind, source, dim);
}

LogicalResult ReduceInWarpsOp::verify() {
  return verifyPartialReduction(*this, "warp");
}

void ReduceInThreadsOp::build(OpBuilder &builder, OperationState &state,
                              arith::AtomicRMWKind kind, Value source,
                              int64_t dim) {
  buildPartialReduction<ReduceInThreadsOp>(builder, state, kind, source, dim);
}

LogicalResult ReduceInThreadsOp::verify() {
  return verifyPartialReduction(*this, "thread");
}

LogicalResult BroadcastOp::verify() {
  return verifySliced(*this, getType(), getSource().getType(), getDim());
}

LogicalResult BroadcastInWarpsOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getType());
  if (failed(verifyDimension(*this, getDim(), result)) ||
      failed(verifyInRegisters(*this, source, result)))
    return failure();
  Layout expected = getCanonicalLayout(result).reduceInWarps(getDim());
  if (source.getShape() != expected.shape())
    return emitOpError() << "expected a source of shape [" << expected.shape()
                         << "], one element per warp along dimension "
                         << getDim() << ", got [" << source.getShape() << "]";
  return verifySameLayout(*this, expected, getCanonicalLayout(source),
                          "the source must have the layout that a reduction "
                          "within each warp leaves");
}

void IotaOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                               SetIntRangeFn setResultRanges) {
  int64_t extent = getType().getDimSize(getDim());
  unsigned bits = getType().getElementTypeBitWidth();
  setResultRanges(getResult(),
                  ShapedType::isDynamic(extent)
                      ? ConstantIntRanges::maxRange(bits)
                      : ConstantIntRanges::fromSigned(APInt(bits, 0),
                                                      APInt(bits, extent - 1)));
}

LogicalResult IotaOp::verify() {
  auto tile = cast<RankedTensorType>(getType());
  if (failed(verifyDimension(*this, getDim(), tile)))
    return failure();
  if (isSharedTile(tile))
    return emitOpError("works on tiles in registers");
  return success();
}

LogicalResult TransposeOp::verify() {
  ArrayRef<int64_t> order = getOrder();
  if (!isPermutationVector(order))
    return emitOpError() << "order [" << order << "] is not a permutation";
  auto source = cast<ShapedType>(getSource().getType());
  auto result = cast<ShapedType>(getType());
  auto buffer = dyn_cast<BufferType>(source);
  if (bool(buffer) != isa<BufferType>(result))
    return emitOpError(buffer ? "turns a buffer into a tile"
                              : "turns a tile into a buffer");
  if (buffer && !buffer.isShared())
    return emitOpError("works on shared buffers");

  SmallVector<TileExtent> from = getExtents(source), to = getExtents(result);
  if (from.size() != order.size() || to.size() != order.size())
    return emitOpError() << "order [" << order << "] needs tiles of rank "
                         << order.size();
  for (auto [i, dim] : llvm::enumerate(order))
    if (to[i] != from[dim])
      return emitOpError() << "dimension " << i << " of the result must have "
                           << "the extent " << describeExtent(from[dim])
                           << ", got " << describeExtent(to[i]);
  if (source.getElementType() != result.getElementType())
    return emitOpError("changes the element type");
  auto layoutOf = [](ShapedType type) -> LayoutAttrInterface {
    auto buffer = dyn_cast<BufferType>(type);
    return buffer ? buffer.getLayout() : getLayoutAttr(type);
  };
  if (!buffer && failed(verifyBothLaidOut(*this, source, result)))
    return failure();
  LayoutAttrInterface layout = layoutOf(source), actual = layoutOf(result);
  if (!layout)
    return success();
  Attribute expected = PermuteAttr::get(getContext(), order, layout);
  if (actual != expected)
    return emitOpError() << "result must have the layout " << expected
                         << ", got " << Attribute(actual);
  return success();
}

LogicalResult ConvertLayoutOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getType());
  if (source.getShape() != result.getShape() ||
      source.getElementType() != result.getElementType())
    return emitOpError() << "changes the shape or the element type: " << source
                         << " to " << result;
  if (!getLayoutAttr(source) || !getLayoutAttr(result))
    return emitOpError("needs a layout on both sides");
  if (isSharedTile(source) && isSharedTile(result))
    return emitOpError("moves between two tiles in shared memory");
  if (isSharedTile(source) || isSharedTile(result))
    return success();
  Layout from = getCanonicalLayout(source), to = getCanonicalLayout(result);
  if (from.axisSize(kLane) != to.axisSize(kLane) ||
      from.axisSize(kWarp) != to.axisSize(kWarp))
    return emitOpError() << "converts between " << from.axisSize(kWarp)
                         << " warps of " << from.axisSize(kLane)
                         << " lanes and " << to.axisSize(kWarp) << " warps of "
                         << to.axisSize(kLane) << " lanes";
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  if (auto producer = getSource().getDefiningOp<ConvertLayoutOp>())
    if (producer.getSource().getType() == getType())
      return producer.getSource();
  return {};
}
