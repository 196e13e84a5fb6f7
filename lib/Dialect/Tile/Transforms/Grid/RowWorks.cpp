//===- RowWorks.cpp - Works of kernels without products -------------------===//

#include "RowWorks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tile/Analysis/CostModel.h"
#include "tile/Analysis/GridDimensions.h"
#include "tile/Analysis/Registers.h"
#include "tile/Analysis/RolePlan.h"
#include "tile/Analysis/RowRuns.h"
#include "tile/Analysis/RunAhead.h"
#include "tile/Dialect/Tile/IR/Contains.h"

using namespace mlir;
using namespace tile;

static bool isGlobal(LoadOp load) {
  return !load.getBuffer().getType().isShared() &&
         !isSharedTile(load.getType());
}

/// Moves the loads of `loop` from global memory that are the same in all
/// iterations in front of it.
static void hoistLoads(scf::ForOp loop, KernelOp kernel) {
  RunAhead runAhead(kernel);
  auto mayMove = [&](Operation &op) {
    if (auto load = dyn_cast<LoadOp>(op))
      return isGlobal(load) && !runAhead.checkLoad(load, loop);
    return isa<LoadScalarOp>(op) && runAhead.isRepeatable(&op);
  };
  for (Operation &op :
       llvm::make_early_inc_range(loop.getBody()->without_terminator())) {
    bool isInvariant = llvm::all_of(op.getOperands(), [&](Value operand) {
      return loop.isDefinedOutsideOfLoop(operand);
    });
    if (isInvariant && mayMove(op))
      op.moveBefore(loop);
  }
}

void tile::hoistFromWorks(scf::ForOp loop, KernelOp kernel) {
  auto isHoistable = [&](scf::IfOp branch) {
    return loop.isDefinedOutsideOfLoop(branch.getCondition());
  };
  auto branches = loop.getBody()->getOps<scf::IfOp>();
  auto found = llvm::find_if(branches, isHoistable);
  // Each branch gets a copy of all other operations.
  bool isAlone =
      found != branches.end() &&
      llvm::all_of(loop.getBody()->without_terminator(), [&](Operation &op) {
        return &op == *found || op.getNumRegions() == 0;
      });
  if (!isAlone)
    return hoistLoads(loop, kernel);
  scf::IfOp branch = *found;
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  auto outer = scf::IfOp::create(rewriter, loop.getLoc(), TypeRange(),
                                 branch.getCondition(), /*withElse=*/true);
  for (bool isThen : {true, false}) {
    Block *block = isThen ? outer.thenBlock() : outer.elseBlock();
    rewriter.setInsertionPoint(block->getTerminator());
    IRMapping mapping;
    auto works = cast<scf::ForOp>(rewriter.clone(*loop, mapping));
    auto copy = cast<scf::IfOp>(mapping.lookup(branch.getOperation()));
    Block *taken = isThen ? copy.thenBlock() : copy.elseBlock();
    if (taken) {
      Operation *yield = taken->getTerminator();
      rewriter.inlineBlockBefore(taken, copy);
      rewriter.replaceOp(copy, yield->getOperands());
      rewriter.eraseOp(yield);
    } else {
      rewriter.eraseOp(copy);
    }
    if (isOpTriviallyDead(works))
      rewriter.eraseOp(works);
    else
      hoistLoads(works, kernel);
  }
  rewriter.eraseOp(loop);
}

/// Returns how a block of a kernel without products accesses memory outside of
/// loops. It loads no tiles if some cannot be copied.
static BlockAccesses findAccesses(KernelOp kernel, const Chip &chip) {
  GridDimensions dimensions;
  BlockAccesses accesses;
  auto countBytes = [](RankedTensorType tile) {
    return tile.getNumElements() * tile.getElementTypeBitWidth() / 8;
  };
  bool mayCopy = true;
  kernel.walk([&](Block *block) {
    Operation *parent = block->getParentOp();
    if (isa<LoopLikeOpInterface>(parent) ||
        parent->getParentOfType<LoopLikeOpInterface>() ||
        llvm::any_of(*block, llvm::IsaPred<LoopLikeOpInterface>))
      return;
    for (auto load : block->getOps<LoadOp>()) {
      if (!isGlobal(load) || dimensions.find(load->getOperands()) == 0)
        continue;
      accesses.loaded += countBytes(load.getType());
      mayCopy &= !hasSingleAccesses(load.getBuffer().getType()) ||
                 findRowRun(load, chip, kernel.getNumWarps()).has_value();
    }
    for (auto store : block->getOps<StoreOp>())
      accesses.moved += countBytes(store.getValue().getType());
    for (auto reduce : block->getOps<ReduceOp>())
      accesses.waitsForOthers |= combinesWarps(reduce);
  });
  if (!mayCopy)
    return {};
  accesses.moved += accesses.loaded;
  // A loop on another path moves more.
  if (containsOp<LoopLikeOpInterface>(kernel, [](auto) { return true; }))
    accesses.moved = std::numeric_limits<int64_t>::max();
  return accesses;
}

/// Returns the blocks of a multiprocessor for which registers suffice.
static int64_t countBlocks(KernelOp kernel, const Chip &chip) {
  int64_t warps = kernel.getNumWarps();
  return countResidentBlocks(chip, warps / countClusterBlocks(chip, warps),
                             estimateRegisters(kernel).total +
                                 kLeastRegisterMargin);
}

bool tile::paysAsWorks(KernelOp kernel, const Chip &chip) {
  int64_t parts = countClusterBlocks(chip, kernel.getNumWarps());
  return loadsNextWork(chip, parts, countBlocks(kernel, chip),
                       findAccesses(kernel, chip));
}

Value tile::countPlaces(KernelOp kernel, const Chip &chip) {
  ImplicitLocOpBuilder b(kernel.getGrid().getLoc(), kernel.getGrid());
  int64_t parts = countClusterBlocks(chip, kernel.getNumWarps());
  int64_t resident = countBlocks(kernel, chip);
  Value processors = MultiprocessorsOp::create(b);
  auto multiply = [&](Value value, int64_t factor) {
    return b.createOrFold<arith::MulIOp>(
        value, arith::ConstantIndexOp::create(b, factor));
  };
  if (parts == 1)
    return multiply(processors, resident);
  int64_t clusters = countClusterPlaces(chip, resident, parts) / parts;
  return b.createOrFold<arith::DivUIOp>(
      multiply(processors, clusters),
      arith::ConstantIndexOp::create(b, chip.processors));
}
