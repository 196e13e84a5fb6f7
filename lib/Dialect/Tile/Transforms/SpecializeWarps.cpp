//===- SpecializeWarps.cpp - Warps that copy for warps that compute -------===//
//
// All copies to shared memory go to a role of their own. Copies of one argument
// into buffers of one type share a ring of `stages` buffers, each with a
// barrier for `full` and one for `empty`. Sums that loops add to memory may
// leave through a ring the other way: a third role lets the copy engine add
// them. WarpPlan finds what can be handed over, SplitRoles writes the roles.
//
//===----------------------------------------------------------------------===//

#include "WarpRoles/SplitRoles.h"
#include "WarpRoles/WarpPlan.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/SharedMemory.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

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
    Attribute asked = kernel->getAttr(TileDialect::kProducerWarpsAttr);
    Attribute storing = kernel->getAttr(TileDialect::kStoringWarpsAttr);
    if (!asked && !storing)
      return;
    auto producers = dyn_cast_or_null<IntegerAttr>(asked);
    auto storers = dyn_cast_or_null<IntegerAttr>(storing);
    auto registers = kernel->getAttr(TileDialect::kRegistersAttr);
    if (!producers || producers.getInt() < 1 ||
        (storing && (!storers || storers.getInt() < 0)) ||
        (registers && !isa<DenseI32ArrayAttr>(registers))) {
      kernel.emitOpError() << "needs a positive number as "
                           << TileDialect::kProducerWarpsAttr
                           << ", one that is not negative as "
                           << TileDialect::kStoringWarpsAttr
                           << " and numbers as " << TileDialect::kRegistersAttr;
      return signalPassFailure();
    }
    const Chip *chip = getTargetChip(kernel);
    if (!chip || failed(verifySharedBuffers(kernel)))
      return signalPassFailure();
    RoleWarps warps{producers.getInt(), storers ? storers.getInt() : 0};
    Refusal refusal = attempt(kernel, warps, *chip);
    if (!refusal)
      return;
    for (StringRef attribute :
         {TileDialect::kProducerWarpsAttr, TileDialect::kStoringWarpsAttr,
          TileDialect::kRegistersAttr})
      kernel->removeAttr(attribute);
    remark::missed(kernel.getLoc(), remarkName("warps-not-specialized"))
        << remark::reason("{0}", *refusal);
  }

private:
  /// Specialises the kernel, or refuses it.
  static Refusal attempt(KernelOp kernel, RoleWarps warps, const Chip &chip) {
    if (!chip.bulkCopy)
      return chip.name.str() + " has no copy engine";
    std::string reason;
    for (bool takesSums : {warps.storers != 0, false}) {
      WarpPlan plan;
      if (Refusal refusal = planWarps(kernel, takesSums, plan))
        return refusal;
      int64_t bytes = rehearse(kernel, warps, takesSums);
      if (bytes <= chip.sharedBytes) {
        for (auto [sum, obstacle] : plan.otherSums)
          remarkSum(sum, obstacle);
        finish(kernel, warps, plan);
        return std::nullopt;
      }
      reason = "its rings take " + std::to_string(bytes) +
               " bytes of shared memory; " + chip.name.str() + " has " +
               std::to_string(chip.sharedBytes);
      for (auto [sum, ring] : plan.sums)
        remarkSum(sum, "with the tiles that it would leave from, " + reason);
    }
    return reason;
  }

  /// The bytes that the specialised kernel takes.
  static int64_t rehearse(KernelOp kernel, RoleWarps warps, bool takesSums) {
    const Chip &chip = *getTargetChip(kernel);
    OwningOpRef<KernelOp> trial = kernel.clone();
    WarpPlan plan;
    (void)planWarps(*trial, takesSums, plan);
    splitRoles(*trial, warps, plan);
    return planSharedMemoryWithin(*trial, chip.sharedBytes).bytes;
  }

  static void remarkSum(Operation *sum, const std::string &obstacle) {
    remark::missed(sum->getLoc(), remarkName("sum-from-registers"))
        << remark::reason("{0}", obstacle);
  }

  static void finish(KernelOp kernel, RoleWarps warps, const WarpPlan &plan) {
    splitRoles(kernel, warps, plan);
    int64_t stages = 1;
    for (const Ring &ring : plan.rings)
      stages = std::max(stages, ring.stages);
    remark::passed(kernel.getLoc(), remarkName("warps-specialized"))
        << remark::metric("rings", int64_t(plan.rings.size()))
        << remark::metric("stages", stages);
  }
};
} // namespace
