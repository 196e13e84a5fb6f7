//===- ClusterPatterns.cpp - Blocks of a cluster --------------------------===//

#include "../Access/VectorAccess.h"
#include "../Lowering.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "tile/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace tile;

static LogicalResult verifyHasClusters(Operation *op, const Chip &chip) {
  if (chip.clusterBlocks > 1)
    return success();
  return op->emitOpError() << "needs clusters, which " << chip.name
                           << " does not have";
}

static Value emitRank(Lowering &b) {
  return b.toIndex(NVVM::ClusterId::create(b, b.getI32Type()));
}

static LogicalResult convertClusterRank(ClusterRankOp op,
                                        ClusterRankOp::Adaptor, Lowering &b) {
  if (failed(verifyHasClusters(op, b.chip)))
    return failure();
  return b.replace(op, emitRank(b));
}

/// Returns true if `op` does not access shared memory and waits for no other
/// thread.
static bool isLocal(Operation *op) {
  if (auto store = dyn_cast<StoreOp>(op))
    return !store.getBuffer().getType().isShared();
  if (auto load = dyn_cast<LoadOp>(op))
    return !load.getBuffer().getType().isShared();
  return op->hasTrait<OpTrait::Elementwise>() ||
         isa<BroadcastOp, TransposeOp, IotaOp>(op) ||
         (isPure(op) && op->getDialect()->getNamespace() == "arith");
}

/// Emits the barrier behind the reads of `reduce`: no block writes its memory
/// again or ends before the others have read it. A barrier with release has a
/// fence of the whole GPU. A fence of the block is enough here: a thread has
/// its values before it arrives. Blocks wait as late as possible.
static void emitReadsDone(ClusterReduceOp reduce, Lowering &b) {
  LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acq_rel, "block");
  NVVM::ClusterArriveRelaxedOp::create(b, b.getUnitAttr());
  Operation *last = reduce->getNextNode();
  while (isLocal(last))
    last = last->getNextNode();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(last);
  NVVM::ClusterWaitOp::create(b, b.getUnitAttr());
}

/// Emits the loads of what this block combines from the tiles of all blocks,
/// and the combination.
static LogicalResult convertClusterReduce(ClusterReduceOp op,
                                          Parts<ClusterReduceOp> operands,
                                          Lowering &b) {
  if (failed(verifyHasClusters(op, b.chip)))
    return failure();
  auto memory = dyn_cast<BufferType>(op.getSource().getType());
  if (!memory)
    return op.emitOpError(
        "combines tiles that are not in shared memory; run "
        "tile-decompose-conversions and tile-bufferize first");
  auto tile = cast<RankedTensorType>(op.getType());
  VectorType type = b.vectorOf(tile);
  Layout dist = getCanonicalLayout(tile);
  BufferParts buffer(memory, operands.getSource());
  SmallVector<int64_t> start(tile.getRank(), 0), next(start);
  // A block that combines all rows begins with the first one.
  bool isWhole = memory.getShape() == tile.getShape();
  next[0] = isWhole ? 0 : tile.getDimSize(0);
  Layout offsets = memory.getCanonicalLayout();
  int64_t stride = offsets.offset(next) - offsets.offset(start);
  SmallVector<Value> indices(tile.getRank(), b.index(0));

  // A barrier of the threads of the cluster that have not ended.
  NVVM::ClusterArriveOp::create(b, b.getUnitAttr());
  NVVM::ClusterWaitOp::create(b, b.getUnitAttr());
  buffer.offset = b.add(buffer.offset, b.mul(emitRank(b), stride));
  AccessWidth width = decideWidth(dist, memoryOperand(buffer, indices),
                                  anyWidth(memory, b.chip.maxSharedAccess));
  remarkLimits(op, width);
  const AccessGroups &groups = width.groups;
  auto part = VectorType::get({groups.width}, type.getElementType());
  auto inCluster = LLVM::LLVMPointerType::get(
      b.getContext(), unsigned(NVVM::NVVMMemorySpace::SharedCluster));
  int64_t blocks = op->getParentOfType<mlir::gpu::GPUFuncOp>()
                       ->getAttrOfType<DenseI32ArrayAttr>(
                           NVVM::NVVMDialect::getClusterDimAttrName())[0];
  SmallVector<Value> parts;
  for (Value offset : sharedOffsets(b, dist, buffer, start, groups)) {
    Value address = b.sharedPointer(buffer.memory, offset), sum;
    for (int64_t rank = 0; rank < blocks; ++rank) {
      Value place = NVVM::MapaOp::create(b, inCluster, address, b.i32(rank));
      Value value = LLVM::LoadOp::create(
          b, part, place, groups.width * type.getElementTypeBitWidth() / 8);
      sum = sum ? arith::getReductionOp(op.getKind(), b, b.getLoc(), sum, value)
                : value;
    }
    parts.push_back(sum);
  }
  emitReadsDone(op, b);
  return b.replace(op, fromAccesses(b, type, dist, groups, parts));
}

void tile::addClusterConversions(ConversionAdder &conversions) {
  conversions.addAll(convertClusterRank, convertClusterReduce);
}
