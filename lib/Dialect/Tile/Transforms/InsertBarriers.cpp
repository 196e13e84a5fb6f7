//===- InsertBarriers.cpp - Barriers between uses of shared memory --------===//
//
// A walk in program order keeps, for every allocation, whether it has been read
// or written since the last barrier. Loops are walked until their state is
// stable. Every thread of a block takes the same branches (conditions are
// scalars of the block), so a barrier may go anywhere.
//
//===----------------------------------------------------------------------===//

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Dialect/Tile/Transforms/SharedMemory.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILEINSERTBARRIERS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {
/// What has happened to each allocation since the last barrier.
struct State {
  explicit State(unsigned size)
      : read(size), written(size), inFlight(size), inFlightReads(size) {}

  llvm::BitVector read, written;
  /// Asynchronous copies that no wait has covered for certain, whatever
  /// barriers came since.
  llvm::BitVector inFlight;
  /// What the copy engine has been given to store.
  llvm::BitVector inFlightReads;

  bool anySince() const { return read.any() || written.any(); }
  void meet() {
    read.reset();
    written.reset();
  }
  void merge(const State &other) {
    read |= other.read;
    written |= other.written;
    inFlight |= other.inFlight;
    inFlightReads |= other.inFlightReads;
  }
  bool operator==(const State &other) const {
    return read == other.read && written == other.written &&
           inFlight == other.inFlight && inFlightReads == other.inFlightReads;
  }
};

class BarrierInserter {
public:
  explicit BarrierInserter(ArrayRef<AllocOp> allocs);

  void run(Block &body) {
    State state(overlapping.size());
    visit(body, state);
  }

private:
  void visit(Block &block, State &state);
  void visit(Operation *op, State &state);
  void visitRegions(Operation *op, State &state);
  State walkRegions(Operation *op, const State &state);
  State inspectRegions(Operation *op, const State &state, bool &incomplete);
  bool needsBarrier(ArrayRef<SharedAccess> accesses, const State &state);
  void barrierBefore(Operation *op, State &state);

  DenseMap<Operation *, unsigned> numbers;
  /// The allocations whose memory each one overlaps, itself included.
  SmallVector<llvm::BitVector> overlapping;
  /// Those that barriers in memory guard, or in which no warp meets another.
  llvm::BitVector guarded;
  /// Look for missing barriers only, and whether one was found.
  bool dryRun = false, missing = false;
};
} // namespace

/// Whether `op` lets the copy engine take a tile away for another role, which
/// the ones that write it meet at barriers in memory alone.
static bool leavesByOtherRole(Operation *op) {
  auto roles = op->getParentOfType<WarpRolesOp>();
  return roles && isa<BulkAddOp, BulkStoreOp, BulkReduceOp>(op) &&
         !roles.getRoles().front().isAncestor(op->getParentRegion());
}

BarrierInserter::BarrierInserter(ArrayRef<AllocOp> allocs) {
  overlapping.assign(allocs.size(), llvm::BitVector(allocs.size()));
  guarded.resize(allocs.size());
  auto begin = [](AllocOp alloc) { return int64_t(*alloc.getOffset()); };
  auto end = [&](AllocOp alloc) {
    return begin(alloc) + alloc.getType().getStorageBytes();
  };
  for (auto [i, alloc] : llvm::enumerate(allocs)) {
    numbers[alloc] = i;
    if (isFilledInBulk(alloc) ||
        llvm::any_of(getBufferUsers(alloc), leavesByOtherRole))
      guarded.set(i);
    for (auto [j, other] : llvm::enumerate(allocs))
      if (begin(alloc) < end(other) && begin(other) < end(alloc))
        overlapping[i].set(j);
    if (overlapping[i].count() == 1 && isStoredByParts(alloc))
      guarded.set(i);
  }
}

bool BarrierInserter::needsBarrier(ArrayRef<SharedAccess> accesses,
                                   const State &state) {
  return llvm::any_of(accesses, [&](const SharedAccess &access) {
    const llvm::BitVector &memory = overlapping[numbers.lookup(access.root)];
    return memory.anyCommon(state.written) ||
           (access.isWrite && memory.anyCommon(state.read));
  });
}

void BarrierInserter::barrierBefore(Operation *op, State &state) {
  state.meet();
  if (dryRun) {
    missing = true;
    return;
  }
  OpBuilder builder(op);
  BarrierOp::create(builder, op->getLoc());
}

void BarrierInserter::visit(Block &block, State &state) {
  for (Operation &op : llvm::make_early_inc_range(block))
    visit(&op, state);
}

void BarrierInserter::visit(Operation *op, State &state) {
  if (isa<BarrierOp>(op))
    return state.meet();
  if (isa<BulkWaitOp>(op)) {
    // What the copy engine reads, it reads until now.
    state.read |= state.inFlightReads;
    return;
  }
  if (auto wait = dyn_cast<WaitGroupOp>(op)) {
    // Which of the copies the wait covers is not known here: all may be.
    state.written |= state.inFlight;
    if (wait.getPending() == 0)
      state.inFlight.reset();
    return;
  }
  if (isa<WarpRolesOp>(op)) {
    // Each role by itself; a barrier before them orders what came before.
    if (state.anySince())
      barrierBefore(op, state);
    State after(overlapping.size());
    for (Region &role : op->getRegions()) {
      State inside = state;
      visit(role.front(), inside);
      after.merge(inside);
    }
    state = after;
    return;
  }
  if (op->getNumRegions() != 0)
    return visitRegions(op, state);
  SmallVector<SharedAccess, 2> accesses = getSharedAccesses(op);
  // Until a product is waited for it reads, whatever barriers came since.
  if (auto wait = dyn_cast<WaitDotsOp>(op))
    for (Value value : wait.getValues())
      if (auto dot = value.getDefiningOp<DotOp>())
        llvm::append_range(accesses, getSharedAccesses(dot));
  llvm::erase_if(accesses, [&](const SharedAccess &access) {
    return guarded.test(numbers.lookup(access.root));
  });
  if (needsBarrier(accesses, state))
    barrierBefore(op, state);
  for (const SharedAccess &access : accesses) {
    unsigned number = numbers.lookup(access.root);
    (access.isAsync   ? state.inFlight
     : access.isWrite ? state.written
                      : state.read)
        .set(number);
    if (isa<BulkStoreOp, BulkReduceOp>(op))
      state.inFlightReads.set(number);
  }
}

/// Walks the regions of `op` from `state` once; returns the state after it.
State BarrierInserter::walkRegions(Operation *op, const State &state) {
  // The regions of a loop follow each other; those of a branch exclude each
  // other.
  bool isLoop = isa<LoopLikeOpInterface>(op);
  bool mayBeSkipped = isLoop;
  State after(overlapping.size()), entry = state;
  for (Region &region : op->getRegions()) {
    mayBeSkipped |= region.empty();
    State inside = isLoop ? entry : state;
    for (Block &block : region)
      visit(block, inside);
    after.merge(inside);
    entry = inside;
  }
  if (mayBeSkipped)
    after.merge(state);
  return after;
}

/// walkRegions without a change; `incomplete` says whether a barrier is
/// missing.
State BarrierInserter::inspectRegions(Operation *op, const State &state,
                                      bool &incomplete) {
  bool outerDryRun = std::exchange(dryRun, true);
  bool outerMissing = std::exchange(missing, false);
  State after = walkRegions(op, state);
  incomplete = std::exchange(missing, outerMissing);
  dryRun = outerDryRun;
  return after;
}

void BarrierInserter::visitRegions(Operation *op, State &state) {
  bool isLoop = isa<LoopLikeOpInterface>(op);
  // What the regions need by themselves, around the back edge too.
  State inner(overlapping.size());
  inner.inFlight = state.inFlight;
  inner.inFlightReads = state.inFlightReads;
  for (State before = inner;; before = inner) {
    State after = walkRegions(op, inner);
    if (isLoop)
      inner.merge(after);
    if (inner == before)
      break;
  }
  // What the way here needs goes in front, where it costs least.
  bool incomplete = false;
  (void)inspectRegions(op, state, incomplete);
  if (incomplete)
    barrierBefore(op, state);
  if (isLoop)
    state.merge(inner);
  state = inspectRegions(op, state, incomplete);
}

namespace {
struct InsertBarriers : tile::impl::TileInsertBarriersBase<InsertBarriers> {
  using TileInsertBarriersBase::TileInsertBarriersBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (failed(verifySharedBuffers(kernel)))
      return signalPassFailure();
    SmallVector<AllocOp> allocs;
    WalkResult result = kernel.walk([&](AllocOp alloc) {
      allocs.push_back(alloc);
      if (alloc.getOffset())
        return WalkResult::advance();
      alloc.emitOpError("has no offset, so what it shares memory with is not "
                        "known; run tile-plan-shared-memory first");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    BarrierInserter(allocs).run(kernel.getBody().front());
    fenceProducts(kernel);
    shareFences(kernel);
  }

private:
  /// Products that read shared memory themselves, and the copy engine, see what
  /// fences precede.
  static void fenceProducts(KernelOp kernel) {
    WalkResult reads = kernel.walk([](Operation *op) {
      return isa<DotOp, BulkStoreOp, BulkReduceOp>(op) &&
                     !getSharedAccesses(op).empty()
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (reads.wasInterrupted())
      (void)fenceBarriers(kernel.getBody().front(), /*written=*/false,
                          /*dryRun=*/false);
  }

  /// Puts fences before the barriers that threads reach with writes to shared
  /// memory behind them that no fence has followed. `written` says whether
  /// there are any before `block`; returns whether there are at its end.
  static bool fenceBarriers(Block &block, bool written, bool dryRun) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isa<FenceAsyncOp>(op)) {
        written = false;
      } else if (isa<BarrierOp>(op)) {
        if (written && !dryRun) {
          OpBuilder builder(&op);
          FenceAsyncOp::create(builder, op.getLoc());
        }
        written = false;
      } else if (op.getNumRegions() != 0) {
        bool before = written;
        // What a loop leaves its next iteration begins with.
        if (isa<LoopLikeOpInterface>(op))
          for (Region &region : op.getRegions())
            for (Block &body : region)
              before |= fenceBarriers(body, written, /*dryRun=*/true);
        written = before;
        for (Region &region : op.getRegions())
          for (Block &body : region)
            written |= fenceBarriers(body, before, dryRun);
      } else if (!isa<BulkCopyOp>(op)) {
        // Copies in flight are over with the wait.
        written |= isa<WaitGroupOp>(op) ||
                   llvm::any_of(getSharedAccesses(&op),
                                [](const SharedAccess &access) {
                                  return access.isWrite;
                                });
      }
    }
    return written;
  }

  /// A fence waits for all that its thread has in flight. Releases behind one
  /// go behind the next one of the block instead, if there is one: what this
  /// iteration still waits for has been issued before the released buffer is
  /// used again.
  static void shareFences(KernelOp kernel) {
    SmallVector<FenceAsyncOp> fences;
    kernel.walk([&](FenceAsyncOp fence) { fences.push_back(fence); });
    for (FenceAsyncOp fence : fences) {
      SmallVector<Operation *> releases;
      Operation *op = fence->getNextNode();
      for (; isa_and_nonnull<ArriveBarrierOp>(op); op = op->getNextNode())
        releases.push_back(op);
      // That before a barrier is not for the releases alone, and who has been
      // handed a store waits for it.
      if (isa_and_nonnull<BarrierOp>(op) ||
          isa_and_nonnull<StoreOp>(fence->getPrevNode()))
        continue;
      while (op && op->getNumRegions() == 0 && !isa<FenceAsyncOp>(op))
        op = op->getNextNode();
      if (releases.empty() || !isa_and_nonnull<FenceAsyncOp>(op))
        continue;
      for (Operation *release : llvm::reverse(releases))
        release->moveAfter(op);
      fence.erase();
    }
  }
};
} // namespace
