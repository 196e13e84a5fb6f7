//===- Bufferize.cpp - Bufferization of tiles in shared memory ------------===//

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

/// Verifies that only operations with a bufferization rule use tiles in shared
/// memory. Each such tile has one buffer then, and none remains a value.
static LogicalResult checkSharedTiles(KernelOp kernel) {
  auto check = [](Operation *op) -> WalkResult {
    if (isa<LoadOp, TransposeOp, DotOp, ConvertLayoutOp, ClusterReduceOp>(op))
      return WalkResult::advance();
    auto complain = [&](StringRef what, unsigned number, Type type) {
      return op->emitOpError()
             << "cannot "
             << (isa<LoopLikeOpInterface>(op) ? "carry"
                 : what == "operand"          ? "use"
                                              : "produce")
             << " a tile in shared memory (" << what << " " << number << ", "
             << type << "); convert it to a layout in registers";
    };
    for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
      if (isSharedTile(type))
        return complain("operand", i, type);
    for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
      if (isSharedTile(type))
        return complain("result", i, type);
    return WalkResult::advance();
  };
  return failure(kernel.walk<WalkOrder::PreOrder>(check).wasInterrupted());
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
    // A tile in shared memory is written once, by the operation that creates
    // it. No write can conflict with a read, so the conflict analysis is not
    // needed.
    bufferization::BufferizationState state;
    if (failed(bufferization::bufferizeOp(kernel, options, state)))
      signalPassFailure();
  }
};
} // namespace
