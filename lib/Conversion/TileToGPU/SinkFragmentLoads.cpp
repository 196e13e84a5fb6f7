//===- SinkFragmentLoads.cpp - Read fragments where they are used ---------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Conversion/TileToGPU/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILESINKFRAGMENTLOADS
#include "tile/Conversion/TileToGPU/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// The earliest operation of op's block that uses it, itself or inside a
/// region; null if there is none or a use lies elsewhere.
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

namespace {
struct SinkFragmentLoads
    : tile::impl::TileSinkFragmentLoadsBase<SinkFragmentLoads> {
  void runOnOperation() override {
    getOperation()->walk([](Block *block) { sinkIn(*block); });
  }

private:
  /// base + constant is free beside the access, as the immediate of its
  /// address, but takes a register when it is hoisted out of a loop.
  static void sinkConstantOffset(OpOperand &index) {
    auto add = index.get().getDefiningOp<arith::AddIOp>();
    if (!add || !matchPattern(add.getRhs(), m_Constant()) ||
        add->getBlock() == index.getOwner()->getBlock())
      return;
    OpBuilder builder(index.getOwner());
    index.set(builder.clone(*add)->getResult(0));
  }

  static void sinkIn(Block &block) {
    // From the back, so that users have moved before what they use. `fence` is
    // the first operation below that loads must stay above.
    Operation *fence = nullptr;
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      bool isLoad = isa<tile::gpu::LoadMatrixOp>(op);
      if (!isLoad && !isa<vector::ExtractStridedSliceOp>(op)) {
        if (!isMemoryEffectFree(&op))
          fence = &op;
        continue;
      }
      Operation *target = firstUserInBlock(&op);
      if (!target)
        continue;
      if (isLoad && fence && fence->isBeforeInBlock(target))
        target = fence;
      op.moveBefore(target);
      if (isLoad)
        sinkConstantOffset(op.getOpOperand(1));
    }
  }
};
} // namespace
