//===- Pipeline.cpp - Copies that run ahead of their use ------------------===//
//
// The phases of a loop are its groups of copies in the order of their first
// reads; phase p is group p % m of iteration p / m, for m groups. The prologue
// fills slots for phases 0 to S*m - 2, for S stages. Phase p of the loop
//
//   takes its own tiles;
//   fills slots for phase p - 1 + S*m: the readers of phase p - 1, which
//   release these slots, have come before;
//   reads and releases its tiles.
//
// Slots are published in every phase, unfilled after the last iteration. Where
// a loop goes on copying what the one before it did, as the masked part of
// attention does, the phases run through both.
//
//===----------------------------------------------------------------------===//

#include "Pipeline.h"
#include "TakeTile.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/AccessWidth.h"
#include "tile/Analysis/GlobalMemory.h"
#include "tile/Dialect/Tile/IR/Contains.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILEPIPELINE
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// What can run ahead
//===----------------------------------------------------------------------===//

/// Refuses a copy that cannot be issued iterations ahead in a ring of `stages`
/// buffers. Sets `result` if it can be.
static Refusal checkCopy(RunAhead &runAhead, scf::ForOp loop, CopyOp copy,
                         int64_t stages, BufferCopy &result) {
  if (Refusal refusal = runAhead.checkCopy(copy, loop, result))
    return refusal;
  if (!RingType::getStorageType(result.buffer.getType(), stages))
    return "the layout of its buffer cannot be stacked";
  return std::nullopt;
}

/// Returns true if an operation from `first` on, before `last`, computes on
/// tiles in registers or stores them.
static bool usesTiles(Operation *first, Operation *last) {
  auto usesTile = [](Operation *op) {
    auto isTile = llvm::IsaPred<RankedTensorType>;
    bool uses = llvm::any_of(op->getOperandTypes(), isTile) ||
                (llvm::any_of(op->getResultTypes(), isTile) &&
                 !isa<LoadOp>(op) && !op->hasTrait<OpTrait::ConstantLike>());
    return uses && !isa<TransposeOp>(op);
  };
  for (Operation *op = first; op != last; op = op->getNextNode())
    if (containsOp(op, usesTile))
      return true;
  return false;
}

/// Copies in the order of their first reads. Those whose reads interleave are
/// together, and those between whose first reads nothing happens that would
/// hide the latency of the second one.
static SmallVector<CopyGroup> formGroups(SmallVector<BufferCopy> copies,
                                         bool oneGroup) {
  llvm::sort(copies, [](const BufferCopy &a, const BufferCopy &b) {
    if (a.first == b.first)
      return a.buffer->isBeforeInBlock(b.buffer);
    return a.first->isBeforeInBlock(b.first);
  });
  SmallVector<CopyGroup> groups;
  for (BufferCopy &copy : copies) {
    if (groups.empty() ||
        (!oneGroup && groups.back().last->isBeforeInBlock(copy.first) &&
         usesTiles(groups.back().first, copy.first)))
      groups.push_back({{}, copy.first, copy.last});
    CopyGroup &group = groups.back();
    if (group.last->isBeforeInBlock(copy.last))
      group.last = copy.last;
    group.copies.push_back(std::move(copy));
  }
  return groups;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

/// Whether two values of two loops are one function of the induction variable.
static bool isSameFunction(scf::ForOp loop, Value value, scf::ForOp otherLoop,
                           Value other) {
  if (value == other)
    return true;
  if (value == loop.getInductionVar())
    return other == otherLoop.getInductionVar();
  auto result = dyn_cast<OpResult>(value),
       otherResult = dyn_cast<OpResult>(other);
  if (!result || !otherResult)
    return false;
  Operation *op = result.getOwner(), *otherOp = otherResult.getOwner();
  // Constants may be in or out of the loops; the rest is computed inside.
  bool inLoops = op->getBlock() == loop.getBody() &&
                 otherOp->getBlock() == otherLoop.getBody();
  auto areEquivalent = [&](Value operand, Value otherOperand) {
    return success(isSameFunction(loop, operand, otherLoop, otherOperand));
  };
  return (inLoops || op->hasTrait<OpTrait::ConstantLike>()) &&
         result.getResultNumber() == otherResult.getResultNumber() &&
         OperationEquivalence::isEquivalentTo(
             op, otherOp, areEquivalent, /*markEquivalent=*/nullptr,
             OperationEquivalence::IgnoreLocations);
}

/// Whether `next` goes on copying where `loop` ends: the same tiles as a
/// function of the induction variable, into buffers of the same types. Its
/// bounds must be known before `start`, where the stream starts.
static bool continues(const PlannedLoop &planned, const PlannedLoop &next,
                      scf::ForOp start, const DominanceInfo &dominance) {
  scf::ForOp loop = planned.loop, nextLoop = next.loop;
  if (loop->getBlock() != nextLoop->getBlock() ||
      planned.stages != next.stages || loop.getUnsignedCmp() ||
      nextLoop.getUnsignedCmp() ||
      !isSameFunction(loop, loop.getStep(), nextLoop, nextLoop.getStep()) ||
      !dominance.properlyDominates(nextLoop.getLowerBound(), start) ||
      !dominance.properlyDominates(nextLoop.getUpperBound(), start))
    return false;
  auto isWrittenBetween = [&](CopyOp copy) {
    BlockArgument argument = getRootArgument(copy.getSource());
    for (Operation *op = loop->getNextNode(); op && op != nextLoop;
         op = op->getNextNode())
      if (isAccessedIn(op, argument, /*isWrite=*/true))
        return true;
    return false;
  };
  auto sameCopy = [&](const BufferCopy &a, const BufferCopy &b) {
    CopyOp copy = a.copy, other = b.copy;
    if (isWrittenBetween(other))
      return false;
    AllocOp buffer = a.buffer, otherBuffer = b.buffer;
    return buffer.getType() == otherBuffer.getType() &&
           isSameFunction(loop, copy.getSource(), nextLoop,
                          other.getSource()) &&
           llvm::equal(copy.getIndices(), other.getIndices(),
                       [&](Value index, Value otherIndex) {
                         return isSameFunction(loop, index, nextLoop,
                                               otherIndex);
                       });
  };
  return llvm::equal(planned.groups, next.groups,
                     [&](const CopyGroup &a, const CopyGroup &b) {
                       return llvm::equal(a.copies, b.copies, sameCopy);
                     });
}

/// Takes the tile of `copy` out of `ring` before `place` and releases its slot
/// after the last reader.
static void takeAndRelease(RewriterBase &rewriter, const BufferCopy &copy,
                           Value ring, Operation *place) {
  RingTakeOp slot = takeTile(rewriter, copy, ring, place);
  rewriter.setInsertionPointAfter(copy.last);
  RingReleaseOp::create(rewriter, slot.getLoc(), slot.getSlot());
}

namespace {
/// Pipelines loops that go on copying where the one before ends: their
/// iterations are one sequence of phases, in one set of rings.
class StreamPipeliner {
public:
  StreamPipeliner(MutableArrayRef<PlannedLoop> loops, const Chip &chip)
      : rewriter(loops.front().loop.getContext()),
        loc(loops.front().loop.getLoc()), chip(chip), loops(loops),
        stages(loops.front().stages), numGroups(loops.front().groups.size()) {}

  void run();

private:
  /// `iv` plus some iterations.
  Value ahead(Value iv, int64_t iterations);
  Value less(Value a, Value b) {
    return arith::CmpIOp::create(rewriter, loc,
                                 loops.front().loop.getUnsignedCmp()
                                     ? arith::CmpIPredicate::ult
                                     : arith::CmpIPredicate::slt,
                                 a, b);
  }
  void makeRings();
  /// Whether loop `number` + 1 is known to begin where loop `number` ends.
  bool adjoins(unsigned number);
  /// The value of the induction variable after the last iteration.
  Value endOf(scf::ForOp loop);
  /// Where the iteration `iv`, maybe beyond the end of loop `number`, is in the
  /// stream, and whether it exists.
  std::pair<Value, Value> locate(unsigned number, Value iv);
  /// Fills the next slots of the rings of a group at the insertion point, for
  /// the iteration that is `distance` iterations after `iv` of loop `number`
  /// (which is known to exist if not `guarded`). Returns the first of the new
  /// operations.
  Operation *fill(unsigned number, unsigned group, Value iv, int64_t distance,
                  bool guarded);
  void pipelineBody(unsigned number);

  IRRewriter rewriter;
  Location loc;
  const Chip &chip;
  MutableArrayRef<PlannedLoop> loops;
  int64_t stages, numGroups;
  DenseMap<Operation *, Value> rings;
  /// endOf each loop but the last.
  SmallVector<Value> ends;
};
} // namespace

Value StreamPipeliner::ahead(Value iv, int64_t iterations) {
  if (iterations == 0)
    return iv;
  Value count = arith::ConstantOp::create(
      rewriter, loc, rewriter.getIntegerAttr(iv.getType(), iterations));
  Value distance = rewriter.createOrFold<arith::MulIOp>(
      loc, loops.front().loop.getStep(), count);
  return rewriter.createOrFold<arith::AddIOp>(loc, iv, distance);
}

void StreamPipeliner::makeRings() {
  for (auto [g, group] : llvm::enumerate(loops.front().groups))
    for (auto [c, copy] : llvm::enumerate(group.copies)) {
      auto type =
          RingType::get(rewriter.getContext(), copy.buffer.getType(), stages);
      Location where = copy.buffer.getLoc();
      Value storage = AllocOp::create(rewriter, where, type.getStorageType(),
                                      IntegerAttr());
      Value ring =
          RingCreateOp::create(rewriter, where, type, storage, ValueRange());
      for (PlannedLoop &planned : loops)
        rings[planned.groups[g].copies[c].buffer] = ring;
    }
}

Value StreamPipeliner::endOf(scf::ForOp loop) {
  Value lower = loop.getLowerBound(), step = loop.getStep();
  Type type = lower.getType();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(rewriter, loc,
                                     rewriter.getIntegerAttr(type, value));
  };
  Value span =
      arith::SubIOp::create(rewriter, loc, loop.getUpperBound(), lower);
  span = arith::MaxSIOp::create(rewriter, loc, span, constant(0));
  Value rounding = arith::SubIOp::create(rewriter, loc, step, constant(1));
  span = arith::AddIOp::create(rewriter, loc, span, rounding);
  Value trips = arith::DivUIOp::create(rewriter, loc, span, step);
  return arith::AddIOp::create(
      rewriter, loc, lower, arith::MulIOp::create(rewriter, loc, trips, step));
}

bool StreamPipeliner::adjoins(unsigned number) {
  scf::ForOp loop = loops[number].loop;
  Value upper = loop.getUpperBound();
  std::optional<APInt> step = loop.getConstantStep();
  // Where bounds are not checked in branches, the checks are shorter for a
  // start that is known not to be negative. A difference is not.
  return chip.bufferFlags != 0 && step && step->isStrictlyPositive() &&
         matchPattern(loop.getLowerBound(), m_Zero()) &&
         isKnownNonNegative(upper) &&
         knownDivisor(upper) % step->getSExtValue() == 0 &&
         loops[number + 1].loop.getLowerBound() == upper;
}

std::pair<Value, Value> StreamPipeliner::locate(unsigned number, Value iv) {
  Value here = less(iv, loops[number].loop.getUpperBound());
  if (number + 1 == loops.size())
    return {iv, here};
  Value there = iv;
  if (!adjoins(number)) {
    Value beyond = arith::SubIOp::create(rewriter, loc, iv, ends[number]);
    there = arith::AddIOp::create(
        rewriter, loc, loops[number + 1].loop.getLowerBound(), beyond);
  }
  auto [later, exists] = locate(number + 1, there);
  return {arith::SelectOp::create(rewriter, loc, here, iv, later),
          arith::OrIOp::create(rewriter, loc, here, exists)};
}

Operation *StreamPipeliner::fill(unsigned number, unsigned group, Value iv,
                                 int64_t distance, bool guarded) {
  OpBuilder::InsertionGuard guard(rewriter);
  scf::ForOp loop = loops[number].loop;
  ArrayRef<BufferCopy> copies = loops[number].groups[group].copies;
  SmallVector<Value> slots;
  IRMapping mapping;
  for (const BufferCopy &planned : copies) {
    auto slot =
        RingAcquireOp::create(rewriter, loc, rings.lookup(planned.buffer));
    mapping.map(AllocOp(planned.buffer).getResult(), slot.getBuffer());
    slots.push_back(slot.getSlot());
  }
  iv = ahead(iv, distance);
  Value exists;
  if (guarded)
    std::tie(iv, exists) = locate(number, iv);
  auto publish = RingPublishOp::create(rewriter, loc, slots);
  rewriter.setInsertionPoint(publish);
  if (guarded) {
    auto branch =
        scf::IfOp::create(rewriter, loc, exists, /*withElseRegion=*/false);
    rewriter.setInsertionPoint(branch.thenYield());
  }
  mapping.map(loop.getInductionVar(), iv);
  for (const BufferCopy &planned : copies) {
    for (Operation &op : *loop.getBody())
      if (planned.slice.contains(&op) && !mapping.contains(&op))
        rewriter.clone(op, mapping);
    cast<CopyOp>(rewriter.clone(*planned.copy, mapping)).setAsync(true);
  }
  return slots.front().getDefiningOp();
}

void StreamPipeliner::pipelineBody(unsigned number) {
  auto &[loop, groups, _] = loops[number];
  SmallVector<Operation *> places;
  for (auto [i, group] : llvm::enumerate(groups)) {
    rewriter.setInsertionPoint(group.first);
    int64_t distance = i == 0 ? stages - 1 : stages;
    places.push_back(fill(number, i == 0 ? numGroups - 1 : i - 1,
                          loop.getInductionVar(), distance,
                          /*guarded=*/distance != 0));
  }
  for (auto [group, place] : llvm::zip_equal(groups, places))
    for (BufferCopy &copy : group.copies)
      takeAndRelease(rewriter, copy, rings.lookup(copy.buffer), place);
}

void StreamPipeliner::run() {
  rewriter.setInsertionPoint(loops.front().loop);
  makeRings();
  for (PlannedLoop &planned : loops.drop_back())
    ends.push_back(endOf(planned.loop));
  for (int64_t phase = 0; phase < stages * numGroups - 1; ++phase)
    fill(/*number=*/0, phase % numGroups, loops.front().loop.getLowerBound(),
         /*distance=*/phase / numGroups,
         /*guarded=*/true);
  for (unsigned number = 0; number < loops.size(); ++number)
    pipelineBody(number);
}

//===----------------------------------------------------------------------===//
// Reads that can wait
//===----------------------------------------------------------------------===//

/// Moves a load down to its first use in its block.
static void sinkToFirstUse(LoadOp load) {
  Operation *first = nullptr;
  for (Operation *user : load->getUsers()) {
    Operation *here = load->getBlock()->findAncestorOpInBlock(*user);
    if (here && (!first || here->isBeforeInBlock(first)))
      first = here;
  }
  if (first)
    load->moveBefore(first);
}

/// Moves reads of buffers that nobody writes meanwhile to their first use.
/// Above the wait of a pipelined loop, where nothing can be read but them, they
/// would hold registers for nothing.
static void sinkReads(KernelOp kernel) {
  RunAhead runAhead(kernel);
  // Collected first: a walk would meet what moves ahead of it again.
  SmallVector<LoadOp> loads;
  kernel.walk([&](LoadOp load) { loads.push_back(load); });
  for (LoadOp load : loads) {
    if (!runAhead.checkLateLoad(load))
      sinkToFirstUse(load);
  }
}

//===----------------------------------------------------------------------===//
// All loops
//===----------------------------------------------------------------------===//

static remark::RemarkOpts remarkName(StringRef name) {
  return remark::RemarkOpts::name(name).category("tile-pipeline");
}

FailureOr<SmallVector<CopyStream>>
tile::planCopyStreams(KernelOp kernel, int64_t defaultStages, bool oneGroup,
                      bool report, const Refusal &noStages) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  SmallVector<PlannedLoop> plan;
  // Operations around a loop that is pipelined.
  DenseSet<Operation *> occupied;
  RunAhead runAhead(kernel);
  for (scf::ForOp loop : loops) {
    std::optional<int64_t> pinned = getSchedule(loop).stages;
    int64_t stages = pinned.value_or(defaultStages);
    std::string blocker = "it copies nothing from global to shared memory";
    SmallVector<BufferCopy> copies;
    for (CopyOp copy : loop.getBody()->getOps<CopyOp>()) {
      if (copy.getAsync())
        continue;
      BufferCopy planned;
      Refusal refusal;
      if (stages == 0)
        refusal = noStages;
      else if (occupied.contains(loop))
        refusal = "a loop inside its loop is pipelined";
      else
        refusal = checkCopy(runAhead, loop, copy, stages, planned);
      if (!refusal) {
        copies.push_back(std::move(planned));
        continue;
      }
      blocker = *refusal;
      if (report)
        remark::missed(copy.getLoc(), remarkName("copy-not-pipelined"))
            << remark::reason("{0}", blocker);
    }
    SmallVector<CopyGroup> groups = formGroups(std::move(copies), oneGroup);
    if (!groups.empty() && stages * groups.size() < 2) {
      blocker = "with one stage there is no copy to run ahead of another's use";
      if (report)
        remark::missed(loop.getLoc(), remarkName("copy-not-pipelined"))
            << remark::reason("{0}", blocker);
      groups.clear();
    }
    if (groups.empty()) {
      // Threads copy for themselves in a loop that keeps its form
      // (tile-load-ahead).
      if (!pinned || getSchedule(loop).keepsLoops())
        continue;
      if (report)
        loop.emitOpError() << "cannot be pipelined with 'stages = " << *pinned
                           << "' of its schedule: " << blocker;
      return failure();
    }
    for (Operation *parent = loop->getParentOp(); parent != kernel;
         parent = parent->getParentOp())
      occupied.insert(parent);
    plan.push_back({loop, std::move(groups), stages});
  }
  SmallVector<CopyStream> streams;
  DominanceInfo dominance(kernel);
  for (PlannedLoop &planned : plan) {
    if (streams.empty() || !continues(streams.back().back(), planned,
                                      streams.back().front().loop, dominance))
      streams.emplace_back();
    streams.back().push_back(std::move(planned));
  }
  return streams;
}

void tile::addRings(ArrayRef<CopyStream> streams, SharedMemoryModel &model) {
  for (const CopyStream &stream : streams) {
    for (const PlannedLoop &planned : stream)
      for (const CopyGroup &group : planned.groups)
        for (const BufferCopy &copy : group.copies)
          model.remove(copy.buffer);
    scf::ForOp first = stream.front().loop, last = stream.back().loop;
    int64_t stages = stream.front().stages;
    for (const CopyGroup &group : stream.front().groups)
      for (const BufferCopy &copy : group.copies) {
        BufferType type = AllocOp(copy.buffer).getType();
        model.add(RingType::getStorageType(type, stages),
                  /*position=*/first, first, last);
      }
  }
}

void tile::pipelineStreams(MutableArrayRef<CopyStream> streams,
                           const Chip &chip) {
  for (CopyStream &stream : streams) {
    for (PlannedLoop &planned : stream)
      setSchedule(planned.loop, {});
    StreamPipeliner(stream, chip).run();
  }
}

//===----------------------------------------------------------------------===//
// Copies that no loop runs ahead
//===----------------------------------------------------------------------===//

/// Makes copies asynchronous that are still waited for at once, and waits for
/// each right before its buffer is read.
static void overlapCopies(KernelOp kernel) {
  RunAhead runAhead(kernel);
  SmallVector<BufferCopy> copies;
  kernel.walk([&](CopyOp copy) {
    BufferCopy planned;
    if (!runAhead.checkLateWait(copy, planned))
      copies.push_back(planned);
  });
  // Reads may cross whatever is between: nothing else writes the buffers.
  for (BufferCopy &planned : copies)
    for (Operation *user : getBufferUsers(planned.buffer))
      if (auto load = dyn_cast<LoadOp>(user);
          load && load->getBlock() == planned.copy->getBlock())
        sinkToFirstUse(load);
  IRRewriter rewriter(kernel.getContext());
  for (BufferCopy &planned : copies) {
    // The reads have moved.
    (void)findReaders(planned);
    CopyOp copy = planned.copy;
    AllocOp buffer = planned.buffer;
    Location loc = copy.getLoc();
    rewriter.setInsertionPoint(copy);
    Value ring = RingCreateOp::create(
        rewriter, loc,
        RingType::get(kernel.getContext(), buffer.getType(), /*stages=*/1),
        buffer, ValueRange());
    auto slot = RingAcquireOp::create(rewriter, loc, ring);
    CopyOp::create(rewriter, loc, copy.getSource(), copy.getIndices(),
                   slot.getBuffer(), /*async=*/true);
    RingPublishOp::create(rewriter, loc, slot.getSlot());
    takeAndRelease(rewriter, planned, ring, planned.first);
  }
}

namespace {
struct Pipeline : tile::impl::TilePipelineBase<Pipeline> {
  using TilePipelineBase::TilePipelineBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    const Chip *chip = getTargetChip(kernel);
    if (!chip || failed(verifySharedBuffers(kernel)))
      return signalPassFailure();
    if (stages < 0) {
      kernel.emitError() << "tile-pipeline: stages must not be negative, got "
                         << int64_t(stages);
      return signalPassFailure();
    }
    sinkReads(kernel);
    bool hasCopies = chip->asyncCopy.mechanism != AsyncCopy::None;
    bool runsAhead =
        hasCopies && (stages != 0 || runsCopiesAhead(kernel, *chip));
    Schedule schedule = getSchedule(kernel);
    std::optional<int64_t> asked = std::exchange(schedule.stages, std::nullopt);
    setSchedule(kernel, schedule);
    Refusal noStages;
    int64_t chosen = stages > 0 ? int64_t(stages) : asked.value_or(0);
    if (chosen == 0)
      chosen = runsAhead ? chooseStages(kernel, *chip, oneGroup, noStages)
                         : chooseStagesThroughRegisters(kernel, *chip, oneGroup,
                                                        noStages);
    FailureOr<SmallVector<CopyStream>> streams =
        planCopyStreams(kernel, chosen, oneGroup, /*report=*/true, noStages);
    if (failed(streams))
      return signalPassFailure();
    SharedMemoryModel model(kernel);
    addRings(*streams, model);
    int64_t bytes = model.placeWithin(chip->sharedBytes).bytes;
    for (CopyStream &stream : *streams)
      for (PlannedLoop &planned : stream)
        remark::passed(planned.loop.getLoc(), remarkName("loop-pipelined"))
            << remark::metric("bytes", bytes)
            << remark::metric("groups", int64_t(planned.groups.size()))
            << remark::metric("stages", planned.stages);
    pipelineStreams(*streams, *chip);
    if (runsAhead)
      overlapCopies(kernel);
  }
};
} // namespace
