//===- SinkFragmentLoads.cpp - Move loads of fragments to their uses ------===//

#include "FragmentParts.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tile/Conversion/TileToGPU/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILESINKFRAGMENTLOADS
#include "tile/Conversion/TileToGPU/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Returns the first operation in the block of `op` that uses its results,
/// itself or inside a region; null if there is none or a use is elsewhere.
static Operation *firstUserInBlock(Operation *op) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers()) {
    Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user);
    if (!ancestor)
      return nullptr;
    if (!first || ancestor->isBeforeInBlock(first))
      first = ancestor;
  }
  return first;
}

/// Returns the address operand of a load of a fragment from shared memory; null
/// if `op` is not such a load.
static OpOperand *fragmentAddress(Operation &op) {
  if (auto load = dyn_cast<nvgpu::LdMatrixOp>(op))
    return load.getIndices().size() == 1 ? &load.getIndicesMutable()[0]
                                         : nullptr;
  if (auto load = dyn_cast<amdgpu::TransposeLoadOp>(op))
    return load.getSrcIndices().size() == 1 ? &load.getSrcIndicesMutable()[0]
                                            : nullptr;
  auto load = dyn_cast<vector::LoadOp>(op);
  if (!load || load.getIndices().size() != 1 ||
      !mlir::gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(
          load.getMemRefType()))
    return nullptr;
  return &load.getIndicesMutable()[0];
}

/// Returns true if `op` only selects or rearranges elements of its operands.
static bool isRearrangement(Operation &op) {
  return isa<vector::ExtractOp, vector::ExtractStridedSliceOp,
             vector::FromElementsOp, vector::InsertStridedSliceOp,
             vector::ShapeCastOp, vector::ShuffleOp>(op);
}

namespace {
struct SinkFragmentLoads
    : tile::impl::TileSinkFragmentLoadsBase<SinkFragmentLoads> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateFragmentPartsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation()->walk([](Block *block) { sinkIn(*block); });
  }

private:
  /// Moves an addition base + constant to the access. There it is free, as the
  /// immediate of the address; hoisted out of a loop it needs a register.
  static void sinkConstantOffset(OpOperand &index) {
    auto add = index.get().getDefiningOp<arith::AddIOp>();
    if (!add || !matchPattern(add.getRhs(), m_Constant()) ||
        add->getBlock() == index.getOwner()->getBlock())
      return;
    OpBuilder builder(index.getOwner());
    index.set(builder.clone(*add)->getResult(0));
  }

  static void sinkIn(Block &block) {
    // Visits operations from the end, so that users move before the operations
    // that they use. `fence` is the first operation below the current one that
    // loads must not cross.
    Operation *fence = nullptr;
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      OpOperand *address = fragmentAddress(op);
      if (!address && !isRearrangement(op)) {
        if (!isMemoryEffectFree(&op))
          fence = &op;
        continue;
      }
      Operation *target = firstUserInBlock(&op);
      if (!target)
        continue;
      if (address && fence && fence->isBeforeInBlock(target))
        target = fence;
      // moveBefore would invalidate the order of the whole block, which
      // isBeforeInBlock would compute again for each load.
      op.remove();
      block.getOperations().insert(target->getIterator(), &op);
      if (address)
        sinkConstantOffset(*address);
    }
  }
};
} // namespace
