//===- TileClusterOps.cpp - Blocks of a cluster ---------------------------===//

#include "VerifyTiles.h"
#include "tile/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace tile;

/// Returns the blocks of the clusters of the kernel around `op`; 1 without
/// clusters.
static int64_t countBlocks(Operation *op) {
  auto kernel = op->getParentOfType<KernelOp>();
  return kernel ? kernel.getClusterBlocks() : 1;
}

static LogicalResult verifyInCluster(Operation *op) {
  if (countBlocks(op) > 1)
    return success();
  return op->emitOpError(
      "needs a kernel of clusters; its 'cluster_blocks' is 1");
}

LogicalResult ClusterRankOp::verify() { return verifyInCluster(*this); }

void ClusterRankOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                      SetIntRangeFn setResultRanges) {
  unsigned bits = IndexType::kInternalStorageBitWidth;
  setResultRanges(getResult(),
                  ConstantIntRanges::fromUnsigned(
                      APInt(bits, 0), APInt(bits, countBlocks(*this) - 1)));
}

/// Returns true if all parts of `rows` rows lie in shared memory alike, at
/// equal distances.
static bool hasEqualParts(BufferType buffer, int64_t rows) {
  if (!buffer.isShared() || !isa<PaddedAttr>(buffer.getLayout()))
    return false;
  Layout layout = buffer.getCanonicalLayout();
  SmallVector<int64_t> place(buffer.getRank(), 0);
  auto offsetOf = [&](int64_t row) {
    place[0] = row;
    return layout.offset(place);
  };
  for (int64_t row = rows; row < buffer.getShape()[0]; ++row)
    if (offsetOf(row) - offsetOf(row - rows) != offsetOf(rows) - offsetOf(0))
      return false;
  return true;
}

LogicalResult ClusterReduceOp::verify() {
  if (failed(verifyInCluster(*this)))
    return failure();
  auto result = cast<RankedTensorType>(getType());
  auto source = cast<ShapedType>(getSource().getType());
  if (!result.hasStaticShape() || result.getRank() == 0)
    return emitOpError() << "needs a tile of static extents, got " << result;
  SmallVector<int64_t> expected(result.getShape());
  expected[0] *= countBlocks(*this);
  bool hasShape = source.getShape() == ArrayRef(expected) ||
                  source.getShape() == result.getShape();
  if (!hasShape || source.getElementType() != result.getElementType())
    return emitOpError() << "combines " << source << " of "
                         << countBlocks(*this) << " blocks; a block has 1 / "
                         << countBlocks(*this) << " of the rows or all, not "
                         << result;
  if (auto buffer = dyn_cast<BufferType>(source);
      buffer && !hasEqualParts(buffer, result.getDimSize(0)))
    return emitOpError() << "reads rows of a #tile.padded buffer in shared "
                            "memory, whose parts are alike, not "
                         << buffer;
  return verifyReductionKind(*this, getKind(), result.getElementType());
}

/// Barriers of the cluster order the tiles, so the operation must stay where it
/// is.
void ClusterReduceOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Write::get());
  if (isa<BufferType>(getSource().getType()))
    effects.emplace_back(MemoryEffects::Read::get(), &getSourceMutable());
}
