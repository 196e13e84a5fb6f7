//===- TileOps.cpp - Verifiers and effects of the operations --------------===//

#include "AttentionTypes.h"
#include "VerifyTiles.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Builders.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Layout/Queries.h"
#include "llvm/ADT/StringExtras.h"

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
