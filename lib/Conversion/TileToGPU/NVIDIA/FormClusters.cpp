//===- FormClusters.cpp - Programs on the blocks of a cluster -------------===//

#include "../Emitter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "tile/Conversion/TileToGPU/Passes.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

namespace tile {
#define GEN_PASS_DEF_TILEFORMCLUSTERS
#include "tile/Conversion/TileToGPU/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Returns true if `value` is shared memory.
static bool isShared(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  auto space =
      type
          ? dyn_cast_or_null<mlir::gpu::AddressSpaceAttr>(type.getMemorySpace())
          : mlir::gpu::AddressSpaceAttr();
  return space && space.getValue() == mlir::gpu::AddressSpace::Workgroup;
}

namespace {
/// Divides the threads of one function among `blocks` blocks.
class ClusterFormer {
public:
  ClusterFormer(mlir::gpu::GPUFuncOp func, int64_t threads, int64_t blocks)
      : func(func), threads(threads), blocks(blocks),
        b(func.getLoc(), func.getContext()) {}

  LogicalResult run();

private:
  LogicalResult check();
  void emitBarrier();
  void replaceThread(mlir::gpu::ThreadIdOp op);
  void replaceBlock(mlir::gpu::BlockIdOp op);
  void replaceGrid(mlir::gpu::GridDimOp op);
  void replaceStore(vector::StoreOp op);
  void setSizes();

  mlir::gpu::GPUFuncOp func;
  /// Threads of a block.
  int64_t threads, blocks;
  Emitter b;
};
} // namespace

/// Refuses accesses to shared memory that do not reach the other copies.
LogicalResult ClusterFormer::check() {
  WalkResult result = func.walk([&](Operation *op) -> WalkResult {
    if (llvm::none_of(op->getOperands(), isShared) ||
        isa<memref::ViewOp, vector::LoadOp, vector::StoreOp>(op))
      return WalkResult::advance();
    return op->emitOpError()
           << "needs the shared memory of one block, and the "
           << threads * blocks << " threads are those of a cluster of "
           << blocks << " blocks";
  });
  return failure(result.wasInterrupted());
}

/// Emits a barrier of all threads of the cluster.
void ClusterFormer::emitBarrier() {
  NVVM::ClusterArriveOp::create(b, b.getUnitAttr());
  NVVM::ClusterWaitOp::create(b, b.getUnitAttr());
}

void ClusterFormer::replaceThread(mlir::gpu::ThreadIdOp op) {
  b.setInsertionPointAfter(op);
  Value rank = b.toIndex(NVVM::ClusterId::create(b, b.getI32Type()));
  Value number = b.add(b.mul(rank, threads), op);
  op.getResult().replaceAllUsesExcept(number, number.getDefiningOp());
}

void ClusterFormer::replaceBlock(mlir::gpu::BlockIdOp op) {
  b.setInsertionPoint(op);
  op.getResult().replaceAllUsesWith(
      b.toIndex(NVVM::ClusterIdXOp::create(b, b.getI32Type())));
  op.erase();
}

void ClusterFormer::replaceGrid(mlir::gpu::GridDimOp op) {
  b.setInsertionPoint(op);
  op.getResult().replaceAllUsesWith(
      b.toIndex(NVVM::ClusterDimXOp::create(b, b.getI32Type())));
  op.erase();
}

void ClusterFormer::replaceStore(vector::StoreOp op) {
  b.setInsertionPoint(op);
  auto cluster = LLVM::LLVMPointerType::get(
      b.getContext(), unsigned(NVVM::NVVMMemorySpace::SharedCluster));
  Value pointer = b.sharedPointer(op.getBase(), op.getIndices().front());
  for (int64_t rank = 0; rank < blocks; ++rank) {
    Value copy = NVVM::MapaOp::create(b, cluster, pointer, b.i32(rank));
    LLVM::StoreOp::create(b, op.getValueToStore(), copy,
                          op.getAlignment().value_or(0));
  }
  op.erase();
}

/// Sets the threads of a block and the blocks of the grid and of a cluster.
void ClusterFormer::setSizes() {
  int32_t size = threads, count = blocks;
  func.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({size, 1, 1}));
  func->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                b.getDenseI32ArrayAttr({count, 1, 1}));
  tile::gpu::ManifestOp manifest = tile::gpu::findManifest(func);
  SmallVector<Attribute> grid(manifest.getGrid().getValue());
  if (auto extent = dyn_cast<IntegerAttr>(grid[0]))
    grid[0] = b.getI64IntegerAttr(extent.getInt() * blocks);
  else
    grid[0] = b.getArrayAttr(
        {b.getStringAttr("mul"), grid[0], b.getI64IntegerAttr(blocks)});
  manifest.setGridAttr(b.getArrayAttr(grid));
  manifest.setBlock({threads, 1, 1});
}

LogicalResult ClusterFormer::run() {
  if (failed(check()))
    return failure();
  bool isExchanging = false;
  func.walk([&](Operation *op) {
    b.setLoc(op->getLoc());
    if (auto thread = dyn_cast<mlir::gpu::ThreadIdOp>(op)) {
      replaceThread(thread);
    } else if (auto block = dyn_cast<mlir::gpu::BlockIdOp>(op)) {
      if (block.getDimension() == mlir::gpu::Dimension::x)
        replaceBlock(block);
    } else if (auto grid = dyn_cast<mlir::gpu::GridDimOp>(op)) {
      if (grid.getDimension() == mlir::gpu::Dimension::x)
        replaceGrid(grid);
    } else if (isa<mlir::gpu::BarrierOp>(op)) {
      b.setInsertionPoint(op);
      emitBarrier();
      op->erase();
    } else if (auto store = dyn_cast<vector::StoreOp>(op);
               store && isShared(store.getBase())) {
      replaceStore(store);
      isExchanging = true;
    }
  });
  if (isExchanging) {
    b.setLoc(func.getLoc());
    b.setInsertionPointToStart(&func.getBody().front());
    emitBarrier();
  }
  setSizes();
  return success();
}

namespace {
struct FormClusters : tile::impl::TileFormClustersBase<FormClusters> {
  using TileFormClustersBase::TileFormClustersBase;

  void runOnOperation() override {
    const Chip *chip = getTargetChip(getOperation());
    if (!chip)
      return signalPassFailure();
    for (auto func : getOperation().getOps<mlir::gpu::GPUFuncOp>()) {
      std::optional<ArrayRef<int32_t>> size = func.getKnownBlockSize();
      if (!size || (*size)[0] <= kMostThreads || !tile::gpu::findManifest(func))
        continue;
      int64_t threads = (*size)[0];
      int64_t blocks = countClusterBlocks(*chip, threads / chip->warpSize);
      if (threads > blocks * kMostThreads) {
        func.emitOpError() << "has " << threads << " threads; " << chip->name
                           << " has at most " << blocks * kMostThreads;
        return signalPassFailure();
      }
      if (blocks > 1 &&
          failed(ClusterFormer(func, threads / blocks, blocks).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
