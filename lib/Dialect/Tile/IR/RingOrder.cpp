//===- RingOrder.cpp - Tiles of rings in program order --------------------===//
//
// The walk visits loops until the numbers of newer groups and the complete
// tiles are stable. Both only become smaller.
//
//===----------------------------------------------------------------------===//

#include "tile/Dialect/Tile/IR/RingOrder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;

/// Returns the slot with `token`; null if it is in no ring that is followed.
RingOrder::Entry *RingOrder::find(Value token, State &state) {
  for (auto &[ring, slots] : state)
    for (Entry &slot : slots)
      if (slot.token == token)
        return &slot;
  return nullptr;
}

/// Counts a group that is committed.
void RingOrder::addGroup(State &state) {
  for (auto &[ring, slots] : state)
    for (Entry &slot : slots)
      ++slot.newer;
}

/// Renames tokens that a loop carries.
void RingOrder::rename(State &state, ValueRange from, ValueRange to) {
  for (auto [before, after] : llvm::zip_equal(from, to))
    if (isa<SlotType>(before.getType()))
      if (Entry *slot = find(before, state))
        slot->token = after;
}

/// Merges `other` into `state`. Returns true if `state` changes; fails if other
/// slots are in use.
FailureOr<bool> RingOrder::merge(State &state, const State &other) {
  bool changes = false;
  for (auto &[ring, slots] : state) {
    const SmallVector<Entry> &others = other.find(ring)->second;
    if (slots.size() != others.size())
      return failure();
    for (auto [slot, otherSlot] : llvm::zip_equal(slots, others)) {
      if (slot.state != otherSlot.state || slot.token != otherSlot.token)
        return failure();
      changes |= otherSlot.newer < slot.newer ||
                 otherSlot.isComplete < slot.isComplete;
      slot.newer = std::min(slot.newer, otherSlot.newer);
      slot.isComplete &= otherSlot.isComplete;
    }
  }
  return changes;
}

LogicalResult RingOrder::acquire(RingAcquireOp op, State &state) {
  int64_t stages = op.getRing().getType().getStages();
  SmallVector<Entry> &slots = state[getRingOf(op)];
  if (int64_t(slots.size()) == stages)
    return op.emitOpError() << "acquires a slot that is in use; the ring has "
                            << stages << (stages == 1 ? " slot" : " slots");
  slots.push_back({Entry::Filling, op.getSlot()});
  return success();
}

/// Waits for all groups but the newest `count`.
void RingOrder::wait(RingTakeOp op, int64_t count, State &state) {
  auto [it, isNew] = pending.try_emplace(op, count);
  it->second = std::min(it->second, count);
  for (auto &[ring, slots] : state)
    for (Entry &slot : slots)
      slot.isComplete |= slot.state == Entry::Full && slot.newer >= count;
}

LogicalResult RingOrder::take(RingTakeOp op, State &state) {
  for (Entry &slot : state[getRingOf(op)]) {
    if (slot.state == Entry::Filling)
      return op.emitOpError("takes a slot before it is published")
                 .attachNote(slot.token.getLoc())
             << "acquired here";
    if (slot.state != Entry::Full)
      continue;
    if (!slot.isComplete)
      wait(op, slot.newer, state);
    slot.state = Entry::Taken;
    slot.token = op.getSlot();
    return success();
  }
  return op.emitOpError("takes a slot before it is filled");
}

LogicalResult RingOrder::visitLoop(Operation *op, State &state) {
  auto loop = cast<scf::ForOp>(op);
  rename(state, loop.getInitArgs(), loop.getRegionIterArgs());
  for (bool changes = true; changes;) {
    State end = state;
    if (failed(visit(*loop.getBody(), end)))
      return failure();
    rename(end, loop.getYieldedValues(), loop.getRegionIterArgs());
    FailureOr<bool> merged = merge(state, end);
    if (failed(merged))
      return loop.emitOpError("ends an iteration with other slots of a ring in "
                              "use than it begins with");
    changes = *merged;
  }
  rename(state, loop.getRegionIterArgs(), loop.getResults());
  return success();
}

LogicalResult RingOrder::visit(Operation *op, State &state) {
  if (auto ring = dyn_cast<RingCreateOp>(op)) {
    if (!ring.getFull())
      state[ring].clear();
  } else if (auto acquired = dyn_cast<RingAcquireOp>(op)) {
    return getRingOf(op).getFull() ? success() : acquire(acquired, state);
  } else if (auto taken = dyn_cast<RingTakeOp>(op)) {
    return getRingOf(op).getFull() ? success() : take(taken, state);
  } else if (isa<CommitGroupOp>(op)) {
    addGroup(state);
  } else if (auto publish = dyn_cast<RingPublishOp>(op)) {
    if (!find(publish.getSlots().front(), state))
      return success();
    addGroup(state);
    for (Value token : publish.getSlots())
      *find(token, state) = {Entry::Full, Value()};
  } else if (auto release = dyn_cast<RingReleaseOp>(op)) {
    if (Entry *slot = find(release.getSlot(), state))
      *slot = {Entry::Free, Value()};
    // Slots are acquired in the order of their tiles.
    for (auto &[ring, slots] : state)
      while (!slots.empty() && slots.front().state == Entry::Free)
        slots.erase(slots.begin());
  } else if (isa<scf::ForOp>(op)) {
    return visitLoop(op, state);
  } else {
    // Other regions may not run. Only rings that they create advance there.
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        State inside = state;
        if (failed(visit(block, inside)))
          return failure();
      }
  }
  return success();
}

LogicalResult RingOrder::visit(Block &block, State &state) {
  for (Operation &op : block)
    if (failed(visit(&op, state)))
      return failure();
  for (auto ring : block.getOps<RingCreateOp>())
    state.erase(ring);
  return success();
}

LogicalResult RingOrder::run(KernelOp kernel) {
  State state;
  return visit(kernel.getBody().front(), state);
}
