//===- SplitRoles.cpp - A kernel as a program for each role ---------------===//
//
// Both roles count the tiles of a ring that have gone through it: tile number i
// is in slot i mod stages, in phase (i / stages) mod 2 of that slot's barriers.
// Rings that loops fill alike share one count, at distances that are known.
//
// The producer is the slice of the program that the copies need: the same loops
// in the same order. So it runs ahead as far as the rings let it, whatever the
// loops are. The role that stores is the slice that the sums need.
//
//===----------------------------------------------------------------------===//

#include "SplitRoles.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "tile/Analysis/SharedMemory.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace tile;

namespace {
/// A ring and the memory that it is in.
struct BuiltRing : Ring {
  Value buffers, full, empty;
};

/// How many tiles have gone through a ring: an i32, and so many more.
struct Count {
  Value base;
  int64_t more = 0;
};

/// One per ring.
using Counts = SmallVector<Count>;

/// Rings whose counts keep their distances in a loop, the lowest first.
using Group = SmallVector<unsigned, 4>;

class Splitter {
public:
  Splitter(KernelOp kernel, const WarpPlan &plan)
      : rewriter(kernel.getContext()), kernel(kernel), loc(kernel.getLoc()),
        plan(plan) {
    for (const Ring &ring : plan.rings)
      rings.push_back({ring, {}, {}, {}});
  }

  void run();

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }
  /// Numbers of tiles have 32 bits: they are carried along in registers.
  Value number(int64_t value) {
    return arith::ConstantOp::create(rewriter, loc,
                                     rewriter.getI32IntegerAttr(value));
  }
  Value valueOf(const Count &count);
  /// Slot and phase of tile number `count`.
  std::pair<Value, Value> locate(const BuiltRing &ring, const Count &count);
  Value slotOf(const BuiltRing &ring, Value slot);
  void makeRings();
  IRMapping copyOutside(Block &role);
  Value materialize(Value value, IRMapping &mapping);
  void follow(Block &from, bool leaving, IRMapping &mapping, Counts &counts);
  void fill(const PlannedCopy &planned, IRMapping &mapping, Counts &counts);
  void add(AtomicRMWOp sum, IRMapping &mapping, Counts &counts);
  void addRole(Block &consumers, Block &role, bool leaving);
  void consume(Block &block, Counts &counts);
  void take(const PlannedCopy &planned, Counts &counts);
  void hand(AtomicRMWOp sum, Counts &counts);
  SmallVector<unsigned> countedIn(Operation *op, std::optional<bool> leaving);
  bool areFilledAlike(unsigned x, unsigned y, Block &block);
  SmallVector<Group> groupCounts(scf::ForOp loop, std::optional<bool> leaving,
                                 const Counts &counts);
  SmallVector<Value> valuesOf(ArrayRef<Group> groups, const Counts &counts);
  Counts carry(ArrayRef<Group> groups, const Counts &counts, ValueRange values);

  IRRewriter rewriter;
  KernelOp kernel;
  Location loc;
  const WarpPlan &plan;
  SmallVector<BuiltRing> rings;
  /// Where all counts begin.
  Value zero;
};
} // namespace

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

Value Splitter::valueOf(const Count &count) {
  if (count.more == 0)
    return count.base;
  return arith::AddIOp::create(rewriter, loc, count.base, number(count.more));
}

std::pair<Value, Value> Splitter::locate(const BuiltRing &ring,
                                         const Count &count) {
  if (!ring.counted)
    return {constant(0), constant(0)};
  Value stages = number(ring.stages), tile = valueOf(count);
  Value slot = arith::RemUIOp::create(rewriter, loc, tile, stages);
  Value round = arith::DivUIOp::create(rewriter, loc, tile, stages);
  Value phase = arith::RemUIOp::create(rewriter, loc, round, number(2));
  auto index = [&](Value value) -> Value {
    return arith::IndexCastUIOp::create(rewriter, loc, rewriter.getIndexType(),
                                        value);
  };
  return {index(slot), index(phase)};
}

Value Splitter::slotOf(const BuiltRing &ring, Value slot) {
  if (ring.stages == 1)
    return ring.buffers;
  SmallVector<Value> indices(
      cast<BufferType>(ring.buffers.getType()).getRank());
  indices[0] = slot;
  return SliceOp::create(rewriter, loc, ring.buffers, indices);
}

void Splitter::makeRings() {
  for (BuiltRing &ring : rings) {
    auto alloc = [&](BufferType type) -> Value {
      return AllocOp::create(rewriter, loc, type, IntegerAttr());
    };
    ring.buffers = alloc(ring.getStorageType());
    ring.full = alloc(ring.getBarriersType());
    // All warps that compute arrive, or the one thread of another role.
    int64_t warps = kernel.getNumWarps();
    InitBarriersOp::create(rewriter, loc, ring.full, ring.leaves() ? warps : 1);
    if (!ring.counted)
      continue;
    ring.empty = alloc(ring.getBarriersType());
    InitBarriersOp::create(rewriter, loc, ring.empty,
                           ring.leaves() ? 1 : warps);
  }
  BarrierOp::create(rewriter, loc);
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

/// The rings that are counted in the regions of `op`: those that leave or do
/// not, or all.
SmallVector<unsigned> Splitter::countedIn(Operation *op,
                                          std::optional<bool> leaving) {
  llvm::BitVector used(rings.size());
  op->walk([&](Operation *inner) {
    if (std::optional<unsigned> ring = plan.ringOf(inner))
      if (rings[*ring].counted &&
          leaving.value_or(rings[*ring].leaves()) == rings[*ring].leaves())
        used.set(*ring);
  });
  return SmallVector<unsigned>(used.set_bits_begin(), used.set_bits_end());
}

/// Whether as many tiles go through both rings, whatever loops there are.
bool Splitter::areFilledAlike(unsigned x, unsigned y, Block &block) {
  int64_t difference = 0;
  for (Operation &op : block) {
    if (std::optional<unsigned> ring = plan.ringOf(&op))
      difference += (*ring == x) - (*ring == y);
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop && !areFilledAlike(x, y, *loop.getBody()))
      return false;
  }
  return difference == 0;
}

/// The rings that are counted in a loop. Those of a group have one base before
/// it, and after each iteration again.
SmallVector<Group> Splitter::groupCounts(scf::ForOp loop,
                                         std::optional<bool> leaving,
                                         const Counts &counts) {
  SmallVector<Group> groups;
  for (unsigned ring : countedIn(loop, leaving)) {
    auto group = llvm::find_if(groups, [&](const Group &group) {
      return counts[group.front()].base == counts[ring].base &&
             areFilledAlike(group.front(), ring, *loop.getBody());
    });
    if (group == groups.end())
      groups.push_back({ring});
    else
      group->push_back(ring);
  }
  for (Group &group : groups)
    llvm::sort(group, [&](unsigned x, unsigned y) {
      return std::pair(counts[x].more, x) < std::pair(counts[y].more, y);
    });
  return groups;
}

/// What a loop carries: the lowest count of each group.
SmallVector<Value> Splitter::valuesOf(ArrayRef<Group> groups,
                                      const Counts &counts) {
  return llvm::map_to_vector(groups, [&](const Group &group) {
    return valueOf(counts[group.front()]);
  });
}

/// `counts` where those of `groups` are carried as `values`.
Counts Splitter::carry(ArrayRef<Group> groups, const Counts &counts,
                       ValueRange values) {
  Counts carried = counts;
  for (auto [group, value] : llvm::zip_equal(groups, values))
    for (unsigned ring : group)
      carried[ring] = {value, counts[ring].more - counts[group.front()].more};
  return carried;
}

//===----------------------------------------------------------------------===//
// Other roles
//===----------------------------------------------------------------------===//

/// `value` in another role.
Value Splitter::materialize(Value value, IRMapping &mapping) {
  if (Value mapped = mapping.lookupOrNull(value))
    return mapped;
  Operation *op = value.getDefiningOp();
  if (!op || plan.outside.contains(op))
    return value;
  for (Value operand : op->getOperands())
    mapping.map(operand, materialize(operand, mapping));
  rewriter.clone(*op, mapping);
  return mapping.lookup(value);
}

/// Starts a copy once its slot is empty.
void Splitter::fill(const PlannedCopy &planned, IRMapping &mapping,
                    Counts &counts) {
  const BuiltRing &ring = rings[planned.ring];
  Location where = planned.copy->getLoc();
  Count &count = counts[planned.ring];
  auto [slot, phase] = locate(ring, count);
  SmallVector<Value> indices;
  for (Value index : planned.indices)
    indices.push_back(materialize(index, mapping));
  if (ring.counted) {
    // Where the only buffer is in use until then, to the second-level cache.
    if (ring.stages == 1 && !planned.isRagged())
      BulkPrefetchOp::create(rewriter, where, planned.argument, indices,
                             planned.dims, ring.tile);
    Value before = arith::SubIOp::create(rewriter, loc, constant(1), phase);
    WaitBarrierOp::create(rewriter, where, ring.empty, slot, before);
    ++count.more;
  }
  Value start, length;
  if (planned.isRagged()) {
    start = materialize(planned.start, mapping);
    length = materialize(planned.length, mapping);
  }
  BulkCopyOp::create(rewriter, where, planned.argument, indices, planned.dims,
                     start, length, slotOf(ring, slot), ring.full, slot);
}

/// Adds what is in a slot once it is full.
void Splitter::add(AtomicRMWOp sum, IRMapping &mapping, Counts &counts) {
  const PlannedSum &planned = plan.sums.find(sum)->second;
  const BuiltRing &ring = rings[planned.ring];
  Location where = sum.getLoc();
  auto [slot, phase] = locate(ring, counts[planned.ring]);
  ++counts[planned.ring].more;
  auto here = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) -> Value {
      return materialize(value, mapping);
    });
  };
  if (const std::optional<ArgumentTile> &tile = planned.tile) {
    SmallVector<Value> indices = here(tile->indices);
    SmallVector<Value> part = here({tile->start, tile->length});
    WaitBarrierOp::create(rewriter, where, ring.full, slot, phase);
    BulkReduceOp::create(rewriter, where, slotOf(ring, slot), tile->argument,
                         indices, rewriter.getDenseI64ArrayAttr(tile->dims),
                         part[0], part[1], DenseI64ArrayAttr(),
                         CachePriorityAttr());
  } else {
    Value buffer = materialize(sum.getBuffer(), mapping);
    SmallVector<Value> indices = here(sum.getIndices());
    WaitBarrierOp::create(rewriter, where, ring.full, slot, phase);
    BulkAddOp::create(rewriter, where, slotOf(ring, slot), buffer, indices);
  }
  BulkWaitOp::create(rewriter, where, /*pending=*/0, /*read=*/true);
  ArriveBarrierOp::create(rewriter, where, ring.empty, slot);
}

/// The loops of `from` with what fills the rings or, `leaving`, empties them.
void Splitter::follow(Block &from, bool leaving, IRMapping &mapping,
                      Counts &counts) {
  auto isMine = [&](Operation *op) {
    std::optional<unsigned> ring = plan.ringOf(op);
    return ring && rings[*ring].leaves() == leaving;
  };
  for (Operation &op : from) {
    if (isMine(&op)) {
      if (const PlannedCopy *planned = plan.findCopy(&op))
        fill(*planned, mapping, counts);
      else
        add(cast<AtomicRMWOp>(op), mapping, counts);
      continue;
    }
    if (isa<WaitPrerequisitesOp>(op)) {
      rewriter.clone(op);
      continue;
    }
    auto loop = dyn_cast<scf::ForOp>(op);
    bool any = false;
    if (loop)
      loop.walk([&](Operation *inner) { any |= isMine(inner); });
    if (!any)
      continue;
    SmallVector<Group> groups = groupCounts(loop, leaving, counts);
    SmallVector<Value> inits = valuesOf(groups, counts);
    auto copy = scf::ForOp::create(rewriter, loop.getLoc(),
                                   materialize(loop.getLowerBound(), mapping),
                                   materialize(loop.getUpperBound(), mapping),
                                   materialize(loop.getStep(), mapping), inits);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(copy.getBody());
      // What is cloned inside is not visible after the loop.
      IRMapping inner = mapping;
      inner.map(loop.getInductionVar(), copy.getInductionVar());
      Counts innerCounts = carry(groups, counts, copy.getRegionIterArgs());
      follow(*loop.getBody(), leaving, inner, innerCounts);
      if (inits.empty())
        continue; // the builder has terminated the loop
      scf::YieldOp::create(rewriter, loop.getLoc(),
                           valuesOf(groups, innerCounts));
    }
    counts = carry(groups, counts, copy.getResults());
  }
}

//===----------------------------------------------------------------------===//
// The role that computes
//===----------------------------------------------------------------------===//

/// Takes a tile out of its ring and gives its slot back.
void Splitter::take(const PlannedCopy &planned, Counts &counts) {
  const BuiltRing &ring = rings[planned.ring];
  CopyOp copy = planned.copy;
  Location where = copy.getLoc();
  Count &count = counts[planned.ring];
  AllocOp buffer = planned.buffer;
  rewriter.setInsertionPoint(buffer);
  auto [slot, phase] = locate(ring, count);
  Value tile = slotOf(ring, slot);
  if (ring.counted)
    ++count.more;
  rewriter.setInsertionPoint(planned.first);
  WaitBarrierOp::create(rewriter, where, ring.full, slot, phase);
  if (ring.counted) {
    rewriter.setInsertionPointAfter(planned.last);
    // What threads have read, the copy engine overwrites by another path.
    if (llvm::any_of(getBufferUsers(buffer),
                     [](Operation *user) { return isa<LoadOp>(user); }))
      FenceAsyncOp::create(rewriter, where);
    ArriveBarrierOp::create(rewriter, where, ring.empty, slot);
  }
  rewriter.eraseOp(copy);
  rewriter.replaceOp(buffer, tile);
}

/// Puts a sum into an empty slot of its ring.
void Splitter::hand(AtomicRMWOp sum, Counts &counts) {
  unsigned number = *plan.ringOf(sum);
  const BuiltRing &ring = rings[number];
  Location where = sum.getLoc();
  rewriter.setInsertionPoint(sum);
  auto [slot, phase] = locate(ring, counts[number]);
  Value tile = slotOf(ring, slot);
  ++counts[number].more;
  Value before = arith::SubIOp::create(rewriter, loc, constant(1), phase);
  WaitBarrierOp::create(rewriter, where, ring.empty, slot, before);
  SmallVector<Value> origin(ring.tile.getRank(), constant(0));
  StoreOp::create(rewriter, where, sum.getValue(), tile, origin);
  FenceAsyncOp::create(rewriter, where);
  ArriveBarrierOp::create(rewriter, where, ring.full, slot);
  rewriter.eraseOp(sum);
}

void Splitter::consume(Block &block, Counts &counts) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (const PlannedCopy *planned = plan.findCopy(&op)) {
      take(*planned, counts);
      continue;
    }
    if (plan.ringOf(&op)) {
      hand(cast<AtomicRMWOp>(op), counts);
      continue;
    }
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      continue;
    setSchedule(loop, {});
    SmallVector<Group> groups =
        groupCounts(loop, /*leaving=*/std::nullopt, counts);
    if (groups.empty()) {
      consume(*loop.getBody(), counts);
      continue;
    }
    DictionaryAttr attributes = loop->getDiscardableAttrDictionary();
    rewriter.setInsertionPoint(loop);
    FailureOr<LoopLikeOpInterface> counted = loop.replaceWithAdditionalYields(
        rewriter, valuesOf(groups, counts),
        /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &, Location, ArrayRef<BlockArgument> numbers) {
          return SmallVector<Value>(numbers.begin(), numbers.end());
        });
    loop = cast<scf::ForOp>(counted->getOperation());
    loop->setDiscardableAttrs(attributes);
    size_t first = loop.getNumRegionIterArgs() - groups.size();
    Counts inner =
        carry(groups, counts, loop.getRegionIterArgs().drop_front(first));
    consume(*loop.getBody(), inner);
    Operation *yield = loop.getBody()->getTerminator();
    rewriter.setInsertionPoint(yield);
    for (auto [i, value] : llvm::enumerate(valuesOf(groups, inner)))
      yield->setOperand(first + i, value);
    counts = carry(groups, counts, loop.getResults().drop_front(first));
  }
}

/// Every role computes scalars for itself: in common they would be kept in
/// registers where the roles begin, of which one that copies has few.
IRMapping Splitter::copyOutside(Block &role) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&role);
  IRMapping mapping;
  for (Operation &op : kernel.getBody().front())
    if (plan.outside.contains(&op) && !isa<GridOp, RequireOp>(op))
      rewriter.clone(op, mapping);
  return mapping;
}

void Splitter::addRole(Block &consumers, Block &role, bool leaving) {
  OpBuilder::InsertionGuard guard(rewriter);
  IRMapping mapping = copyOutside(role);
  Counts counts(rings.size(), Count{zero});
  rewriter.setInsertionPointToEnd(&role);
  follow(consumers, leaving, mapping, counts);
}

void Splitter::run() {
  Block &body = kernel.getBody().front();
  rewriter.setInsertionPoint(body.getTerminator());
  Schedule schedule = getSchedule(kernel);
  auto producers = int32_t(*std::exchange(schedule.producers, std::nullopt));
  auto storers =
      int32_t(std::exchange(schedule.storers, std::nullopt).value_or(0));
  SmallVector<int32_t> counts{int32_t(kernel.getNumWarps()), producers};
  SmallVector<int32_t> registers;
  if (auto asked = std::exchange(schedule.registers, std::nullopt))
    llvm::append_range(registers, *asked);
  setSchedule(kernel, schedule);
  if (plan.sums.empty()) {
    counts.back() += storers;
  } else {
    counts.push_back(storers);
    if (!registers.empty())
      registers.push_back(registers.back());
  }
  SmallVector<Operation *> inside;
  for (Operation &op : body.without_terminator())
    if (!plan.outside.contains(&op) && !isa<LaunchDependentsOp>(op))
      inside.push_back(&op);
  makeRings();
  zero = number(0);
  auto roles = WarpRolesOp::create(
      rewriter, loc, rewriter.getDenseI32ArrayAttr(counts),
      registers.empty() ? DenseI32ArrayAttr()
                        : rewriter.getDenseI32ArrayAttr(registers),
      counts.size());
  Block &consumers = roles.getRoles()[0].emplaceBlock();
  for (Operation *op : inside)
    op->moveBefore(&consumers, consumers.end());
  addRole(consumers, roles.getRoles()[1].emplaceBlock(), /*leaving=*/false);
  if (!plan.sums.empty())
    addRole(consumers, roles.getRoles()[2].emplaceBlock(), /*leaving=*/true);
  IRMapping own = copyOutside(consumers);
  for (auto [value, copy] : own.getValueMap())
    rewriter.replaceUsesWithIf(value, copy, [&](OpOperand &use) {
      return roles.getRoles()[0].isAncestor(use.getOwner()->getParentRegion());
    });
  Counts numbers(rings.size(), Count{zero});
  consume(consumers, numbers);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (plan.outside.contains(&op) && isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

void tile::splitRoles(KernelOp kernel, const WarpPlan &plan) {
  Splitter(kernel, plan).run();
}
