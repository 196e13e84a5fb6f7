//===- SplitRoles.cpp - A kernel as a program for each role ---------------===//
//
// The producer role is the slice of the program that the copies need: the same
// loops in the same order. So it runs ahead as far as the rings let it,
// whatever the loops are. The storer role is the slice that the sums need.
//
//===----------------------------------------------------------------------===//

#include "SplitRoles.h"
#include "../Copies/TakeTile.h"
#include "ConsumerGroups.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/PatternMatch.h"
#include "tile/Analysis/SharedMemory.h"
#include "tile/Dialect/Tile/IR/Contains.h"

using namespace mlir;
using namespace tile;

namespace {
class Splitter {
public:
  Splitter(KernelOp kernel, const WarpPlan &plan)
      : rewriter(kernel.getContext()), kernel(kernel), loc(kernel.getLoc()),
        plan(plan), runAhead(kernel) {}

  void run();

private:
  void chooseProducers(unsigned most);
  void makeRings();
  IRMapping copyOutside(Block &role);
  Value materialize(Value value, IRMapping &mapping);
  bool isMine(Operation *op) const;
  void follow(Block &from, IRMapping &mapping);
  void followLoop(scf::ForOp loop, IRMapping &mapping);
  void fill(const PlannedCopy &planned, IRMapping &mapping);
  void add(AtomicRMWOp sum, IRMapping &mapping);
  void addRole(Block &consumers, Block &role);
  void consume(Block &block);
  void take(const PlannedCopy &planned, Operation *place, unsigned tiles);
  void putSum(AtomicRMWOp sum);

  IRRewriter rewriter;
  KernelOp kernel;
  Location loc;
  const WarpPlan &plan;
  RunAhead runAhead;
  /// The producer role that fills each ring of the plan, and their number.
  SmallVector<unsigned> producerOf;
  unsigned producers = 1;
  /// The role that is being written: that of the storers, or a number of a
  /// producer role.
  bool isStorer = false;
  unsigned producer = 0;
  /// The value of each ring of the plan.
  SmallVector<Value> rings;
  /// The loops of the role around the insertion point. The key is the block of
  /// the consumers in which the loop stands that was cloned.
  DenseMap<Block *, scf::ForOp> entered;
};
} // namespace

/// Decides which role fills which ring, for at most `most` roles. One thread
/// starts the copies of a role. Those by a table have a box for each page, and
/// their entries are read first: each ring of these has a role of its own, so
/// that one does not wait for the other.
void Splitter::chooseProducers(unsigned most) {
  producerOf.assign(plan.rings.size(), 0);
  SmallVector<bool> hasTable(plan.rings.size());
  for (const auto &[op, copy] : plan.copies)
    hasTable[copy.ring] = hasTable[copy.ring] || copy.table;
  unsigned next = 0;
  for (auto [ring, isPaged] : llvm::enumerate(hasTable))
    if (isPaged && next < most) {
      producerOf[ring] = next++;
      producers = next;
    }
}

/// Allocates the memory of the rings, and makes them.
void Splitter::makeRings() {
  bool isDrained = drainsRings(kernel);
  for (const Ring &planned : plan.rings) {
    auto type =
        RingType::get(rewriter.getContext(), planned.tile, planned.stages);
    auto alloc = [&](BufferType type) -> Value {
      return AllocOp::create(rewriter, loc, type, IntegerAttr());
    };
    Value storage = alloc(type.getStorageType());
    if (!planned.leaves() && isDrained)
      storage.getDefiningOp()->setAttr(kDrainedAttr, rewriter.getUnitAttr());
    SmallVector<Value, 2> barriers{alloc(type.getBarriersType())};
    if (planned.counted)
      barriers.push_back(alloc(type.getBarriersType()));
    rings.push_back(
        RingCreateOp::create(rewriter, loc, type, storage, barriers));
  }
}

//===----------------------------------------------------------------------===//
// Producers and storers
//===----------------------------------------------------------------------===//

/// Returns `value` as another role computes it. The operations are written
/// outside of the loops that are not around them in the program: no later pass
/// hoists a division.
Value Splitter::materialize(Value value, IRMapping &mapping) {
  if (Value mapped = mapping.lookupOrNull(value))
    return mapped;
  Operation *op = value.getDefiningOp();
  if (!op || plan.outside.contains(op))
    return value;
  OpBuilder::InsertionGuard guard(rewriter);
  if (scf::ForOp loop = entered.lookup(op->getBlock()))
    rewriter.setInsertionPoint(loop);
  // A loop without operations of the role.
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    followLoop(loop, mapping);
    return mapping.lookup(value);
  }
  for (Value operand : op->getOperands())
    mapping.map(operand, materialize(operand, mapping));
  rewriter.clone(*op, mapping);
  return mapping.lookup(value);
}

/// Emits a TMA copy into the next slot of its ring.
void Splitter::fill(const PlannedCopy &planned, IRMapping &mapping) {
  const Ring &ring = plan.rings[planned.ring];
  Location where = planned.copy->getLoc();
  ArgumentTile tile = planned;
  for (Value &index : tile.indices)
    index = materialize(index, mapping);
  for (Value *bound : {&tile.start, &tile.length, &tile.table})
    if (*bound)
      *bound = materialize(*bound, mapping);
  if (tile.table)
    tile.start = arith::ConstantIndexOp::create(rewriter, where, 0);
  tile.addStart(rewriter, where);
  // The only slot may be in use for long: the tile waits in the L2 cache.
  if (ring.counted && ring.stages == 1 && !tile.isRagged())
    BulkPrefetchOp::create(rewriter, where, tile.argument, tile.indices,
                           tile.dims, ring.tile);
  auto slot = RingAcquireOp::create(rewriter, where, rings[planned.ring]);
  BulkCopyOp::create(rewriter, where, tile.argument, tile.indices, tile.dims,
                     tile.start, tile.length,
                     tile.table ? rewriter.getI64IntegerAttr(tile.pageDim)
                                : IntegerAttr(),
                     tile.table, slot.getBuffer(), slot.getSlot());
}

/// Emits a TMA reduction of the next slot of the ring of `sum`.
void Splitter::add(AtomicRMWOp sum, IRMapping &mapping) {
  const PlannedSum &planned = plan.sums.find(sum)->second;
  Location where = sum.getLoc();
  auto here = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) -> Value {
      return materialize(value, mapping);
    });
  };
  auto take = [&] {
    return RingTakeOp::create(rewriter, where, rings[planned.ring]);
  };
  RingTakeOp slot;
  if (const std::optional<ArgumentTile> &tile = planned.tile) {
    SmallVector<Value> indices = here(tile->indices);
    SmallVector<Value> part = here({tile->start, tile->length});
    slot = take();
    BulkReduceOp::create(rewriter, where, slot.getBuffer(), tile->argument,
                         indices, rewriter.getDenseI64ArrayAttr(tile->dims),
                         part[0], part[1], DenseI64ArrayAttr(),
                         CachePriorityAttr());
  } else {
    Value buffer = materialize(sum.getBuffer(), mapping);
    SmallVector<Value> indices = here(sum.getIndices());
    slot = take();
    BulkAddOp::create(rewriter, where, slot.getBuffer(), buffer, indices);
  }
  BulkWaitOp::create(rewriter, where, /*pending=*/0, /*read=*/true);
  RingReleaseOp::create(rewriter, where, slot.getSlot());
}

/// Returns true if the role performs `op`: a copy that fills a ring, or a sum
/// that leaves through one.
bool Splitter::isMine(Operation *op) const {
  std::optional<unsigned> ring = plan.ringOf(op);
  if (!ring || plan.rings[*ring].leaves() != isStorer)
    return false;
  return isStorer || producerOf[*ring] == producer;
}

/// Emits the operations of `from` that are the role's, and the loops around
/// them.
void Splitter::follow(Block &from, IRMapping &mapping) {
  for (Operation &op : from) {
    if (isMine(&op)) {
      if (const PlannedCopy *planned = plan.findCopy(&op))
        fill(*planned, mapping);
      else
        add(cast<AtomicRMWOp>(op), mapping);
      continue;
    }
    if (isa<WaitPrerequisitesOp>(op)) {
      rewriter.clone(op);
      continue;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op);
        loop && containsOp(loop, [&](Operation *op) { return isMine(op); }))
      followLoop(loop, mapping);
  }
}

/// Emits `loop` with the operations that are the role's and the scalars that
/// it carries.
void Splitter::followLoop(scf::ForOp loop, IRMapping &mapping) {
  SmallVector<unsigned> carried;
  SmallVector<Value> inits;
  for (BlockArgument argument : loop.getRegionIterArgs())
    if (!runAhead.checkValue(argument, kernel)) {
      carried.push_back(argument.getArgNumber() - loop.getNumInductionVars());
      inits.push_back(materialize(loop.getInitArgs()[carried.back()], mapping));
    }
  auto copy = scf::ForOp::create(rewriter, loop.getLoc(),
                                 materialize(loop.getLowerBound(), mapping),
                                 materialize(loop.getUpperBound(), mapping),
                                 materialize(loop.getStep(), mapping), inits);
  for (auto [result, number] : llvm::zip_equal(copy.getResults(), carried))
    mapping.map(loop.getResult(number), result);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(copy.getBody());
  // Values that are cloned inside are not visible after the loop.
  IRMapping inner = mapping;
  inner.map(loop.getInductionVar(), copy.getInductionVar());
  for (auto [argument, number] :
       llvm::zip_equal(copy.getRegionIterArgs(), carried))
    inner.map(loop.getRegionIterArg(number), argument);
  // A loop of the same block may be entered already, and need this one's
  // result.
  scf::ForOp later = std::exchange(entered[loop->getBlock()], copy);
  follow(*loop.getBody(), inner);
  SmallVector<Value> yielded;
  for (unsigned number : carried)
    yielded.push_back(materialize(loop.getYieldedValues()[number], inner));
  entered[loop->getBlock()] = later;
  if (carried.empty())
    return;
  scf::YieldOp::create(rewriter, loop.getLoc(), yielded);
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

/// Takes a tile out of its ring at `place` and releases its slot after its last
/// reader. The block takes `tiles` tiles from the ring.
void Splitter::take(const PlannedCopy &planned, Operation *place,
                    unsigned tiles) {
  Location where = planned.copy->getLoc();
  const Ring &ring = plan.rings[planned.ring];
  // Threads read through the generic proxy, TMA writes through the async one.
  bool needsFence =
      llvm::any_of(getBufferUsers(planned.buffer), llvm::IsaPred<LoadOp>);
  RingTakeOp slot = takeTile(rewriter, planned, rings[planned.ring], place);
  if (!ring.counted)
    return;
  rewriter.setInsertionPointAfter(planned.last);
  // With a slot for each tile, the block waits for none that is filled again.
  bool mayWait = tiles <= ring.stages;
  if (needsFence && !mayWait)
    FenceAsyncOp::create(rewriter, where);
  RingReleaseOp::create(rewriter, where, slot.getSlot(),
                        /*fenced=*/needsFence && mayWait);
}

/// Puts a sum into the next slot of its ring.
void Splitter::putSum(AtomicRMWOp sum) {
  unsigned number = *plan.ringOf(sum);
  Location where = sum.getLoc();
  rewriter.setInsertionPoint(sum);
  auto slot = RingAcquireOp::create(rewriter, where, rings[number]);
  SmallVector<Value> origin(plan.rings[number].tile.getRank(),
                            arith::ConstantIndexOp::create(rewriter, loc, 0));
  StoreOp::create(rewriter, where, sum.getValue(), slot.getBuffer(), origin);
  FenceAsyncOp::create(rewriter, where);
  RingPublishOp::create(rewriter, where, slot.getSlot());
  rewriter.eraseOp(sum);
}

void Splitter::consume(Block &block) {
  // A tile is taken before its first reader, and the tiles of a ring in the
  // order in which they are copied.
  SmallVector<std::pair<const PlannedCopy *, Operation *>> takes;
  for (Operation &op : block)
    if (const PlannedCopy *planned = plan.findCopy(&op))
      takes.push_back({planned, planned->first});
  DenseMap<unsigned, Operation *> next;
  DenseMap<unsigned, unsigned> tiles;
  for (auto &[planned, place] : llvm::reverse(takes)) {
    Operation *&later = next[planned->ring];
    if (later && later->isBeforeInBlock(place))
      place = later;
    later = place;
    ++tiles[planned->ring];
  }
  for (auto &[planned, place] : takes)
    take(*planned, place, tiles[planned->ring]);
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (plan.ringOf(&op)) {
      putSum(cast<AtomicRMWOp>(op));
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      setSchedule(loop, {});
      consume(*loop.getBody());
    }
  }
}

/// Clones the scalars that all roles use to the start of `role`. Scalars in
/// common would be live in registers where the roles begin, and producers have
/// few.
IRMapping Splitter::copyOutside(Block &role) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&role);
  IRMapping mapping;
  for (Operation &op : kernel.getBody().front())
    if (plan.outside.contains(&op) && !isa<GridOp, RequireOp>(op))
      rewriter.clone(op, mapping);
  return mapping;
}

void Splitter::addRole(Block &consumers, Block &role) {
  OpBuilder::InsertionGuard guard(rewriter);
  IRMapping mapping = copyOutside(role);
  rewriter.setInsertionPointToEnd(&role);
  follow(consumers, mapping);
}

/// Returns true if `op` makes a ring, which belongs to all roles, or allocates
/// its memory.
static bool isOfRing(Operation *op) {
  return isa<RingCreateOp>(op) ||
         (isa<AllocOp>(op) && !op->use_empty() &&
          llvm::all_of(op->getUsers(), llvm::IsaPred<RingCreateOp>));
}

void Splitter::run() {
  Block &body = kernel.getBody().front();
  rewriter.setInsertionPoint(body.getTerminator());
  Schedule schedule = getSchedule(kernel);
  auto producerWarps =
      int32_t(*std::exchange(schedule.producers, std::nullopt));
  chooseProducers(producerWarps);
  auto storers =
      int32_t(std::exchange(schedule.storers, std::nullopt).value_or(0));
  int64_t groups = schedule.countConsumerGroups();
  schedule.consumerGroups.reset();
  SmallVector<int32_t> counts{int32_t(kernel.getNumWarps())};
  counts.append(producers - 1, 1);
  counts.push_back(producerWarps - int32_t(producers - 1));
  SmallVector<int32_t> registers;
  if (auto asked = std::exchange(schedule.registers, std::nullopt)) {
    llvm::append_range(registers, *asked);
    registers.append(producers - 1, registers.back());
  }
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
    if (!plan.outside.contains(&op) && !isa<LaunchDependentsOp>(op) &&
        !isOfRing(&op))
      inside.push_back(&op);
  makeRings();
  auto roles = WarpRolesOp::create(
      rewriter, loc, rewriter.getDenseI32ArrayAttr(counts),
      registers.empty() ? DenseI32ArrayAttr()
                        : rewriter.getDenseI32ArrayAttr(registers),
      groups, counts.size());
  Block &consumers = roles.getRoles()[0].emplaceBlock();
  for (Operation *op : inside)
    op->moveBefore(&consumers, consumers.end());
  for (; producer < producers; ++producer)
    addRole(consumers, roles.getRoles()[1 + producer].emplaceBlock());
  if (!plan.sums.empty()) {
    isStorer = true;
    addRole(consumers, roles.getRoles().back().emplaceBlock());
  }
  IRMapping own = copyOutside(consumers);
  for (auto [value, copy] : own.getValueMap())
    rewriter.replaceUsesWithIf(value, copy, [&](OpOperand &use) {
      return roles.getRoles()[0].isAncestor(use.getOwner()->getParentRegion());
    });
  consume(consumers);
  if (groups > 1)
    alternateWorks(*consumers.getOps<scf::ForOp>().begin());
  // The coordinates of copies.
  consumers.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    if (isOpTriviallyDead(op))
      rewriter.eraseOp(op);
  });
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (plan.outside.contains(&op) && isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

void tile::splitRoles(KernelOp kernel, const WarpPlan &plan) {
  Splitter(kernel, plan).run();
}
