//===- LowerRings.cpp - Rings as barriers and numbers of slots ------------===//
//
// A role counts the tiles that it fills or takes: tile number i of a ring is in
// slot i mod stages, in phase (i / stages) mod 2 of the mbarriers of that slot.
// Rings that loops advance alike share one count, at known distances, and rings
// whose slots are in use together share mbarriers (JoinRings.h). Without
// mbarriers there are no phases: the count is the number of the slot.
//
//===----------------------------------------------------------------------===//

#include "FillFromRegisters.h"
#include "JoinRings.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "tile/Analysis/SharedMemory.h"
#include "tile/Dialect/Tile/IR/Contains.h"
#include "tile/Dialect/Tile/IR/RingOrder.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/BitVector.h"

namespace tile {
#define GEN_PASS_DEF_TILELOWERRINGS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {
/// The number of tiles that have gone through one side of a ring: `base` plus a
/// constant. The base is an i32; without mbarriers it is the number of a slot,
/// or null for the first slot.
struct Count {
  Value base;
  int64_t more = 0;
  /// The operation of the block that advanced the count last.
  Operation *advanced = nullptr;
};

/// The counts of a role: of the slots that it acquires and of those that it
/// takes, for each ring.
using Counts = SmallVector<Count>;

/// The counts that have constant distances in a loop, the lowest one first.
using Group = SmallVector<unsigned, 4>;

class RingLowering {
public:
  RingLowering(KernelOp kernel, bool hasGroups)
      : rewriter(kernel.getContext()), kernel(kernel), loc(kernel.getLoc()),
        hasGroups(hasGroups) {}

  LogicalResult run();

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }
  /// Counts have 32 bits, because loops carry them in registers.
  Value number(int64_t value) {
    return arith::ConstantOp::create(rewriter, loc,
                                     rewriter.getI32IntegerAttr(value));
  }
  Value emitSlot(Value slot, int64_t by, int64_t stages);
  Value emitCount(unsigned number, const Counts &counts);
  void initialise(RingCreateOp ring);
  int64_t countArrivals(Operation *op);
  std::optional<unsigned> getCounted(Operation *op);
  void lower(Block &block, Counts &counts);
  void lower(scf::ForOp loop, Counts &counts);
  void advance(Operation *op, Counts &counts);
  void skip(RingSkipOp op, Counts &counts);
  void arrive(Operation *op, Value slot, bool full, bool fenced = false);
  std::pair<Value, Value> locate(Operation *op, Counts &counts);
  bool haveOneForm(unsigned x, unsigned y);
  bool areAdvancedAlike(unsigned x, unsigned y, Block &block);
  SmallVector<Group> groupCounts(scf::ForOp loop, const Counts &counts);
  Counts carry(ArrayRef<Group> groups, const Counts &counts, ValueRange bases,
               Operation *advanced = nullptr);

  IRRewriter rewriter;
  KernelOp kernel;
  Location loc;
  SmallVector<RingCreateOp> creates;
  /// The rings that share mbarriers.
  JoinedRings joined;
  /// The number of each tile.ring.create.
  DenseMap<Operation *, unsigned> rings;
  RingOrder order;
  /// True if groups of asynchronous copies are waited for.
  bool hasGroups;
  /// The number of the slot that a token stands for.
  DenseMap<Value, Value> slots;
  /// The value with which all counts begin.
  Value zero;
};
} // namespace

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

/// Returns the number of arrivals at an mbarrier when `op` is executed: one per
/// warp of the first role, or that of the one thread of another role.
int64_t RingLowering::countArrivals(Operation *op) {
  if (isa<BulkCopyOp>(op))
    return 1;
  for (Region *region = op->getParentRegion(); region;
       region = region->getParentRegion())
    if (isa<WarpRolesOp>(region->getParentOp()))
      return region->getRegionNumber() == 0 ? kernel.getNumWarps() : 1;
  return kernel.getNumWarps();
}

/// Emits the initialisation of the mbarriers of `ring`.
void RingLowering::initialise(RingCreateOp ring) {
  if (hasOneRole(ring))
    getRootAlloc(ring.getStorage())
        ->setAttr(kOrderedAttr, rewriter.getUnitAttr());
  int64_t fills = 1, releases = 1;
  for (Operation *user : ring->getUsers()) {
    // The operations of one ring are in one role, so any of them will do.
    if (auto acquire = dyn_cast<RingAcquireOp>(user))
      fills = countArrivals(*acquire.getSlot().user_begin());
    else
      releases = countArrivals(user);
  }
  InitBarriersOp::create(rewriter, loc, ring.getFull(),
                         fills * joined.countFills(ring));
  if (ring.getEmpty())
    InitBarriersOp::create(rewriter, loc, ring.getEmpty(),
                           releases * joined.countReleases(ring));
}

/// Returns the number of the count that `op` advances, if it advances one.
std::optional<unsigned> RingLowering::getCounted(Operation *op) {
  if (!isa<RingAcquireOp, RingTakeOp, RingSkipOp>(op))
    return std::nullopt;
  RingCreateOp ring = getRingOf(op);
  if (ring.getFull() ? !ring.getEmpty() : ring.getType().getStages() == 1)
    return std::nullopt;
  return 2 * rings.lookup(ring) + !isa<RingAcquireOp>(op);
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

/// Emits the number of the slot that is `by` slots after `slot`.
Value RingLowering::emitSlot(Value slot, int64_t by, int64_t stages) {
  by %= stages;
  if (!slot)
    return constant(by);
  if (stages == 2 && by == 1)
    return arith::SubIOp::create(rewriter, loc, constant(1), slot);
  // One slot after the other, forwards or backwards.
  bool isForward = by <= stages - by;
  for (int64_t i = 0; i < std::min(by, stages - by); ++i) {
    Value end = constant(isForward ? stages - 1 : 0);
    Value start = constant(isForward ? 0 : stages - 1);
    Value wraps = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                                        slot, end);
    Value next = arith::AddIOp::create(rewriter, loc, slot,
                                       constant(isForward ? 1 : -1));
    slot = arith::SelectOp::create(rewriter, loc, wraps, start, next);
  }
  return slot;
}

Value RingLowering::emitCount(unsigned index, const Counts &counts) {
  const Count &count = counts[index];
  RingCreateOp ring = creates[index / 2];
  if (!ring.getFull())
    return emitSlot(count.base, count.more, ring.getType().getStages());
  if (count.more == 0)
    return count.base;
  return arith::AddIOp::create(rewriter, loc, count.base, number(count.more));
}

/// Emits the number and the phase of the slot that `op` waits for.
std::pair<Value, Value> RingLowering::locate(Operation *op, Counts &counts) {
  std::optional<unsigned> counted = getCounted(op);
  if (!counted)
    return {constant(0), constant(0)};
  Value tile = emitCount(*counted, counts);
  if (!getRingOf(op).getFull())
    return {tile, Value()};
  Value stages = number(getRingOf(op).getType().getStages());
  Value slot = arith::RemUIOp::create(rewriter, loc, tile, stages);
  Value round = arith::DivUIOp::create(rewriter, loc, tile, stages);
  Value phase = arith::RemUIOp::create(rewriter, loc, round, number(2));
  auto index = [&](Value value) -> Value {
    return arith::IndexCastUIOp::create(rewriter, loc, rewriter.getIndexType(),
                                        value);
  };
  return {index(slot), index(phase)};
}

/// Returns true if one value may be the base of both counts.
bool RingLowering::haveOneForm(unsigned x, unsigned y) {
  auto getPeriod = [&](unsigned index) {
    RingCreateOp ring = creates[index / 2];
    return ring.getFull() ? 0 : ring.getType().getStages();
  };
  return getPeriod(x) == getPeriod(y);
}

/// Returns true if both counts grow by the same number in every iteration of
/// every loop of `block`, and in `block` itself.
bool RingLowering::areAdvancedAlike(unsigned x, unsigned y, Block &block) {
  int64_t difference = 0;
  llvm::SmallDenseMap<Value, int64_t> skipped;
  for (Operation &op : block) {
    if (std::optional<unsigned> counted = getCounted(&op)) {
      auto skip = dyn_cast<RingSkipOp>(op);
      (skip ? skipped[skip.getCount()] : difference) +=
          (*counted == x) - (*counted == y);
    }
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop && !areAdvancedAlike(x, y, *loop.getBody()))
      return false;
  }
  return difference == 0 &&
         llvm::all_of(llvm::make_second_range(skipped),
                      [](int64_t difference) { return difference == 0; });
}

/// Returns the counts that `loop` advances. Those of a group have one base
/// before the loop and after each iteration.
SmallVector<Group> RingLowering::groupCounts(scf::ForOp loop,
                                             const Counts &counts) {
  llvm::BitVector used(counts.size());
  loop->walk([&](Operation *op) {
    if (std::optional<unsigned> counted = getCounted(op);
        counted && !loop->isAncestor(creates[*counted / 2]))
      used.set(*counted);
  });
  SmallVector<Group> groups;
  for (unsigned number : used.set_bits()) {
    auto group = llvm::find_if(groups, [&](const Group &group) {
      return counts[group.front()].base == counts[number].base &&
             haveOneForm(group.front(), number) &&
             areAdvancedAlike(group.front(), number, *loop.getBody());
    });
    if (group == groups.end())
      groups.push_back({number});
    else
      group->push_back(number);
  }
  for (Group &group : groups)
    llvm::sort(group, [&](unsigned x, unsigned y) {
      return std::pair(counts[x].more, x) < std::pair(counts[y].more, y);
    });
  return groups;
}

/// Returns `counts` where those of `groups` are relative to `bases`, the values
/// that a loop carries: the lowest count of each group. `advanced` is the loop
/// for the counts after it.
Counts RingLowering::carry(ArrayRef<Group> groups, const Counts &counts,
                           ValueRange bases, Operation *advanced) {
  Counts carried = counts;
  for (auto [group, base] : llvm::zip_equal(groups, bases))
    for (unsigned number : group)
      carried[number] = {base, counts[number].more - counts[group.front()].more,
                         advanced};
  return carried;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Returns the operation before which the slot of `op` is located. A tile that
/// threads load is used while MMAs are in flight, which leave few registers:
/// its slot is located before them, at the start of the block or after its last
/// loop. MMAs that read a tile start right after the wait for it.
static Operation *findLocation(Operation *op) {
  Operation *location = op;
  if (llvm::any_of(op->getResult(0).getUsers(), llvm::IsaPred<LoadOp>))
    for (Operation *previous = op->getPrevNode();
         previous && previous->getNumRegions() == 0;
         previous = previous->getPrevNode())
      location = previous;
  return location;
}

/// Returns the first user of `buffer` if all users are in one block; null
/// otherwise.
static Operation *findFirstUser(Value buffer) {
  Operation *first = nullptr;
  for (Operation *user : buffer.getUsers()) {
    if (first && user->getBlock() != first->getBlock())
      return nullptr;
    if (!first || user->isBeforeInBlock(first))
      first = user;
  }
  return first;
}

/// Lowers a tile.ring.acquire or tile.ring.take.
void RingLowering::advance(Operation *op, Counts &counts) {
  RingCreateOp ring = getRingOf(op);
  Location where = op->getLoc();
  bool isShared = bool(ring.getFull());
  std::optional<unsigned> counted = getCounted(op);
  if (isShared)
    rewriter.setInsertionPoint(findLocation(op));
  else if (counted && counts[*counted].base)
    rewriter.setInsertionPointAfterValue(counts[*counted].base);
  else
    rewriter.setInsertionPoint(op);
  auto [slot, phase] = locate(op, counts);
  rewriter.setInsertionPoint(op);
  if (isa<RingAcquireOp>(op) && ring.getEmpty() && !joined.isCovered(op)) {
    Value before = arith::SubIOp::create(rewriter, loc, constant(1), phase);
    WaitBarrierOp::create(rewriter, where, ring.getEmpty(), slot, before);
  }
  Value buffer = ring.getStorage();
  if (ring.getType().getStages() > 1) {
    // A slot that a branch fills is addressed in that branch only.
    Operation *user = findFirstUser(op->getResult(0));
    if (user && !isShared && isa<RingAcquireOp>(op))
      rewriter.setInsertionPoint(user);
    SmallVector<Value> indices(
        cast<BufferType>(ring.getStorage().getType()).getRank());
    indices[0] = slot;
    buffer = SliceOp::create(rewriter, loc, ring.getStorage(), indices);
  }
  auto take = dyn_cast<RingTakeOp>(op);
  if (take && isShared && !joined.isCovered(op))
    WaitBarrierOp::create(rewriter, where, ring.getFull(), slot, phase);
  else if (take && !isShared && hasGroups)
    if (std::optional<int64_t> pending = order.getPending(take))
      WaitGroupOp::create(rewriter, where, *pending);
  if (counted) {
    ++counts[*counted].more;
    counts[*counted].advanced = op;
  }
  rewriter.replaceAllUsesWith(op->getResult(0), buffer);
  slots[op->getResult(1)] = slot;
}

/// Lowers a tile.ring.skip.
void RingLowering::skip(RingSkipOp op, Counts &counts) {
  unsigned counted = *getCounted(op);
  rewriter.setInsertionPoint(op);
  Value more = arith::IndexCastUIOp::create(
      rewriter, op.getLoc(), rewriter.getI32Type(), op.getCount());
  Value base = arith::AddIOp::create(rewriter, op.getLoc(),
                                     emitCount(counted, counts), more);
  counts[counted] = {base, 0, op};
}

/// Lowers `op`, which uses up a token, to an arrival if the ring has mbarriers.
void RingLowering::arrive(Operation *op, Value slot, bool full, bool fenced) {
  RingCreateOp ring = getRing(slot);
  if (!ring.getFull() || joined.isCovered(op))
    return;
  rewriter.setInsertionPoint(op);
  ArriveBarrierOp::create(rewriter, op->getLoc(),
                          full ? ring.getFull() : ring.getEmpty(),
                          slots.lookup(slot), fenced);
}

void RingLowering::lower(scf::ForOp loop, Counts &counts) {
  // A token that the loop carries becomes the number of its slot.
  SmallVector<unsigned> tokens;
  for (auto [i, init] : llvm::enumerate(loop.getInitArgsMutable()))
    if (isa<SlotType>(init.get().getType()))
      tokens.push_back(i);
  SmallVector<Group> groups = groupCounts(loop, counts);
  if (!groups.empty()) {
    DictionaryAttr attributes = loop->getDiscardableAttrDictionary();
    rewriter.setInsertionPoint(loop);
    SmallVector<Value> bases =
        llvm::map_to_vector(groups, [&](const Group &group) {
          return emitCount(group.front(), counts);
        });
    FailureOr<LoopLikeOpInterface> counted = loop.replaceWithAdditionalYields(
        rewriter, bases,
        /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &, Location, ArrayRef<BlockArgument> bases) {
          return SmallVector<Value>(bases.begin(), bases.end());
        });
    loop = cast<scf::ForOp>(counted->getOperation());
    loop->setDiscardableAttrs(attributes);
  }
  size_t first = loop.getNumRegionIterArgs() - groups.size();
  for (unsigned i : tokens) {
    slots[loop.getRegionIterArg(i)] = loop.getRegionIterArg(i);
    slots[loop.getResult(i)] = loop.getResult(i);
  }
  Counts inner =
      carry(groups, counts, loop.getRegionIterArgs().drop_front(first));
  lower(*loop.getBody(), inner);
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [i, group] : llvm::enumerate(groups)) {
    rewriter.setInsertionPointAfter(inner[group.front()].advanced);
    yield->setOperand(first + i, emitCount(group.front(), inner));
  }
  counts = carry(groups, counts, loop.getResults().drop_front(first), loop);
}

void RingLowering::lower(Block &block, Counts &counts) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isa<RingAcquireOp, RingTakeOp>(op)) {
      advance(&op, counts);
    } else if (auto passedOver = dyn_cast<RingSkipOp>(op)) {
      skip(passedOver, counts);
    } else if (auto publish = dyn_cast<RingPublishOp>(op)) {
      for (Value slot : publish.getSlots())
        arrive(&op, slot, /*full=*/true);
      if (hasGroups && !getRing(publish.getSlots().front()).getFull()) {
        rewriter.setInsertionPoint(publish);
        CommitGroupOp::create(rewriter, publish.getLoc());
      }
    } else if (auto ring = dyn_cast<RingCreateOp>(op)) {
      if (!ring.getFull())
        counts[2 * rings.lookup(ring)] =
            counts[2 * rings.lookup(ring) + 1] = {};
    } else if (auto release = dyn_cast<RingReleaseOp>(op)) {
      arrive(&op, release.getSlot(), /*full=*/false, release.getFenced());
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      lower(loop, counts);
    } else if (auto copy = dyn_cast<BulkCopyOp>(op); copy && copy.getSlot()) {
      copy.getBarriersMutable().assign(getRing(copy.getSlot()).getFull());
      copy.getIndexMutable().assign(slots.lookup(copy.getSlot()));
    } else if (auto roles = dyn_cast<WarpRolesOp>(op)) {
      for (Region &role : roles.getRoles()) {
        Counts own(counts.size(), Count{zero});
        lower(role.front(), own);
      }
    } else {
      for (Region &region : op.getRegions())
        for (Block &inner : region) {
          Counts own = counts;
          lower(inner, own);
        }
    }
  }
}

LogicalResult RingLowering::run() {
  kernel.walk([&](RingCreateOp ring) { creates.push_back(ring); });
  if (creates.empty())
    return success();
  if (failed(order.run(kernel)))
    return failure();
  SmallVector<RingCreateOp> shared;
  llvm::copy_if(creates, std::back_inserter(shared),
                [](RingCreateOp ring) { return bool(ring.getFull()); });
  if (shared.size() > 1) {
    const Chip *chip = getTargetChip(kernel);
    if (!chip)
      return failure();
    joined.join(kernel, shared, *chip);
  }
  RingCreateOp last;
  for (auto [i, ring] : llvm::enumerate(creates)) {
    rings[ring] = i;
    if (!ring.getFull())
      continue;
    last = ring;
    if (joined.isFollower(ring))
      continue;
    rewriter.setInsertionPoint(ring);
    initialise(ring);
  }
  if (last) {
    rewriter.setInsertionPointAfter(last);
    BarrierOp::create(rewriter, loc);
    zero = number(0);
  }
  Counts counts(2 * creates.size(), Count{zero});
  lower(kernel.getBody().front(), counts);
  // Only now: the operations tell the ring and the slot of each token.
  kernel.walk([&](scf::ForOp loop) {
    for (OpOperand &init : loop.getInitArgsMutable())
      if (Value slot = slots.lookup(init.get()))
        init.set(slot);
    for (OpOperand &value : loop.getBody()->getTerminator()->getOpOperands())
      if (Value slot = slots.lookup(value.get()))
        value.set(slot);
    for (Value value :
         llvm::concat<Value>(loop.getRegionIterArgs(), loop.getResults()))
      if (isa<SlotType>(value.getType()))
        value.setType(rewriter.getIndexType());
  });
  SmallVector<Operation *> done;
  kernel.walk([&](Operation *op) {
    if (isa<RingAcquireOp, RingTakeOp, RingSkipOp, RingPublishOp, RingReleaseOp,
            RingCreateOp>(op))
      done.push_back(op);
    else if (auto copy = dyn_cast<BulkCopyOp>(op))
      copy.getSlotMutable().clear();
  });
  for (Operation *op : llvm::reverse(done))
    rewriter.eraseOp(op);
  return success();
}

namespace {
struct LowerRings : tile::impl::TileLowerRingsBase<LowerRings> {
  using TileLowerRingsBase::TileLowerRingsBase;
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    bool hasGroups = true;
    if (containsOp<RingPublishOp>(kernel, [](RingPublishOp publish) {
          return !getRing(publish.getSlots().front()).getFull();
        })) {
      const Chip *chip = getTargetChip(kernel);
      if (!chip)
        return signalPassFailure();
      hasGroups = fillFromRegisters(kernel, *chip);
    }
    if (failed(RingLowering(kernel, hasGroups).run()))
      signalPassFailure();
  }
};
} // namespace
