//===- TileShapeOps.cpp - Parts and shapes of tiles -----------------------===//

#include "VerifyTiles.h"
#include "tile/Layout/Queries.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tile;

using Propose = llvm::function_ref<void(Value, LayoutAttrInterface)>;

static RankedTensorType tileType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Returns the distributed layout that `layout` is for a tile with the shape of
/// `tile`; std::nullopt if it is in shared memory or does not suit the tile.
static std::optional<Layout> getDistributed(LayoutAttrInterface layout,
                                            RankedTensorType tile) {
  if (layout.getFamily() != LayoutFamily::Distributed)
    return std::nullopt;
  FailureOr<Layout> canonical =
      layout.getLayout(tile.getShape(), tile.getElementTypeBitWidth(), nullptr);
  return succeeded(canonical) ? std::optional(*canonical) : std::nullopt;
}

/// Proposes `layout` for `value` if there is one.
static void propose(Propose propose, Value value,
                    const std::optional<Layout> &layout) {
  if (layout)
    propose(value, DistributedAttr::get(value.getContext(), *layout));
}

/// Verifies that tiles have elements of one type, and that all or none are laid
/// out in registers.
static LogicalResult verifyShapes(Operation *op, RankedTensorType source,
                                  RankedTensorType result) {
  if (failed(verifyBothLaidOut(op, source, result)))
    return failure();
  if (getLayoutAttr(source))
    return verifyInRegisters(op, source, result);
  if (source.getElementType() != result.getElementType())
    return op->emitOpError("changes the element type");
  return success();
}

/// Returns how often a tile of `part` fits along each dimension of `whole`;
/// std::nullopt if an extent does not divide.
static std::optional<SmallVector<int64_t>> countParts(ArrayRef<int64_t> whole,
                                                      ArrayRef<int64_t> part) {
  SmallVector<int64_t> counts;
  for (auto [extent, size] : llvm::zip_equal(whole, part)) {
    if (extent % size != 0)
      return std::nullopt;
    counts.push_back(extent / size);
  }
  return counts;
}

//===----------------------------------------------------------------------===//
// ReshapeOp
//===----------------------------------------------------------------------===//

/// Returns the layout of a tile reshaped to `shape`; std::nullopt if it is not
/// one.
static std::optional<Layout> reshape(const std::optional<Layout> &layout,
                                     ArrayRef<int64_t> shape) {
  if (!layout)
    return std::nullopt;
  llvm::Expected<Layout> result = layout->reshape(shape);
  if (result)
    return *result;
  llvm::consumeError(result.takeError());
  return std::nullopt;
}

/// Returns the number of elements: the product of the static extents, and the
/// names of the open ones in alphabetical order.
static std::pair<int64_t, SmallVector<StringRef>>
countElements(RankedTensorType tile) {
  std::pair<int64_t, SmallVector<StringRef>> count{1, {}};
  for (const TileExtent &extent : getExtents(tile))
    if (extent.name)
      count.second.push_back(extent.name.getValue());
    else
      count.first *= extent.number;
  llvm::sort(count.second);
  return count;
}

/// Returns a product: `16 * BM`.
static std::string
describe(const std::pair<int64_t, SmallVector<StringRef>> &count) {
  std::string text = std::to_string(count.first);
  for (StringRef name : count.second)
    text += " * " + name.str();
  return text;
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType source = tileType(getSource()), result = tileType(*this);
  if (failed(verifyShapes(*this, source, result)))
    return failure();
  if (auto from = countElements(source), to = countElements(result); from != to)
    return emitOpError() << "changes the number of elements from "
                         << describe(from) << " to " << describe(to);
  if (!getLayoutAttr(source))
    return success();
  std::optional<Layout> expected =
      ::reshape(getCanonicalLayout(source), result.getShape());
  if (!expected)
    return emitOpError() << "the layout of the source, "
                         << Attribute(getLayoutAttr(source))
                         << ", does not divide along the dimensions of ["
                         << result.getShape() << "]";
  return verifySameLayout(*this, *expected, getCanonicalLayout(result),
                          "the result must have the reshaped layout of the "
                          "source");
}

void ReshapeOp::inferLayouts(Value value, LayoutAttrInterface layout,
                             Propose propose) {
  Value other = value == getSource() ? getResult() : getSource();
  ::propose(propose, other,
            ::reshape(getDistributed(layout, tileType(value)),
                      tileType(other).getShape()));
}

void ReshapeOp::requireLayouts(LayoutRequirements &requirements) {
  RankedTensorType source = tileType(getSource()), result = tileType(*this);
  if (!isSharedTile(source))
    if (auto layout = ::reshape(getCanonicalLayout(source), result.getShape()))
      return requirements.provideResult(
          cast<OpResult>(getResult()),
          DistributedAttr::get(getContext(), *layout));
  // tile-assign-layouts has split reshapes that neither join nor divide
  // dimensions. This one divides dimensions, so the layout of the result can be
  // joined.
  if (auto layout = ::reshape(getCanonicalLayout(result), source.getShape()))
    requirements.requireOperand(getSourceMutable(),
                                DistributedAttr::get(getContext(), *layout));
}

//===----------------------------------------------------------------------===//
// ExtractOp
//===----------------------------------------------------------------------===//

LogicalResult ExtractOp::verify() {
  RankedTensorType source = tileType(getSource()), result = tileType(*this);
  if (failed(verifyShapes(*this, source, result)))
    return failure();
  if (source.getRank() != result.getRank() ||
      int64_t(getOffsets().size()) != source.getRank())
    return emitOpError() << "expected an offset and an extent of the result "
                            "for each dimension of the source";
  SmallVector<TileExtent> extents = getExtents(source);
  SmallVector<TileExtent> parts = getExtents(result);
  for (auto [dim, offset] : llvm::enumerate(getOffsets())) {
    if (extents[dim].name || parts[dim].name) {
      if (extents[dim] != parts[dim] || offset != 0)
        return emitOpError() << "must keep all of dimension " << dim
                             << ", whose extent is open";
      continue;
    }
    int64_t extent = source.getDimSize(dim), part = result.getDimSize(dim);
    if (offset < 0 || offset > extent - part)
      return emitOpError() << "a part of extent " << part
                           << " does not fit at offset " << offset
                           << " of dimension " << dim << " of extent "
                           << extent;
  }
  if (getLayoutAttr(source) &&
      !findRegistersOfPart(getCanonicalLayout(source),
                           getCanonicalLayout(result), getOffsets()))
    return emitOpError("a thread would need elements of other threads");
  return success();
}

/// Infers the layouts of a tile and of a part of it; all parts have one layout.
static void inferPart(Value value, LayoutAttrInterface layout, Value whole,
                      Value part, Propose propose) {
  std::optional<Layout> known = getDistributed(layout, tileType(value));
  if (!known)
    return;
  ArrayRef<int64_t> shape = tileType(part).getShape();
  if (value == whole)
    ::propose(propose, part, known->part(shape));
  else if (auto counts = countParts(tileType(whole).getShape(), shape))
    ::propose(propose, whole, known->repeated(*counts));
}

void ExtractOp::inferLayouts(Value value, LayoutAttrInterface layout,
                             Propose propose) {
  inferPart(value, layout, getSource(), getResult(), propose);
}

void ExtractOp::requireLayouts(LayoutRequirements &requirements) {
  RankedTensorType source = tileType(getSource()), result = tileType(*this);
  Layout part = getCanonicalLayout(result);
  if (!isSharedTile(source)) {
    Layout whole = getCanonicalLayout(source);
    if (findRegistersOfPart(whole, part, getOffsets()))
      return;
    if (auto provided = whole.part(result.getShape()))
      return requirements.provideResult(
          cast<OpResult>(getResult()),
          DistributedAttr::get(getContext(), *provided));
  }
  if (auto counts = countParts(source.getShape(), result.getShape()))
    requirements.requireOperand(
        getSourceMutable(),
        DistributedAttr::get(getContext(), part.repeated(*counts)));
}

//===----------------------------------------------------------------------===//
// ConcatenateOp
//===----------------------------------------------------------------------===//

LogicalResult ConcatenateOp::verify() {
  if (getSources().empty())
    return emitOpError("needs a source");
  RankedTensorType source = tileType(getSources().front());
  RankedTensorType result = tileType(*this);
  for (Value other : getSources())
    if (other.getType() != source)
      return emitOpError() << "has sources of different types: " << source
                           << " and " << other.getType();
  if (failed(verifyShapes(*this, source, result)) ||
      failed(verifyDimension(*this, getDim(), source)))
    return failure();
  SmallVector<TileExtent> shape = getExtents(source);
  if (shape[getDim()].name)
    return emitOpError() << "joins tiles along dimension " << getDim()
                         << ", whose extent is open";
  shape[getDim()].number *= getSources().size();
  if (getExtents(result) != shape)
    return emitOpError() << "expected a result of shape ["
                         << describeExtents(shape) << "], got ["
                         << describeExtents(getExtents(result)) << "]";
  if (!getLayoutAttr(source))
    return success();
  SmallVector<int64_t> counts(shape.size(), 1);
  counts[getDim()] = getSources().size();
  std::optional<Layout> part =
      getCanonicalLayout(result).part(source.getShape());
  if (!part)
    return emitOpError("a thread would need elements of other threads");
  return verifySameLayout(*this, *part, getCanonicalLayout(source),
                          "the sources must have the layout of a part of the "
                          "result");
}

void ConcatenateOp::inferLayouts(Value value, LayoutAttrInterface layout,
                                 Propose propose) {
  if (value != getResult()) {
    for (Value source : getSources())
      propose(source, layout);
    return inferPart(value, layout, getResult(), value, propose);
  }
  for (Value source : getSources())
    inferPart(value, layout, getResult(), source, propose);
}

/// Returns the layout of a source in registers, or another one if all are in
/// shared memory.
static Layout getSourceLayout(ConcatenateOp op) {
  for (Value source : op.getSources())
    if (!isSharedTile(source.getType()))
      return getCanonicalLayout(tileType(source));
  RankedTensorType source = tileType(op.getSources().front());
  Layout result = getCanonicalLayout(tileType(op));
  SmallVector<int64_t> thread(source.getRank(), 1);
  auto order = llvm::to_vector(llvm::reverse(llvm::seq(source.getRank())));
  return getCanonicalLayout(withLayout(
      source, BlockedAttr::getCoalesced(op.getContext(), source.getShape(),
                                        thread, order, result.axisSize(kLane),
                                        result.axisSize(kWarp))));
}

void ConcatenateOp::requireLayouts(LayoutRequirements &requirements) {
  RankedTensorType source = tileType(getSources().front());
  std::optional<Layout> part =
      getCanonicalLayout(tileType(*this)).part(source.getShape());
  if (!part) {
    part = getSourceLayout(*this);
    SmallVector<int64_t> counts(source.getRank(), 1);
    counts[getDim()] = getSources().size();
    requirements.provideResult(
        cast<OpResult>(getResult()),
        DistributedAttr::get(getContext(), part->repeated(counts)));
  }
  // The sources have one type, so layouts that are written differently are
  // different, too.
  LayoutAttrInterface layout = getLayoutAttr(source);
  if (!getCanonicalLayout(source).equivalent(*part))
    layout = DistributedAttr::get(getContext(), *part);
  for (OpOperand &operand : getSourcesMutable())
    requirements.requireOperand(operand, layout);
}
