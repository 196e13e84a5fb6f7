//===- SpecializeWarps.cpp - Producer, consumer and storer warps ----------===//
//
// Copies to shared memory move to producer warps. Small ones that TMA cannot do
// stay with the consumers (WarpPlan.cpp, kLeastBulkShare). Copies of one
// argument into buffers of one type share a ring. Sums that loops add to memory
// may leave through a ring the other way: storer warps let TMA add them.
// WarpPlan finds the copies and sums, SplitRoles writes the roles.
//
//===----------------------------------------------------------------------===//

#include "ConsumerGroups.h"
#include "SplitRoles.h"
#include "WarpPlan.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/Registers.h"
#include "tile/Analysis/SharedMemory.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Dialect/Tile/Transforms/Schedule/ScheduleTable.h"

namespace tile {
#define GEN_PASS_DEF_TILESPECIALIZEWARPS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

static remark::RemarkOpts remarkName(StringRef name) {
  return remark::RemarkOpts::name(name).category("tile-specialize-warps");
}

namespace {
struct SpecializeWarps : tile::impl::TileSpecializeWarpsBase<SpecializeWarps> {
  using TileSpecializeWarpsBase::TileSpecializeWarpsBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    Schedule schedule = getSchedule(kernel);
    if (!schedule.hasRoles()) {
      schedule.consumerGroups.reset();
      schedule.producers.reset();
      setSchedule(kernel, schedule);
      return;
    }
    const Chip *chip = getTargetChip(kernel);
    if (!chip || failed(verifySharedBuffers(kernel)) ||
        failed(verifyScheduleOnChip(schedule, *chip,
                                    [&] { return kernel.emitOpError(); })))
      return signalPassFailure();
    FailureOr<Refusal> refusal = attempt(kernel, *chip);
    if (failed(refusal))
      return signalPassFailure();
    if (!*refusal)
      return;
    schedule.consumerGroups.reset();
    schedule.producers.reset();
    schedule.storers.reset();
    schedule.registers.reset();
    setSchedule(kernel, schedule);
    remark::missed(kernel.getLoc(), remarkName("warps-not-specialized"))
        << remark::reason("{0}", **refusal);
  }

private:
  /// Specialises the kernel, or refuses it. Reports an error if the schedule
  /// needs more shared memory than the chip has.
  static FailureOr<Refusal> attempt(KernelOp kernel, const Chip &chip) {
    std::string reason;
    bool hasStorers = getSchedule(kernel).storers.value_or(0) != 0;
    for (bool takesSums : {hasStorers, false}) {
      WarpPlan plan;
      if (Refusal refusal = planWarps(kernel, takesSums, plan))
        return FailureOr<Refusal>(std::move(refusal));
      checkGroups(kernel, plan);
      int64_t bytes =
          modelRoles(kernel, plan).placeWithin(chip.sharedBytes).bytes;
      // A ring has one stage less before sums leave from registers, which TMA
      // gains more than, and before the kernel does not fit.
      if (bytes > chip.sharedBytes)
        bytes = shortenRing(kernel, chip.sharedBytes, plan).value_or(bytes);
      if (bytes <= chip.sharedBytes) {
        for (auto [sum, obstacle] : plan.otherSums)
          remarkSum(sum, obstacle);
        finish(kernel, chip, plan, bytes);
        return Refusal();
      }
      reason = "its rings take " + std::to_string(bytes) +
               " bytes of shared memory; " + chip.name.str() + " has " +
               std::to_string(chip.sharedBytes);
      for (auto [sum, ring] : plan.sums)
        remarkSum(sum, "with the tiles that it would leave from, " + reason);
    }
    return kernel.emitOpError()
           << "has a schedule that does not fit: " << reason;
  }

  /// Leaves one group of consumers to a kernel whose works several cannot take
  /// in turn.
  static void checkGroups(KernelOp kernel, const WarpPlan &plan) {
    Schedule schedule = getSchedule(kernel);
    if (schedule.countConsumerGroups() == 1)
      return;
    scf::ForOp works;
    Refusal refusal = findAlternatingWorks(kernel, plan, works);
    if (!refusal)
      return;
    schedule.consumerGroups.reset();
    setSchedule(kernel, schedule);
    remark::missed(kernel.getLoc(), remarkName("works-not-alternated"))
        << remark::reason("{0}", *refusal);
  }

  static void remarkSum(Operation *sum, const std::string &obstacle) {
    remark::missed(sum->getLoc(), remarkName("sum-from-registers"))
        << remark::reason("{0}", obstacle);
  }

  /// Splits the kernel, which takes `bytes` of shared memory then.
  static void finish(KernelOp kernel, const Chip &chip, const WarpPlan &plan,
                     int64_t bytes) {
    splitRoles(kernel, plan);
    int64_t stages = 1;
    for (const Ring &ring : plan.rings)
      stages = std::max(stages, ring.stages);
    remark::passed(kernel.getLoc(), remarkName("warps-specialized"))
        << remark::metric("bytes", bytes)
        << remark::metric("registers", estimateRegisters(kernel).total)
        << remark::metric("registers-limit", getRegisterLimit(kernel, chip))
        << remark::metric("rings", int64_t(plan.rings.size()))
        << remark::metric("stages", stages);
  }
};
} // namespace
