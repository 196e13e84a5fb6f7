//===- LoadBeforeWaits.cpp - Loads that need not wait for a barrier -------===//

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Conversion/TileToGPU/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILELOADBEFOREWAITS
#include "tile/Conversion/TileToGPU/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Returns true if `op` loads from an argument of the kernel that the kernel
/// only loads from.
static bool isReadOnlyLoad(Operation *op) {
  auto load = dyn_cast<memref::LoadOp>(op);
  if (!load)
    return false;
  auto argument = dyn_cast<BlockArgument>(load.getMemRef());
  return argument &&
         isa<mlir::gpu::GPUFuncOp>(argument.getOwner()->getParentOp()) &&
         llvm::all_of(argument.getUsers(), llvm::IsaPred<memref::LoadOp>);
}

/// Returns true if `op` is such a load, or an scf.if whose only effects are
/// such loads.
static bool isEarlyLoad(Operation *op) {
  if (!isa<scf::IfOp>(op))
    return isReadOnlyLoad(op);
  bool loads = false;
  WalkResult result = op->walk([&](Operation *inner) {
    bool isLoad = isReadOnlyLoad(inner);
    loads |= isLoad;
    return isLoad || inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                   isPure(inner)
               ? WalkResult::advance()
               : WalkResult::interrupt();
  });
  return loads && !result.wasInterrupted();
}

/// Moves `load` before `wait`, an operation above it in the same block, with
/// what it needs. Moves nothing if one of these may depend on the wait.
static void moveBefore(Operation *load, Operation *wait) {
  Block *block = wait->getBlock();
  BackwardSliceOptions options;
  options.omitBlockArguments = true;
  options.omitUsesFromAbove = false;
  options.inclusive = true;
  options.filter = [&](Operation *op) {
    return op->getBlock() == block && wait->isBeforeInBlock(op);
  };
  SetVector<Operation *> slice;
  if (failed(getBackwardSlice(load, &slice, options)))
    return;
  if (llvm::all_of(slice,
                   [](Operation *op) { return isPure(op) || isEarlyLoad(op); }))
    for (Operation *op : topologicalSort(slice))
      op->moveBefore(wait);
}

namespace {
struct LoadBeforeWaits : tile::impl::TileLoadBeforeWaitsBase<LoadBeforeWaits> {
  void runOnOperation() override {
    getOperation()->walk([](Block *block) {
      Operation *wait = nullptr;
      for (Operation &op : llvm::make_early_inc_range(*block)) {
        if (isa<NVVM::MBarrierTryWaitParityOp>(op))
          wait = &op;
        else if (isa<NVVM::GriddepcontrolOp>(op))
          wait = nullptr; // Memory may change until here.
        else if (wait && isEarlyLoad(&op))
          moveBefore(&op, wait);
      }
    });
  }
};
} // namespace
