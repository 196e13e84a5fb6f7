//===- InsertBarriers.cpp - Barriers between accesses to memory -----------===//
//
// A walk in program order records which allocations, or slots of rings, have
// been read or written since the last barrier, and which operations that access
// global memory have run since then. Loops are walked until this state is
// stable. All threads of a block take the same branches, because
// conditions are scalars of the block. So a barrier may be inserted anywhere.
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/GlobalMemory.h"
#include "tile/Analysis/SharedMemory.h"
#include "tile/Analysis/SlotAccesses.h"
#include "tile/Dialect/Tile/IR/Contains.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILEINSERTBARRIERS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {
/// The accesses since the last barrier.
struct State {
  State(unsigned allocs, unsigned globals)
      : inFlight(allocs), inFlightReads(allocs), global(globals),
        globalBefore(globals) {}

  SlotAccesses read, written;
  /// By the number of the allocation, the destinations of asynchronous copies
  /// that may be in flight: no wait is known to cover them. Barriers do not
  /// change this.
  llvm::BitVector inFlight;
  /// The sources of TMA stores and reductions that may be in flight.
  llvm::BitVector inFlightReads;
  /// By the number of the operation, accesses to global memory: in this
  /// iteration of all loops around them, and in earlier ones.
  llvm::BitVector global, globalBefore;

  /// Forgets the accesses that a barrier has ordered.
  void passBarrier(bool isGlobal) {
    read.clear();
    written.clear();
    if (!isGlobal)
      return;
    global.reset();
    globalBefore.reset();
  }
  void merge(const State &other) {
    read.merge(other.read);
    written.merge(other.written);
    inFlight |= other.inFlight;
    inFlightReads |= other.inFlightReads;
    global |= other.global;
    globalBefore |= other.globalBefore;
  }
  /// Merges the state at the end of an iteration into that at its beginning.
  void mergeIteration(State end) {
    end.globalBefore |= end.global;
    end.global.reset();
    merge(end);
  }
  bool operator==(const State &other) const {
    auto fields = [](const State &state) {
      return std::tie(state.read, state.written, state.inFlight,
                      state.inFlightReads, state.global, state.globalBefore);
    };
    return fields(*this) == fields(other);
  }
};

/// The barriers that a part of a kernel lacks: any, and one for global memory.
struct Missing {
  bool any = false, global = false;
};

/// An operation that accesses the memory of an argument, and the operations
/// that may access one of its elements in another thread if they have run
/// before it: in the same iteration of all loops, and in an earlier one.
struct GlobalOperation {
  SmallVector<GlobalAccess, 2> accesses;
  llvm::BitVector conflicts, conflictsBefore;
};

class BarrierInserter {
public:
  BarrierInserter(KernelOp kernel, ArrayRef<AllocOp> allocs);

  void run(Block &body) {
    State state = emptyState();
    visit(body, state);
  }

private:
  void findConflicts(KernelOp kernel);
  State emptyState() const { return State(overlapping.size(), globals.size()); }
  void visit(Block &block, State &state);
  void visit(Operation *op, State &state);
  void visitRegions(Operation *op, State &state);
  State walkRegions(Operation *op, const State &state);
  State inspectRegions(Operation *op, const State &state, Missing &found);
  bool needsBarrier(const SlotAccess &access, bool isWrite, const State &state);
  bool needsGlobalBarrier(Operation *op, const State &state);
  void barrierBefore(Operation *op, State &state, bool isGlobal = false);

  llvm::MapVector<Operation *, GlobalOperation> globals;
  DenseMap<Operation *, unsigned> numbers;
  /// For each allocation, the allocations that overlap its memory, including
  /// itself.
  SmallVector<llvm::BitVector> overlapping;
  /// The allocations that need no barriers: mbarriers order their accesses, or
  /// no two warps access the same part.
  llvm::BitVector guarded;
  /// In a dry run, no barriers are inserted; `missing` says which are needed.
  bool dryRun = false;
  Missing missing;
};
} // namespace

/// Returns true if `op` is a TMA store or reduction in a role other than the
/// first. mbarriers synchronise that role with the warps that write the tile.
static bool isStoredByOtherRole(Operation *op) {
  auto roles = op->getParentOfType<WarpRolesOp>();
  return roles && isa<BulkAddOp, BulkStoreOp, BulkReduceOp>(op) &&
         !roles.getRoles().front().isAncestor(op->getParentRegion());
}

/// Returns true if `value` is the same in all iterations of the loops around
/// `op`.
static bool isInvariant(Value value, Operation *op) {
  for (auto loop = op->getParentOfType<LoopLikeOpInterface>(); loop;
       loop = loop->getParentOfType<LoopLikeOpInterface>())
    if (!loop.isDefinedOutsideOfLoop(value))
      return false;
  return true;
}

namespace {
/// The place of a tile in global memory.
struct TilePlace {
  Value buffer;
  ValueRange indices;
  RankedTensorType tile;
};
} // namespace

static std::optional<TilePlace> getPlace(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return TilePlace{load.getBuffer(), load.getIndices(), load.getType()};
  if (auto store = dyn_cast<StoreOp>(op))
    return TilePlace{store.getBuffer(), store.getIndices(),
                     cast<RankedTensorType>(store.getValue().getType())};
  return std::nullopt;
}

/// Returns true if each element that both operations access belongs to one
/// thread, which is the same for both, if they run in one iteration of all
/// loops around them or, with `inAll`, in any.
static bool haveEqualThreads(Operation *x, Operation *y, bool inAll) {
  std::optional<TilePlace> a = getPlace(x), b = getPlace(y);
  if (!a || !b || a->buffer != b->buffer || a->indices != b->indices ||
      a->tile != b->tile || !getLayoutAttr(a->tile))
    return false;
  Layout layout = getCanonicalLayout(a->tile);
  if (layout.replication(kLane) * layout.replication(kWarp) != 1)
    return false;
  auto isFixed = [&](Value value) {
    return isInvariant(value, x) && isInvariant(value, y);
  };
  return !inAll || (isFixed(a->buffer) && llvm::all_of(a->indices, isFixed));
}

/// Finds the accesses to global memory that must be ordered: reads and writes
/// of one argument, and all before an atomic operation that releases or behind
/// one that acquires. One thread executes that for the block. Two writes are
/// not ordered otherwise, and neither are atomic operations among each other.
void BarrierInserter::findConflicts(KernelOp kernel) {
  kernel.walk([&](Operation *op) {
    SmallVector<GlobalAccess, 2> accesses = getGlobalAccesses(op);
    if (!accesses.empty())
      globals[op].accesses = accesses;
  });
  auto isAtomic = llvm::IsaPred<AtomicRMWOp, BulkAddOp, BulkReduceOp>;
  for (auto &[op, global] : globals) {
    global.conflicts.resize(globals.size());
    global.conflictsBefore.resize(globals.size());
    for (auto [i, entry] : llvm::enumerate(globals)) {
      auto &[other, otherGlobal] = entry;
      if (releasesAccesses(op) || acquiresAccesses(other)) {
        global.conflicts.set(i);
        global.conflictsBefore.set(i);
        continue;
      }
      bool mustOrder = false;
      for (const GlobalAccess &access : global.accesses)
        for (const GlobalAccess &before : otherGlobal.accesses)
          mustOrder |= access.isWrite != before.isWrite &&
                       access.mayOverlap(before.argument);
      if (!mustOrder || (isAtomic(op) && isAtomic(other)))
        continue;
      if (!haveEqualThreads(op, other, /*inAll=*/false))
        global.conflicts.set(i);
      if (!haveEqualThreads(op, other, /*inAll=*/true))
        global.conflictsBefore.set(i);
    }
  }
}

/// Returns the MMAs that `await` waits for: those of its operands, and those in
/// flight whose sums they add to.
static SetVector<Operation *> findAwaited(AwaitOp await) {
  SetVector<Operation *> dots;
  for (Value product : await.getProducts())
    dots.insert_range(getOrigins(product));
  for (size_t i = 0; i < dots.size(); ++i)
    if (auto dot = dyn_cast<DotOp>(dots[i]))
      if (isa<PendingType>(dot.getAcc().getType()))
        dots.insert_range(getOrigins(dot.getAcc()));
  return dots;
}

BarrierInserter::BarrierInserter(KernelOp kernel, ArrayRef<AllocOp> allocs) {
  findConflicts(kernel);
  overlapping.assign(allocs.size(), llvm::BitVector(allocs.size()));
  guarded.resize(allocs.size());
  auto begin = [](AllocOp alloc) { return int64_t(*alloc.getOffset()); };
  auto end = [&](AllocOp alloc) {
    return begin(alloc) + alloc.getType().getStorageBytes();
  };
  for (auto [i, alloc] : llvm::enumerate(allocs)) {
    numbers[alloc] = i;
    if (alloc->hasAttr(kOrderedAttr) || isFilledInBulk(alloc) ||
        llvm::any_of(getBufferUsers(alloc), isStoredByOtherRole))
      guarded.set(i);
    for (auto [j, other] : llvm::enumerate(allocs))
      if (begin(alloc) < end(other) && begin(other) < end(alloc))
        overlapping[i].set(j);
    if (overlapping[i].count() == 1 && isStoredByParts(alloc))
      guarded.set(i);
  }
}

bool BarrierInserter::needsBarrier(const SlotAccess &access, bool isWrite,
                                   const State &state) {
  auto overlaps = [&](unsigned allocation) {
    return overlapping[access.allocation].test(allocation);
  };
  return state.written.reach(access, overlaps) ||
         (isWrite && state.read.reach(access, overlaps));
}

bool BarrierInserter::needsGlobalBarrier(Operation *op, const State &state) {
  auto global = globals.find(op);
  return global != globals.end() &&
         (global->second.conflicts.anyCommon(state.global) ||
          global->second.conflictsBefore.anyCommon(state.globalBefore));
}

void BarrierInserter::barrierBefore(Operation *op, State &state,
                                    bool isGlobal) {
  state.passBarrier(isGlobal);
  if (dryRun) {
    missing.any = true;
    missing.global |= isGlobal;
    return;
  }
  OpBuilder builder(op);
  BarrierOp::create(builder, op->getLoc(), isGlobal);
}

void BarrierInserter::visit(Block &block, State &state) {
  for (Operation &op : llvm::make_early_inc_range(block))
    visit(&op, state);
}

void BarrierInserter::visit(Operation *op, State &state) {
  if (auto barrier = dyn_cast<BarrierOp>(op))
    return state.passBarrier(barrier.getGlobal());
  if (isa<BulkWaitOp>(op)) {
    // TMA may have read the tiles until this wait.
    for (unsigned number : state.inFlightReads.set_bits())
      state.read.insert(SlotAccess::getWhole(number));
    return;
  }
  if (auto wait = dyn_cast<WaitGroupOp>(op)) {
    // It is unknown which copies the wait covers; assume that all may be.
    for (unsigned number : state.inFlight.set_bits())
      state.written.insert(SlotAccess::getWhole(number));
    if (wait.getPending() == 0)
      state.inFlight.reset();
    return;
  }
  if (isa<WarpRolesOp>(op)) {
    // Roles are visited separately. A barrier before the roles orders earlier
    // accesses.
    bool isGlobal = containsOp(
        op, [&](Operation *inner) { return needsGlobalBarrier(inner, state); });
    if (isGlobal || !state.read.empty() || !state.written.empty())
      barrierBefore(op, state, isGlobal);
    State after = emptyState();
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
  SmallVector<SharedAccess, 2> accesses;
  SmallVector<SlotAccess, 2> slots, drained;
  auto add = [&](Operation *accessing) {
    for (const SharedAccess &access : getSharedAccesses(accessing)) {
      unsigned number = numbers.lookup(access.root);
      if (guarded.test(number)) {
        // A buffer that takes the memory waits for the last reads.
        if (overlapping[number].count() > 1 && !access.isWrite)
          drained.push_back(SlotAccess::get(accessing, access.root, number));
        continue;
      }
      accesses.push_back(access);
      slots.push_back(SlotAccess::get(accessing, access.root, number));
    }
  };
  add(op);
  // An asynchronous MMA reads its operands until its wait; barriers do not
  // change this.
  if (auto await = dyn_cast<AwaitOp>(op))
    for (Operation *dot : findAwaited(await))
      add(dot);
  bool isGlobal = needsGlobalBarrier(op, state), isNeeded = isGlobal;
  for (auto [access, slot] : llvm::zip_equal(accesses, slots))
    isNeeded |= needsBarrier(slot, access.isWrite, state);
  if (isNeeded)
    barrierBefore(op, state, isGlobal);
  for (const SlotAccess &slot : drained)
    state.read.insert(slot);
  if (auto global = globals.find(op); global != globals.end())
    state.global.set(global - globals.begin());
  for (auto [access, slot] : llvm::zip_equal(accesses, slots)) {
    if (access.isAsync)
      state.inFlight.set(slot.allocation);
    else
      (access.isWrite ? state.written : state.read).insert(slot);
    if (isa<BulkStoreOp, BulkReduceOp>(op))
      state.inFlightReads.set(slot.allocation);
  }
}

/// Walks the regions of `op` once, starting with `state`. Returns the state
/// after `op`.
State BarrierInserter::walkRegions(Operation *op, const State &state) {
  // The regions of a loop run one after the other; of those of a branch, only
  // one runs.
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  bool mayBeSkipped = bool(loop);
  State after = emptyState(), entry = state;
  for (Region &region : op->getRegions()) {
    mayBeSkipped |= region.empty();
    State inside = loop ? entry : state;
    for (Block &block : region)
      visit(block, inside);
    if (loop) {
      inside.read.endIteration(loop);
      inside.written.endIteration(loop);
    }
    after.merge(inside);
    entry = inside;
  }
  if (mayBeSkipped)
    after.merge(state);
  return after;
}

/// Calls walkRegions in a dry run. Sets `found` to the barriers that are
/// missing.
State BarrierInserter::inspectRegions(Operation *op, const State &state,
                                      Missing &found) {
  bool outerDryRun = std::exchange(dryRun, true);
  Missing outerMissing = std::exchange(missing, Missing());
  State after = walkRegions(op, state);
  found = std::exchange(missing, outerMissing);
  dryRun = outerDryRun;
  return after;
}

void BarrierInserter::visitRegions(Operation *op, State &state) {
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  // Insert the barriers that accesses inside the regions need, including those
  // around the back edge.
  State inner = emptyState();
  inner.inFlight = state.inFlight;
  inner.inFlightReads = state.inFlightReads;
  for (State before = inner;; before = inner) {
    State after = walkRegions(op, inner);
    if (loop)
      inner.mergeIteration(after);
    if (inner == before)
      break;
  }
  // If earlier accesses need another barrier, insert it before `op`, where it
  // costs least.
  Missing found;
  (void)inspectRegions(op, state, found);
  if (found.any)
    barrierBefore(op, state, found.global);
  if (loop)
    state.merge(inner);
  state = inspectRegions(op, state, found);
  if (loop) {
    state.read.leaveLoop(loop);
    state.written.leaveLoop(loop);
  }
}

namespace {
struct InsertBarriers : tile::impl::TileInsertBarriersBase<InsertBarriers> {
  using TileInsertBarriersBase::TileInsertBarriersBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (failed(verifySharedBuffers(kernel)))
      return signalPassFailure();
    SmallVector<AllocOp> allocs;
    WalkResult result = kernel.walk([&](AllocOp alloc) -> WalkResult {
      allocs.push_back(alloc);
      if (alloc.getOffset())
        return WalkResult::advance();
      return alloc.emitOpError(
          "has no offset, so what it shares memory with is not known; run "
          "tile-plan-shared-memory first");
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    BarrierInserter(kernel, allocs).run(kernel.getBody().front());
    insertFences(kernel);
    kernel.walk(fenceArrivals);
  }

private:
  using BarrierSet = llvm::DenseSet<Operation *>;

  /// Inserts the fences that MMAs and TMA operations need to see writes to
  /// shared memory.
  static void insertFences(KernelOp kernel) {
    if (!containsOp(kernel, [](Operation *op) {
          return isa<DotOp, BulkStoreOp, BulkReduceOp>(op) &&
                 !getSharedAccesses(op).empty();
        }))
      return;
    BarrierSet fenced;
    (void)findFenced(kernel.getBody().front(), /*asyncFollows=*/false, fenced);
    (void)fenceBarriers(kernel.getBody().front(), fenced, /*written=*/false,
                        /*dryRun=*/false);
  }

  /// Returns true if `op` accesses shared memory through the async proxy, or
  /// lets an operation of another role do so.
  static bool usesAsyncProxy(Operation &op) {
    if (isa<DotOp, BulkOpInterface, BulkAddOp>(op))
      return !getSharedAccesses(&op).empty();
    return isa<ArriveBarrierOp>(op);
  }

  /// Adds the barriers of `block` behind which the async proxy may access
  /// shared memory before the next barrier. `asyncFollows` is true if it may do
  /// so behind `block`. Returns true if it may do so from the start of `block`.
  static bool findFenced(Block &block, bool asyncFollows, BarrierSet &fenced) {
    for (Operation &op : llvm::reverse(block)) {
      if (isa<BarrierOp>(op)) {
        if (asyncFollows)
          fenced.insert(&op);
        asyncFollows = false;
      } else if (op.getNumRegions() != 0) {
        // An iteration of a loop may be followed by the next one.
        bool atBegin = false;
        for (int turn = 0; turn < (isa<LoopLikeOpInterface>(op) ? 2 : 1);
             ++turn) {
          bool atEnd = asyncFollows || atBegin;
          for (Region &region : op.getRegions())
            for (Block &body : region)
              atBegin |= findFenced(body, atEnd, fenced);
        }
        asyncFollows |= atBegin;
      } else {
        asyncFollows |= usesAsyncProxy(op);
      }
    }
    return asyncFollows;
  }

  /// Inserts a fence before each barrier of `fenced` if shared memory may have
  /// been written since the last fence. `written` is true if that is so before
  /// `block`. Returns true if it is so at the end of `block`.
  static bool fenceBarriers(Block &block, const BarrierSet &fenced,
                            bool written, bool dryRun) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isa<FenceAsyncOp>(op)) {
        written = false;
      } else if (isa<BarrierOp>(op)) {
        if (!fenced.contains(&op))
          continue;
        if (written && !dryRun) {
          OpBuilder builder(&op);
          FenceAsyncOp::create(builder, op.getLoc());
        }
        written = false;
      } else if (op.getNumRegions() != 0) {
        bool before = written;
        // An iteration of a loop starts with the writes of the previous one.
        if (isa<LoopLikeOpInterface>(op))
          for (Region &region : op.getRegions())
            for (Block &body : region)
              before |= fenceBarriers(body, fenced, written, /*dryRun=*/true);
        written = before;
        for (Region &region : op.getRegions())
          for (Block &body : region)
            written |= fenceBarriers(body, fenced, before, dryRun);
      } else if (!isa<BulkCopyOp>(op)) {
        // The wait completes the writes of asynchronous copies.
        written |= isa<WaitGroupOp>(op) ||
                   llvm::any_of(getSharedAccesses(&op),
                                [](const SharedAccess &access) {
                                  return access.isWrite;
                                });
      }
    }
    return written;
  }

  /// Returns the operation in front of which the fence of `arrival` stands: the
  /// next await of its block, if no loop or branch comes first. The fence runs
  /// beside the MMAs in flight there. The reads before the MMAs have ended.
  static Operation *findFencePlace(ArriveBarrierOp arrival) {
    for (Operation *op = arrival; op && op->getNumRegions() == 0;
         op = op->getNextNode())
      if (isa<AwaitOp>(op))
        return op;
    return arrival;
  }

  /// Emits the fences of fenced arrivals. A fence waits for all accesses that
  /// its thread has in flight, so arrivals wait for the next one of their
  /// block. Without one they share one, behind the last of them.
  static void fenceArrivals(Block *block) {
    SmallVector<ArriveBarrierOp> waiting;
    auto arriveAfter = [&](Operation *fence) {
      for (ArriveBarrierOp arrival : llvm::reverse(waiting)) {
        arrival.setFenced(false);
        arrival->moveAfter(fence);
      }
      waiting.clear();
    };
    auto emitFence = [&] {
      if (waiting.empty())
        return;
      OpBuilder builder(findFencePlace(waiting.back()));
      arriveAfter(FenceAsyncOp::create(builder, waiting.back().getLoc()));
    };
    for (Operation &op : llvm::make_early_inc_range(*block)) {
      if (auto arrival = dyn_cast<ArriveBarrierOp>(op);
          arrival && arrival.getFenced())
        waiting.push_back(arrival);
      else if (isa<FenceAsyncOp>(op))
        arriveAfter(&op);
      else if (op.getNumRegions() != 0)
        emitFence();
    }
    emitFence();
  }
};
} // namespace
