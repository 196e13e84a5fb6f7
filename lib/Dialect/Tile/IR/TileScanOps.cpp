//===- TileScanOps.cpp - Prefix scans of tiles ----------------------------===//

#include "VerifyTiles.h"
#include "tile/Layout/Queries.h"
#include <numeric>

using namespace mlir;
using namespace tile;

using Propose = llvm::function_ref<void(Value, LayoutAttrInterface)>;

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult ScanOp::verify() {
  auto tile = cast<RankedTensorType>(getType());
  if (failed(verifyReductionKind(*this, getKind(), tile.getElementType())) ||
      failed(verifyDimension(*this, getDim(), tile)))
    return failure();
  if (isSharedTile(tile))
    return emitOpError("works on tiles in registers");
  return success();
}

LogicalResult AssociativeScanOp::inferReturnTypes(
    MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
    OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  llvm::append_range(types, operands.getTypes());
  return success();
}

/// Verifies the tiles of a scan by a region.
template <typename OpT> static LogicalResult verifyScannedTiles(OpT op) {
  if (op.getSources().empty())
    return op.emitOpError("needs a tile");
  auto tile = cast<RankedTensorType>(op.getSources().front().getType());
  if (failed(verifyDimension(op, op.getDim(), tile)))
    return failure();
  if (isSharedTile(tile))
    return op.emitOpError("works on tiles in registers");
  for (Type type : op.getSources().getTypes())
    if (cast<RankedTensorType>(type).clone(tile.getElementType()) != tile)
      return op.emitOpError() << "works on tiles of one shape and layout, got "
                              << tile << " and " << type;
  if (op.getResults().getTypes() != op.getSources().getTypes())
    return op.emitOpError("gives tiles of the types that it gets");
  return success();
}

/// Verifies the region of a scan.
template <typename OpT> static LogicalResult verifyScanRegion(OpT op) {
  SmallVector<Type> elements, expected;
  for (Type type : op.getSources().getTypes())
    elements.push_back(getElementTypeOrSelf(type));
  expected.append(elements);
  expected.append(elements);
  Block &block = op.getBody().front();
  if (failed(verifyArguments(op, "a region", block, expected)))
    return failure();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield)
    return op.emitOpError("needs a region that ends with tile.yield");
  if (yield.getOperandTypes() != TypeRange(elements)) {
    InFlightDiagnostic diag =
        yield.emitOpError("must give numbers of the types ");
    llvm::interleaveComma(elements, diag);
    diag << "; got ";
    llvm::interleaveComma(yield.getOperandTypes(), diag);
    return diag;
  }
  auto isNumber = [](Type type) { return type.isIntOrIndexOrFloat(); };
  for (Operation &inner : block.without_terminator())
    if (inner.getNumRegions() != 0 || !isMemoryEffectFree(&inner) ||
        !llvm::all_of(inner.getOperandTypes(), isNumber) ||
        !llvm::all_of(inner.getResultTypes(), isNumber))
      return inner.emitOpError("must not be in the region of a scan, which has "
                               "operations without side effects on numbers");
  return success();
}

LogicalResult AssociativeScanOp::verify() { return verifyScannedTiles(*this); }

LogicalResult AssociativeScanOp::verifyRegions() {
  return verifyScanRegion(*this);
}

/// Verifies a step of a scan of runs along `dim` that warps hold. `totals` has
/// one element for each run, and the layout `expected`.
static LogicalResult verifyTotals(Operation *op, RankedTensorType tile,
                                  int64_t dim, RankedTensorType totals,
                                  const Layout &expected,
                                  StringRef layoutMessage) {
  if (totals.getShape() != expected.shape())
    return op->emitOpError()
           << "expected totals of shape [" << expected.shape()
           << "], one for each " << getCanonicalLayout(tile).runInWarps(dim)
           << " elements along dimension " << dim << ", got ["
           << totals.getShape() << "]";
  return verifySameLayout(op, expected, getCanonicalLayout(totals),
                          layoutMessage);
}

LogicalResult ScanInWarpsOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto totals = cast<RankedTensorType>(getTotals().getType());
  if (failed(verifyCombination(*this, getKind(), getDim(), source, totals)))
    return failure();
  Layout layout = getCanonicalLayout(source);
  return verifyTotals(
      *this, source, getDim(), totals,
      layout.reduceRuns(getDim(), layout.runInWarps(getDim())),
      "the totals must have the layout that a reduction of each run leaves");
}

/// Verifies a step of a scan of runs by a region. Each tile has totals, of the
/// layout that `getExpected` returns for that of the tile.
template <typename OpT>
static LogicalResult
verifyTotals(OpT op, llvm::function_ref<Layout(const Layout &)> getExpected,
             StringRef layoutMessage) {
  if (failed(verifyScannedTiles(op)))
    return failure();
  for (auto [source, total] :
       llvm::zip_equal(op.getSources().getTypes(), op.getTotals().getTypes())) {
    auto tile = cast<RankedTensorType>(source);
    auto totals = cast<RankedTensorType>(total);
    if (failed(verifyInRegisters(op, tile, totals)) ||
        failed(verifyTotals(op, tile, op.getDim(), totals,
                            getExpected(getCanonicalLayout(tile)),
                            layoutMessage)))
      return failure();
  }
  return success();
}

LogicalResult AssociativeScanInWarpsOp::verify() {
  if (getNumResults() != 2 * getNumOperands())
    return emitOpError("gives a result and totals for each tile");
  return verifyTotals(
      *this,
      [&](const Layout &layout) {
        return layout.reduceRuns(getDim(), layout.runInWarps(getDim()));
      },
      "the totals must have the layout that a reduction of each run leaves");
}

LogicalResult AssociativeScanInWarpsOp::verifyRegions() {
  return verifyScanRegion(*this);
}

LogicalResult JoinAssociativeScansOp::verify() {
  if (getNumOperands() != 2 * getNumResults())
    return emitOpError("needs totals for each tile");
  return verifyTotals(
      *this, [&](const Layout &layout) { return layout.allRuns(getDim()); },
      "each thread must have the totals of all runs for its elements");
}

LogicalResult JoinAssociativeScansOp::verifyRegions() {
  return verifyScanRegion(*this);
}

LogicalResult JoinScansOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto totals = cast<RankedTensorType>(getTotals().getType());
  if (failed(verifyCombination(*this, getKind(), getDim(), source, totals)))
    return failure();
  return verifyTotals(
      *this, source, getDim(), totals,
      getCanonicalLayout(source).allRuns(getDim()),
      "each thread must have the totals of all runs for its elements");
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

void ScanOp::inferLayouts(Value, LayoutAttrInterface layout, Propose propose) {
  propose(getSource(), layout);
  propose(getResult(), layout);
}

/// Returns the accesses to shared memory of a thread in a scan along `dim`. It
/// writes the totals of its runs and reads those of all runs. The latter count
/// twice, because the thread holds them beside its elements.
static int64_t countScanAccesses(const Layout &layout, unsigned dim) {
  int64_t length = layout.runInWarps(dim);
  if (length == layout.shape()[dim])
    return 0;
  return layout.reduceRuns(dim, length).axisSize(kRegister) +
         2 * layout.allRuns(dim).axisSize(kRegister);
}

/// Returns the layout in which `tile` is scanned along `dim`. This is its own,
/// unless a conversion to another one and back costs less. In the other layout,
/// lanes and warps go along the other dimensions first.
static LayoutAttrInterface getScanLayout(RankedTensorType tile, unsigned dim) {
  Layout layout = getCanonicalLayout(tile);
  SmallVector<int64_t> thread(tile.getRank(), 1), order;
  thread[dim] = std::gcd(128 / std::max(tile.getElementTypeBitWidth(), 8u),
                         tile.getDimSize(dim));
  for (int64_t other = tile.getRank(); other-- > 0;)
    if (other != dim)
      order.push_back(other);
  order.push_back(dim);
  LayoutAttrInterface other = BlockedAttr::getCoalesced(
      tile.getContext(), tile.getShape(), thread, order, layout.axisSize(kLane),
      layout.axisSize(kWarp));
  Layout otherLayout = getCanonicalLayout(withLayout(tile, other));
  int64_t conversions =
      2 * (layout.axisSize(kRegister) + otherLayout.axisSize(kRegister));
  return conversions + countScanAccesses(otherLayout, dim) <
                 countScanAccesses(layout, dim)
             ? other
             : getLayoutAttr(tile);
}

void ScanOp::requireLayouts(LayoutRequirements &requirements) {
  LayoutAttrInterface layout =
      getScanLayout(cast<RankedTensorType>(getType()), getDim());
  requirements.requireOperand(getSourceMutable(), layout);
  requirements.provideResult(cast<OpResult>(getResult()), layout);
}

void AssociativeScanOp::inferLayouts(Value, LayoutAttrInterface layout,
                                     Propose propose) {
  for (Value tile : llvm::concat<Value>(getSources(), getResults()))
    propose(tile, layout);
}

void AssociativeScanOp::requireLayouts(LayoutRequirements &requirements) {
  LayoutAttrInterface layout = getScanLayout(
      cast<RankedTensorType>(getSources().front().getType()), getDim());
  for (OpOperand &source : getSourcesMutable())
    requirements.requireOperand(source, layout);
  for (OpResult result : getOperation()->getResults())
    requirements.provideResult(result, layout);
}
