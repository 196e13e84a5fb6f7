//===- Bufferize.cpp - Tiles in shared memory become buffers --------------===//

#include "mlir/Dialect/Bufferization/Transforms/Bufferize.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILEBUFFERIZE
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

static bool touchesSharedTiles(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isSharedTile) ||
         llvm::any_of(op->getResultTypes(), isSharedTile);
}

/// Only operations that have a rule may touch tiles in shared memory: then
/// each has one buffer, and none is left as a value afterwards.
static LogicalResult checkSharedTiles(KernelOp kernel) {
  WalkResult result = kernel.walk<WalkOrder::PreOrder>([](Operation *op) {
    if (isa<LoadOp, TransposeOp, DotOp, ConvertLayoutOp>(op))
      return WalkResult::advance();
    auto complain = [&](StringRef what, unsigned number, Type type) {
      op->emitOpError() << "cannot "
                        << (isa<LoopLikeOpInterface>(op) ? "carry"
                            : what == "operand"          ? "use"
                                                         : "produce")
                        << " a tile in shared memory (" << what << " " << number
                        << ", " << type
                        << "); convert it to a layout in registers";
      return WalkResult::interrupt();
    };
    for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
      if (isSharedTile(type))
        return complain("operand", i, type);
    for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
      if (isSharedTile(type))
        return complain("result", i, type);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct Bufferize : tile::impl::TileBufferizeBase<Bufferize> {
  using TileBufferizeBase::TileBufferizeBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (failed(checkSharedTiles(kernel)))
      return signalPassFailure();
    bufferization::BufferizationOptions options;
    options.allowUnknownOps = true;
    options.opFilter.allowOperation(touchesSharedTiles);
    // Tiles in shared memory are written once, when they are made: no write
    // can conflict with a read, so there is nothing to analyse.
    bufferization::BufferizationState state;
    if (failed(bufferization::bufferizeOp(kernel, options, state)))
      signalPassFailure();
  }
};
} // namespace
