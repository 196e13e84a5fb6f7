//===- ScheduleLoops.cpp - Products beside other iterations' work ---------===//
//
// Asynchronous products of one iteration run beside the operations of another.
// LoopBody finds what a loop consists of, LoopCosts what it costs,
// Analysis/LoopSchedule the best order, and RotateLoop writes the loop in that
// order.
//
//===----------------------------------------------------------------------===//

#include "LoopCosts.h"
#include "ReorderLoop.h"
#include "RotateLoop.h"
#include "mlir/IR/Remarks.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILESCHEDULE
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// The least gain for which a loop changes, in percent of the interval. It pays
/// for the prologue and the epilogue of a rotation.
static constexpr int64_t kLeastGain = 3;

static remark::RemarkOpts remarkName(StringRef name) {
  return remark::RemarkOpts::name(name).category("tile-schedule");
}

/// Returns what keeps the interval from being shorter.
static std::string describeLimit(const LoopSchedule &schedule,
                                 const LoopBounds &bounds) {
  if (schedule.length <= bounds.resource)
    return bounds.unit.str() + " unit";
  return "dependences within an iteration";
}

/// Returns true if several warpgroups compute a work. In rotated loops, their
/// products and exponentials coincide unless they take turns.
static bool needsTurns(KernelOp kernel) {
  return kernel.getNumWarps() >= 2 * kWarpgroupWarps &&
         getSchedule(kernel).countConsumerGroups() == 1;
}

/// Refuses a kernel whose products would not overlap other operations. They do
/// so only if TMA fills their operands.
static Refusal checkKernel(KernelOp kernel, const Chip &chip) {
  Schedule schedule = getSchedule(kernel);
  if (!chip.bulkCopy || schedule.producers == 0)
    return "the kernel has no producer warps";
  // One warpgroup often runs faster in two blocks without producers, which
  // tile-choose-roles finds out later.
  if (!needsTurns(kernel) && !schedule.hasRoles() &&
      schedule.countConsumerGroups() == 1)
    return "one warpgroup may have no producer warps";
  return std::nullopt;
}

namespace {
struct ScheduleLoops : tile::impl::TileScheduleBase<ScheduleLoops> {
  using TileScheduleBase::TileScheduleBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    const Chip *chip = getTargetChip(kernel);
    if (!chip)
      return signalPassFailure();
    if (getSchedule(kernel).keepsLoops())
      return;
    SmallVector<scf::ForOp> loops;
    kernel.walk([&](scf::ForOp loop) {
      if (!getSchedule(loop).keepsLoops() &&
          !loop.getBody()->getOps<DotOp>().empty())
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      if (Refusal refusal = schedule(kernel, *chip, loop))
        remark::missed(loop.getLoc(), remarkName("loop-not-rotated"))
            << remark::reason("{0}", *refusal);
  }

private:
  Refusal schedule(KernelOp kernel, const Chip &chip, scf::ForOp loop);
};
} // namespace

/// Rotates the loop or changes the order of its operations if that makes it
/// faster. Refuses a loop that cannot be rotated.
Refusal ScheduleLoops::schedule(KernelOp kernel, const Chip &chip,
                                scf::ForOp loop) {
  if (seed == 0)
    if (Refusal refusal = checkKernel(kernel, chip))
      return refusal;
  RunAhead runAhead(kernel);
  LoopBody body;
  if (Refusal refusal = analyzeLoop(loop, runAhead, body))
    return refusal;
  LoopGraph graph;
  if (Refusal refusal = buildLoopGraph(body, kernel, chip, graph))
    return refusal;
  if (seed != 0) {
    LoopSchedule drawn = drawSchedule(graph, seed);
    if (drawn.isRotated())
      rotateLoop(body, drawn);
    else
      reorderLoop(body, drawn.order);
    return std::nullopt;
  }
  LoopBounds bounds = computeBounds(graph);
  LoopSchedule written = getWrittenSchedule(graph);
  FoundSchedule found = findSchedule(graph);
  // If nothing fits, another order is no worse than the loop as written.
  int64_t limit = graph.registerLimit;
  if (found.schedule.peak > limit) {
    graph.registerLimit = written.peak;
    graph.keepsIterations = true;
    found = findSchedule(graph);
  }
  const LoopSchedule &best = found.schedule;
  auto report = [&](remark::detail::InFlightRemark remark) {
    remark << remark::metric("interval", best.interval)
           << remark::metric("interval-as-written", written.interval)
           << remark::metric("resource-bound", bounds.resource)
           << remark::metric("busiest-unit", bounds.unit)
           << remark::metric("recurrence-bound", bounds.recurrence)
           << remark::metric("limited-by", describeLimit(best, bounds))
           << remark::metric("carried-registers", best.carried)
           << remark::metric("registers", best.peak)
           << remark::metric("registers-limit", limit)
           << remark::metric("exact", found.isExact);
  };
  if (best.isRotated() &&
      best.interval * 100 <= written.interval * (100 - kLeastGain)) {
    report(remark::passed(loop.getLoc(), remarkName("loop-rotated")));
    rotateLoop(body, best);
    if (needsTurns(kernel)) {
      Schedule schedule = getSchedule(kernel);
      schedule.turns = schedule.turns.value_or(true);
      // Four producer warps can give registers to the consumers, one cannot.
      int64_t threads = chip.warpSize * (kernel.getNumWarps() + 1);
      if (!schedule.producers &&
          best.peak + graph.rotationMargin > getRegisterShare(threads))
        schedule.producers = kWarpgroupWarps;
      setSchedule(kernel, schedule);
    }
  } else if (!best.isRotated() &&
             best.length * 100 <= written.length * (100 - kLeastGain)) {
    report(remark::passed(loop.getLoc(), remarkName("loop-reordered")));
    reorderLoop(body, best.order);
  } else {
    report(remark::analysis(loop.getLoc(), remarkName("loop-schedule")));
  }
  return std::nullopt;
}
