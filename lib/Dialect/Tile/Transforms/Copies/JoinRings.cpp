//===- JoinRings.cpp - Rings that share mbarriers -------------------------===//
//
// A wait for an mbarrier takes time even if its phase has ended: an iteration
// that takes the slots of two rings starts its products after two waits. Rings
// whose slots are filled one right after the other need one mbarrier.
//
// A ring joins another one, its holder, if nothing waits much longer for that:
//
// * no wait stands between the copies to their slots,
// * its slot is taken right after that of the holder; or later, if the copy
//   takes less time than a wait or starts before that to the holder, and
// * its slot is released before that of the holder, or soon after it. A fenced
//   release of the holder is delayed until the next await.
//
// Where all slots of a group are taken one right after the other, the smallest
// copy starts first. On an H200, with B first, bf16 products with smaller tiles
// of B than of A were 1.8 percent faster, and those with larger ones 0.9
// percent slower (docs/notes/hopper-gemm.md).
//
//===----------------------------------------------------------------------===//

#include "JoinRings.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tile;

/// The clock cycles of a wait for an mbarrier whose phase has ended.
static constexpr int64_t kWaitCycles = 32;

namespace {
/// The operations of one ring in the order of the program.
struct RingUses {
  SmallVector<RingAcquireOp> acquires;
  /// Each tile.ring.take and tile.ring.skip.
  SmallVector<Operation *> reads;
  SmallVector<RingReleaseOp> releases;
};

/// Rings that share mbarriers, the holder first.
using RingGroup = SmallVector<RingCreateOp>;

class RingJoiner {
public:
  RingJoiner(KernelOp kernel, ArrayRef<RingCreateOp> rings, const Chip &chip);
  bool tryToJoin(RingGroup &group, const RingGroup &other);
  SmallVector<RingReleaseOp> findLast(const RingGroup &group);
  bool mayArriveWith(RingCreateOp ring, ArrayRef<RingReleaseOp> last);
  void orderCopies(const RingGroup &group);
  RingUses &getUses(RingCreateOp ring) { return uses[ring]; }

private:
  bool areFilledTogether(const RingGroup &group, const RingGroup &other);
  bool isHeld(RingCreateOp holder, RingCreateOp ring, bool mayBeLate);
  bool isFilledFirst(RingCreateOp ring, RingCreateOp other);
  bool isReleasedSoonAfter(RingReleaseOp held, RingReleaseOp release);

  const Chip &chip;
  DenseMap<Operation *, RingUses> uses;
};
} // namespace

RingJoiner::RingJoiner(KernelOp kernel, ArrayRef<RingCreateOp> rings,
                       const Chip &chip)
    : chip(chip) {
  for (RingCreateOp ring : rings)
    uses.try_emplace(ring);
  auto find = [&](RingCreateOp ring) {
    auto it = uses.find(ring);
    return it == uses.end() ? nullptr : &it->second;
  };
  kernel.walk([&](Operation *op) {
    if (auto release = dyn_cast<RingReleaseOp>(op)) {
      if (RingUses *found = find(getRing(release.getSlot())))
        found->releases.push_back(release);
    } else if (isa<RingAcquireOp, RingTakeOp, RingSkipOp>(op)) {
      RingUses *found = find(getRingOf(op));
      if (!found)
        return;
      if (auto acquire = dyn_cast<RingAcquireOp>(op))
        found->acquires.push_back(acquire);
      else
        found->reads.push_back(op);
    }
  });
}

/// Returns true if `op` computes scalars or addresses only.
static bool isPassive(Operation *op) {
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         llvm::none_of(op->getResultTypes(),
                       llvm::IsaPred<RankedTensorType, PendingType>);
}

/// Returns true if `x` and `y` are in one block, and all operations between
/// them fulfil `mayStand`.
static bool areNear(Operation *x, Operation *y,
                    llvm::function_ref<bool(Operation *)> mayStand) {
  if (x == y || x->getBlock() != y->getBlock())
    return x == y;
  if (y->isBeforeInBlock(x))
    std::swap(x, y);
  for (Operation *op = x->getNextNode(); op != y; op = op->getNextNode())
    if (!mayStand(op))
      return false;
  return true;
}

template <typename... Ops> static bool isPassiveOr(Operation *op) {
  return isa<Ops...>(op) || isPassive(op);
}

/// Returns the bytes of a slot of `ring`.
static int64_t countBytes(RingCreateOp ring) {
  BufferType tile = ring.getType().getTile();
  return tile.getNumElements() * tile.getElementTypeBitWidth() / 8;
}

/// Returns true if copies fill the slots of both groups, and no wait stands
/// between the copies for slots of one number.
bool RingJoiner::areFilledTogether(const RingGroup &group,
                                   const RingGroup &other) {
  auto isMember = [&](RingCreateOp ring) {
    return llvm::is_contained(group, ring) || llvm::is_contained(other, ring);
  };
  auto mayStand = [&](Operation *op) {
    if (auto acquire = dyn_cast<RingAcquireOp>(op))
      return isMember(getRingOf(op));
    auto copy = dyn_cast<BulkCopyOp>(op);
    return (copy && copy.getSlot()) || isPassive(op);
  };
  SmallVector<RingAcquireOp> &leading = uses[group.front()].acquires;
  for (RingCreateOp ring : llvm::concat<const RingCreateOp>(group, other)) {
    SmallVector<RingAcquireOp> &acquires = uses[ring].acquires;
    if (acquires.empty() || acquires.size() != leading.size())
      return false;
    for (auto [first, acquire] : llvm::zip_equal(leading, acquires)) {
      if (!acquire.getSlot().hasOneUse() || !areNear(first, acquire, mayStand))
        return false;
      auto copy = dyn_cast<BulkCopyOp>(*acquire.getSlot().user_begin());
      if (!copy || !areNear(first, copy, mayStand))
        return false;
    }
  }
  return true;
}

/// Returns true if `release` and `held` return slots of the same number to
/// their rings; `mates` gives the takes of the first ring by those of the
/// second one.
static bool releaseMates(RingReleaseOp release, RingReleaseOp held,
                         const DenseMap<Operation *, Operation *> &mates) {
  return llvm::equal(
      getOrigins(release.getSlot()),
      llvm::map_range(getOrigins(held.getSlot()),
                      [&](Operation *op) { return mates.lookup(op); }));
}

/// Returns the operation behind which the slot of `release` is empty: a fenced
/// release is delayed (tile-insert-barriers).
static Operation *findArrival(RingReleaseOp release) {
  if (!release.getFenced())
    return release;
  for (Operation *op = release->getNextNode(); op && op->getNumRegions() == 0;
       op = op->getNextNode())
    if (isa<AwaitOp>(op))
      return op;
  return release;
}

/// Returns true if `release` comes soon after `held`, of another ring that may
/// join its ring: nothing between them waits for a product, nor for the tile of
/// a third ring.
bool RingJoiner::isReleasedSoonAfter(RingReleaseOp held,
                                     RingReleaseOp release) {
  Operation *arrival = findArrival(held);
  if (release->isBeforeInBlock(arrival))
    return true;
  RingCreateOp ring = getRing(release.getSlot());
  return areNear(arrival, release, [&](Operation *op) {
    if (isa<RingTakeOp>(op))
      return getRingOf(op) == ring;
    return op->getNumRegions() == 0 &&
           !isa<AwaitOp, DotOp, RingAcquireOp, RingSkipOp, BarrierOp,
                BulkWaitOp, ClusterReduceOp>(op);
  });
}

/// Returns true if the copies to the slots of `ring` start before those to the
/// slots of `other`, which are filled together.
bool RingJoiner::isFilledFirst(RingCreateOp ring, RingCreateOp other) {
  return llvm::all_of(
      llvm::zip_equal(uses[ring].acquires, uses[other].acquires),
      [](auto pair) {
        auto [first, second] = pair;
        return first->isBeforeInBlock(second);
      });
}

/// Returns true if the slots of `ring` are taken and released while those of
/// `holder` are held. With `mayBeLate`, they may be taken later.
bool RingJoiner::isHeld(RingCreateOp holder, RingCreateOp ring,
                        bool mayBeLate) {
  RingUses &outer = uses[holder], &inner = uses[ring];
  if (outer.reads.size() != inner.reads.size() ||
      outer.releases.size() != inner.releases.size())
    return false;
  DenseMap<Operation *, Operation *> mates;
  for (auto [first, read] : llvm::zip_equal(outer.reads, inner.reads)) {
    if (first->getBlock() != read->getBlock() ||
        first->getName() != read->getName())
      return false;
    mates[first] = read;
    if (auto skip = dyn_cast<RingSkipOp>(first)) {
      if (skip.getCount() != cast<RingSkipOp>(read).getCount())
        return false;
    } else if (!first->isBeforeInBlock(read) ||
               (!mayBeLate && !areNear(first, read, isPassiveOr<RingTakeOp>))) {
      return false;
    }
  }
  for (auto [held, release] : llvm::zip_equal(outer.releases, inner.releases))
    if (held->getBlock() != release->getBlock() ||
        !releaseMates(release, held, mates) ||
        (held->isBeforeInBlock(release) && !isReleasedSoonAfter(held, release)))
      return false;
  return true;
}

/// Adds the rings of `other` to `group` if one of the two holders holds the
/// rings of the other group.
bool RingJoiner::tryToJoin(RingGroup &group, const RingGroup &other) {
  RingCreateOp holders[] = {group.front(), other.front()};
  if (holders[0].getType().getStages() != holders[1].getType().getStages() ||
      holders[0].getBarriers().size() != holders[1].getBarriers().size() ||
      !areFilledTogether(group, other))
    return false;
  auto mayBeLate = [&](const RingGroup &rings, RingCreateOp holder) {
    int64_t bytes = 0;
    for (RingCreateOp ring : rings)
      bytes += countBytes(ring);
    return bytes <= kWaitCycles * chip.throughput.cacheBytes ||
           llvm::all_of(rings, [&](RingCreateOp ring) {
             return isFilledFirst(ring, holder);
           });
  };
  if (isHeld(holders[0], holders[1], mayBeLate(other, holders[0]))) {
    group.append(other);
    return true;
  }
  if (!isHeld(holders[1], holders[0], mayBeLate(group, holders[1])))
    return false;
  group.insert(group.begin(), other.begin(), other.end());
  return true;
}

/// Returns the releases for each number of a slot that come last in `group`.
SmallVector<RingReleaseOp> RingJoiner::findLast(const RingGroup &group) {
  SmallVector<RingReleaseOp> last = uses[group.front()].releases;
  for (RingCreateOp ring : ArrayRef(group).drop_front())
    for (auto [latest, release] : llvm::zip_equal(last, uses[ring].releases))
      if (latest->isBeforeInBlock(release))
        latest = release;
  return last;
}

/// Returns true if each of `last` may arrive for the release of `ring`, too. A
/// fence stays where it is.
bool RingJoiner::mayArriveWith(RingCreateOp ring,
                               ArrayRef<RingReleaseOp> last) {
  return llvm::all_of(llvm::zip_equal(uses[ring].releases, last),
                      [&](auto pair) {
                        RingReleaseOp release = std::get<0>(pair);
                        RingReleaseOp arrival = std::get<1>(pair);
                        return release == arrival ||
                               ((arrival.getFenced() || !release.getFenced()) &&
                                isReleasedSoonAfter(release, arrival));
                      });
}

/// Moves smaller copies in front of larger ones if the slots of all rings are
/// taken one right after the other. Nothing else may use a tile that moves.
void RingJoiner::orderCopies(const RingGroup &group) {
  if (group.size() == 1)
    return;
  RingUses &outer = uses[group.front()];
  for (RingCreateOp ring : group)
    for (RingAcquireOp acquire : uses[ring].acquires)
      if (!acquire->getResult(0).hasOneUse())
        return;
  for (RingCreateOp ring : ArrayRef(group).drop_front())
    for (auto [first, read] : llvm::zip_equal(outer.reads, uses[ring].reads))
      if (!areNear(first, read, isPassiveOr<RingTakeOp, RingSkipOp>))
        return;
  for (size_t number = 0; number < outer.acquires.size(); ++number) {
    SmallVector<RingAcquireOp> fills;
    for (RingCreateOp ring : group)
      fills.push_back(uses[ring].acquires[number]);
    llvm::sort(fills, [](RingAcquireOp x, RingAcquireOp y) {
      int64_t bytes = countBytes(getRingOf(x)),
              other = countBytes(getRingOf(y));
      return bytes == other ? x->isBeforeInBlock(y) : bytes < other;
    });
    // Behind the last copy, where the operands of all are computed.
    SmallVector<Operation *> copies;
    for (RingAcquireOp fill : fills)
      copies.push_back(*fill.getSlot().user_begin());
    Operation *end = *llvm::max_element(copies, [](Operation *x, Operation *y) {
      return x->isBeforeInBlock(y);
    });
    end = end->getNextNode();
    for (auto [fill, copy] : llvm::zip_equal(fills, copies)) {
      fill->moveBefore(end);
      copy->moveBefore(end);
    }
  }
}

void JoinedRings::join(KernelOp kernel, ArrayRef<RingCreateOp> rings,
                       const Chip &chip) {
  RingJoiner joiner(kernel, rings, chip);
  SmallVector<RingGroup> groups;
  for (RingCreateOp ring : rings)
    groups.push_back({ring});
  for (size_t i = 0; i < groups.size();) {
    auto other = std::find_if(groups.begin() + i + 1, groups.end(),
                              [&](const RingGroup &other) {
                                return joiner.tryToJoin(groups[i], other);
                              });
    if (other == groups.end()) {
      ++i;
      continue;
    }
    groups.erase(other);
    // The group is another one: earlier ones may join it.
    i = 0;
  }

  for (const RingGroup &group : groups) {
    joiner.orderCopies(group);
    RingCreateOp holder = group.front();
    fills[holder] = group.size();
    // The first acquire of each number waits.
    SmallVector<RingAcquireOp> waits = joiner.getUses(holder).acquires;
    for (RingCreateOp ring : ArrayRef(group).drop_front()) {
      RingUses &uses = joiner.getUses(ring);
      covered.insert_range(uses.reads);
      for (auto [wait, acquire] : llvm::zip_equal(waits, uses.acquires)) {
        bool isFirst = acquire->isBeforeInBlock(wait);
        covered.insert(isFirst ? wait : acquire);
        if (isFirst)
          wait = acquire;
      }
    }
    // One arrival serves releases that follow each other soon.
    SmallVector<RingReleaseOp> last = joiner.findLast(group);
    RingGroup alone;
    llvm::copy_if(group, std::back_inserter(alone), [&](RingCreateOp ring) {
      return !joiner.mayArriveWith(ring, last);
    });
    if (llvm::any_of(last, [&](RingReleaseOp release) {
          return llvm::is_contained(alone, getRing(release.getSlot()));
        })) {
      releases[holder] = group.size();
    } else {
      releases[holder] = 1 + alone.size();
      for (RingCreateOp ring : group)
        if (!llvm::is_contained(alone, ring))
          for (auto [release, arrival] :
               llvm::zip_equal(joiner.getUses(ring).releases, last))
            if (release != arrival)
              covered.insert(release);
    }
    for (RingCreateOp ring : ArrayRef(group).drop_front()) {
      followers.insert(ring);
      SmallVector<Value> unused(ring.getBarriers());
      ring.getBarriersMutable().assign(holder.getBarriers());
      for (Value barriers : unused)
        if (Operation *alloc = barriers.getDefiningOp();
            alloc && alloc->use_empty())
          alloc->erase();
    }
  }
}
