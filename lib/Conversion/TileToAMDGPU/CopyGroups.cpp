//===- CopyGroups.cpp - Waits for groups of copies to the LDS -------------===//
//
// The hardware has no groups. It counts the vector memory operations of a wave,
// which complete in order, and waits until at most n of them are in flight. A
// wait for all but some groups allows as many operations to be in flight as
// copies are certainly newer than these groups. Other operations are not
// counted, because the back end may move them across the wait: with them, the
// wait is stricter than necessary.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tile/Conversion/TileToAMDGPU/Passes.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace tile;
using tile::gpu::CommitCopiesOp;
using tile::gpu::WaitCopiesOp;

/// The largest count of s_waitcnt on gfx9.
static constexpr unsigned kMostInFlight = 63;

namespace {
/// The copies that are certainly newer than a group: entry i is for the i-th
/// newest group, from 0 on. kMostInFlight stands for more copies, and for
/// groups that are known to be complete.
using Newer = SmallVector<unsigned>;

/// Counts, for each wait, the copies that are newer than the groups to wait
/// for.
class CopyCounter {
public:
  explicit CopyCounter(FunctionOpInterface function);

  /// The counts of the waits.
  DenseMap<Operation *, unsigned> counts;

private:
  void visit(Region &region, Newer &newer);
  void visit(Operation *op, Newer &newer);
};
} // namespace

static void takeLeast(Newer &into, const Newer &other) {
  for (auto [count, otherCount] : llvm::zip_equal(into, other))
    count = std::min(count, otherCount);
}

CopyCounter::CopyCounter(FunctionOpInterface function) {
  unsigned groups = 1;
  function.walk([&](WaitCopiesOp wait) {
    groups = std::max(groups, wait.getPending() + 1);
  });
  Newer newer(groups, kMostInFlight);
  visit(function.getFunctionBody(), newer);
}

void CopyCounter::visit(Region &region, Newer &newer) {
  // In unstructured control flow, nothing is known of earlier blocks.
  bool isKnown = region.hasOneBlock();
  for (Block &block : region) {
    if (!isKnown)
      newer.assign(newer.size(), 0);
    for (Operation &op : block)
      visit(&op, newer);
  }
  if (!isKnown)
    newer.assign(newer.size(), 0);
}

void CopyCounter::visit(Operation *op, Newer &newer) {
  if (isa<amdgpu::GatherToLDSOp>(op)) {
    for (unsigned &count : newer)
      count = std::min(count + 1, kMostInFlight);
  } else if (isa<CommitCopiesOp>(op)) {
    newer.insert(newer.begin(), 0);
    newer.pop_back();
  } else if (auto wait = dyn_cast<WaitCopiesOp>(op)) {
    counts[op] = newer[wait.getPending()];
    if (counts[op] == 0)
      newer.assign(newer.size(), kMostInFlight);
  } else if (isa<LoopLikeOpInterface>(op)) {
    // The counts of the last visit hold in every iteration.
    for (Newer before; before != newer;) {
      before = newer;
      Newer inside = before;
      for (Region &region : op->getRegions()) {
        visit(region, inside);
        takeLeast(newer, inside);
      }
    }
  } else if (op->getNumRegions() != 0) {
    Newer after(newer.size(), kMostInFlight);
    bool mayBeSkipped = !isa<RegionBranchOpInterface>(op);
    for (Region &region : op->getRegions()) {
      mayBeSkipped |= region.empty();
      Newer inside = newer;
      visit(region, inside);
      takeLeast(after, inside);
    }
    if (mayBeSkipped)
      takeLeast(after, newer);
    newer = after;
  }
}

/// Emits a barrier of the LDS that does not wait for copies in flight. The
/// fences keep the compiler from moving accesses across the barrier.
static void lowerBarrier(mlir::gpu::BarrierOp barrier) {
  OpBuilder builder(barrier);
  Location loc = barrier.getLoc();
  amdgpu::MemoryCounterWaitOp::create(builder, loc, /*load=*/{}, /*store=*/{},
                                      /*ds=*/builder.getI32IntegerAttr(0),
                                      /*exp=*/{}, /*tensor=*/{});
  LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::release,
                        "wavefront");
  ROCDL::SBarrierOp::create(builder, loc);
  LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::acquire,
                        "wavefront");
  barrier.erase();
}

void tile::lowerCopyGroups(Operation *root) {
  root->walk([&](FunctionOpInterface function) {
    if (function.isExternal())
      return;
    bool hasCopies = false, hasWaits = false;
    function.walk([&](Operation *op) {
      hasCopies |= isa<amdgpu::GatherToLDSOp>(op);
      hasWaits |= isa<WaitCopiesOp>(op);
    });
    CopyCounter counter(function);
    function.walk([&](Operation *op) {
      OpBuilder builder(op);
      if (auto wait = dyn_cast<WaitCopiesOp>(op)) {
        unsigned count = counter.counts.lookup(op);
        if (hasCopies && count < kMostInFlight)
          amdgpu::MemoryCounterWaitOp::create(
              builder, op->getLoc(),
              /*load=*/builder.getI32IntegerAttr(count), /*store=*/{},
              /*ds=*/{}, /*exp=*/{}, /*tensor=*/{});
        op->erase();
      } else if (isa<CommitCopiesOp>(op)) {
        op->erase();
      } else if (auto barrier = dyn_cast<mlir::gpu::BarrierOp>(op);
                 barrier && hasCopies && hasWaits) {
        lowerBarrier(barrier);
      }
    });
  });
}
