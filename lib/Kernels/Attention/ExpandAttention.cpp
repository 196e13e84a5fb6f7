//===- ExpandAttention.cpp - Named operations become kernels --------------===//

#include "../ExpandFunctions.h"
#include "Backward.h"
#include "ChooseSchedule.h"
#include "Combine.h"
#include "Forward.h"
#include "Requirements.h"
#include "Works.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Dialect/Tile/Transforms/Program/NamedOps.h"
#include "tile/Kernels/Attention/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILEEXPANDATTENTION
#include "tile/Kernels/Attention/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// What launchers check: a negative scale would make the largest score the
/// smallest.
static void markScalars(Operation *op, KernelOp kernel) {
  auto mark = [&](Value scalar) {
    if (auto argument = dyn_cast_or_null<BlockArgument>(scalar))
      kernel.setArgAttr(argument.getArgNumber(), TileDialect::kNonNegativeAttr,
                        UnitAttr::get(op->getContext()));
  };
  auto markBoth = [&](auto op) {
    mark(op.getScale());
    mark(op.getSoftcap());
  };
  if (auto forward = dyn_cast<AttentionOp>(op))
    markBoth(forward);
  else
    markBoth(cast<AttentionBackwardOp>(op));
}

/// Scratch memory that atomics add to, which tile-choose-accumulators may lay
/// out: the buffers whose rows begin at a whole block of them, wherever the
/// blocks end.
static void markAccumulators(Operation *op, StringRef name, KernelOp kernel) {
  auto backward = dyn_cast<AttentionBackwardOp>(op);
  if (!backward || backward.getCuQ())
    return;
  SmallVector<Value> sums{backward.getDqAcc()};
  if (backward.getKvMode() == KVAccumulation::Atomic)
    llvm::append_values(sums, backward.getDkAcc(), backward.getDvAcc());
  for (Value sum : sums) {
    auto argument = dyn_cast_or_null<BlockArgument>(sum);
    if (!argument)
      continue;
    auto type = cast<BufferType>(argument.getType());
    int64_t rows = type.getShape()[1];
    if (!isa<StridedAttr>(type.getLayout()) ||
        (rows != kDynamic && rows % kScratchRows != 0))
      continue;
    unsigned number = argument.getArgNumber();
    kernel.setArgAttr(
        number, TileDialect::kAccumulatorAttr,
        StringAttr::get(op->getContext(), name + "." + Twine(number)));
  }
}

/// Returns the fields that passes read from the schedule of the kernel. The
/// builders of the program have read the others.
static Schedule getKernelFields(const Schedule &schedule) {
  Schedule fields;
  // Rows of schedules decide about roles and turns: without them, there are
  // none.
  fields.producers = schedule.producers.value_or(0);
  if (!schedule.hasRoles())
    return fields;
  fields.storers = schedule.storers;
  fields.registers = schedule.registers;
  fields.workStages = schedule.workStages.value_or(0);
  // With one product in flight, the loops must not be rotated.
  if (schedule.inFlight == 1)
    fields.keepLoops = true;
  fields.turns = schedule.turns.value_or(false);
  fields.saveRegisters = schedule.saveRegisters;
  fields.lateProducts = schedule.lateProducts;
  return fields;
}

/// Plans the kernels without what they all have in common.
static FailureOr<SmallVector<PlannedKernel, 0>>
planBodies(Operation *op, ScheduleChooser &chooser) {
  std::string name = getKernelName(op);
  SmallVector<PlannedKernel, 0> kernels;
  if (auto forward = dyn_cast<AttentionOp>(op)) {
    FailureOr<Schedule> schedule = chooser.chooseForward(forward);
    if (failed(schedule))
      return failure();
    bool hasParts = bool(forward.getOParts()),
         hasWorks = bool(forward.getWorks()),
         isConcurrent = forward.getConcurrent();
    bool writesWorks = hasWorks && !forward.getReuseWorks();
    // A kernel for a cache may start while the kernel that appends to it runs.
    bool waits = writesWorks || forward.getKeyLengths();
    if (writesWorks)
      kernels.push_back(
          {name + "_works", kWorksWarps, getKernelFields(Schedule()),
           [=](ImplicitLocOpBuilder &b, KernelOp, const IRMapping &mapping) {
             LaunchDependentsOp::create(b);
             buildAttentionWorks(b, forward, mapping, *schedule);
           }});
    kernels.push_back({name, *schedule->warps, getKernelFields(*schedule),
                       [=](ImplicitLocOpBuilder &b, KernelOp kernel,
                           const IRMapping &mapping) {
                         if (schedule->clusterSplit)
                           kernel.setClusterBlocks(*schedule->clusterSplit);
                         // Blocks that wait would take the multiprocessors
                         // that the other kernel needs.
                         if (hasParts && !isConcurrent)
                           LaunchDependentsOp::create(b);
                         if (waits)
                           WaitPrerequisitesOp::create(b);
                         if (hasWorks)
                           buildWorksRequirements(b, forward, mapping,
                                                  *schedule);
                         buildAttentionForward(b, forward, mapping, *schedule);
                       }});
    if (hasParts)
      kernels.push_back(
          {name + "_combine", kCombineWarps, getKernelFields(Schedule()),
           [=](ImplicitLocOpBuilder &b, KernelOp, const IRMapping &mapping) {
             WaitPrerequisitesOp::create(b);
             buildAttentionCombine(b, forward, mapping, *schedule);
           }});
    return kernels;
  }
  auto backward = cast<AttentionBackwardOp>(op);
  FailureOr<Schedule> keys = chooser.chooseBackwardKeys(backward);
  if (failed(keys))
    return failure();
  Schedule queries;
  if (!backward.getDqAcc()) {
    FailureOr<Schedule> chosen = chooser.chooseBackwardQueries(backward);
    if (failed(chosen))
      return failure();
    queries = *chosen;
  }
  for (BackwardKernel &kernel : planAttentionBackward(backward, *keys, queries))
    kernels.push_back({(name + "_" + kernel.suffix).str(), kernel.warps,
                       getKernelFields(kernel.schedule),
                       [build = std::move(kernel.build)](
                           ImplicitLocOpBuilder &b, KernelOp,
                           const IRMapping &mapping) { build(b, mapping); }});
  // The loops of this kernel have no schedules of their own.
  for (PlannedKernel &kernel : kernels)
    if (kernel.name == name + "_" + kKeysSuffix.str())
      kernel.schedule.stages = keys->stages;
  return kernels;
}

static FailureOr<SmallVector<PlannedKernel, 0>> plan(Operation *op,
                                                     ScheduleChooser &chooser) {
  FailureOr<SmallVector<PlannedKernel, 0>> kernels = planBodies(op, chooser);
  if (failed(kernels))
    return failure();
  for (PlannedKernel &kernel : *kernels)
    kernel.build = [op, build = std::move(kernel.build)](
                       ImplicitLocOpBuilder &b, KernelOp kernel,
                       const IRMapping &mapping) {
      markScalars(op, kernel);
      markAccumulators(op, getKernelName(op), kernel);
      build(b, kernel, mapping);
      buildRequirements(b, op, mapping);
    };
  return kernels;
}

namespace {
struct ExpandAttention : tile::impl::TileExpandAttentionBase<ExpandAttention> {
  using TileExpandAttentionBase::TileExpandAttentionBase;

  void runOnOperation() override {
    ScheduleChooser chooser(getScheduleFolder(schedules));
    if (failed(expandFunctions(
            getOperation(),
            [](Operation *op) {
              return isa<AttentionOp, AttentionBackwardOp>(op);
            },
            [&](Operation *op) { return plan(op, chooser); })))
      signalPassFailure();
  }
};
} // namespace
