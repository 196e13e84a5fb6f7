//===- ChooseRoles.cpp - Warp roles that the author leaves open -----------===//
//
// Producer warps pay where asynchronous products in a loop read tiles that the
// loop copies: one thread issues the copies by TMA, and they run beside the
// products. Storer warps let TMA add the tiles that loops add to global memory,
// if there is shared memory for them. The number of stages follows from the
// shared memory, the registers of the roles from the estimate of
// Analysis/Registers.
//
//===----------------------------------------------------------------------===//

#include "../Copies/StagedStore.h"
#include "WarpPlan.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tile/Analysis/AccessWidth.h"
#include "tile/Analysis/Registers.h"
#include "tile/Analysis/RolePlan.h"
#include "tile/Analysis/SharedMemory.h"
#include "tile/Dialect/Tile/IR/Contains.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILECHOOSEROLES
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

static remark::RemarkOpts remarkName(StringRef name) {
  return remark::RemarkOpts::name(name).category("tile-choose-roles");
}

namespace {
struct ChooseRoles : tile::impl::TileChooseRolesBase<ChooseRoles> {
  using TileChooseRolesBase::TileChooseRolesBase;
  void runOnOperation() override;
};
} // namespace

/// Returns true if `loop` may have more than one iteration.
static bool isRepeated(scf::ForOp loop) {
  std::optional<APInt> count = loop.getStaticTripCount();
  return !count || count->ugt(1);
}

/// Returns true if `dot` is asynchronous and reads a tile that a loop around it
/// copies in each of several iterations.
static bool readsCopiedTile(DotOp dot) {
  auto mma = dyn_cast_or_null<MmaAttr>(getLayoutAttr(dot.getTile()));
  if (!mma || !mma.getMma().isAsync)
    return false;
  return llvm::any_of(dot->getOperands(), [&](Value operand) {
    AllocOp root =
        isa<BufferType>(operand.getType()) ? getRootAlloc(operand) : AllocOp();
    return root && llvm::any_of(root->getUsers(), [&](Operation *user) {
             auto loop = dyn_cast<scf::ForOp>(user->getParentOp());
             return isa<CopyOp>(user) && loop && loop->isAncestor(dot) &&
                    isRepeated(loop);
           });
  });
}

/// Returns true if the threads copy the tile element by element without TMA:
/// its rows may end beyond those of the source.
static bool isCopiedByElements(CopyOp copy) {
  BufferType source = copy.getSource().getType();
  auto strided = dyn_cast<StridedAttr>(source.getLayout());
  if (!strided)
    return false;
  BufferType tile = cast<BufferType>(copy.getDest().getType());
  for (auto [dim, stride] : llvm::enumerate(strided.getStrides()))
    if (stride == 1 && source.getShape()[dim] == kDynamic)
      return !isInBounds(source, copy.getIndices()[dim], dim,
                         tile.getShape()[dim]);
  return false;
}

/// Adds to `model` the buffers through which stores leave by TMA. A buffer that
/// is filled once, or once for each work, serves a store that comes after its
/// reads.
static void addStagingBuffers(KernelOp kernel, const WarpPlan &plan,
                              bool inParts, SharedMemoryModel &model) {
  bool isPersistent = getSchedule(kernel).workStages.value_or(0) != 0;
  SmallVector<bool> isRefilled(plan.rings.size());
  for (auto &[copy, planned] : plan.copies)
    isRefilled[planned.ring] |= planned.copy->getParentOp() != kernel;
  SmallVector<BufferType> free;
  for (auto [ring, refilled] : llvm::zip_equal(plan.rings, isRefilled))
    if (!refilled && !ring.leaves() && ring.stages == 1)
      free.push_back(ring.tile);
  kernel.walk([&](StoreOp store) {
    StagedStore planned;
    if (!isStageCandidate(store) || isSecondary(store) ||
        planStagedStore(store, inParts, planned))
      return;
    Operation *use = store;
    for (Operation *op = store; op != kernel; op = op->getParentOp())
      if (isa<LoopLikeOpInterface>(op))
        use = op;
    auto *it = llvm::find(free, planned.staging);
    if (use == store && it != free.end() && planned.countParts() == 1) {
      free.erase(it);
      return;
    }
    if (isPersistent)
      use = kernel;
    int64_t groups = getSchedule(kernel).countConsumerGroups();
    for (int64_t i = 0; i < groups * planned.countBuffers(); ++i)
      model.add(planned.staging, kernel, use, use);
  });
}

/// Refuses `schedule`, with which the kernel takes more than `limit` bytes of
/// shared memory or cannot be divided.
static Refusal checkMemory(KernelOp kernel, const Chip &chip,
                           const Schedule &schedule, StoreStaging staging,
                           int64_t limit, SumTiles &tiles) {
  setSchedule(kernel, schedule);
  WarpPlan plan;
  if (Refusal refusal =
          planWarps(kernel, schedule.storers.value_or(0) != 0, plan, tiles))
    return refusal;
  SharedMemoryModel model = modelRoles(kernel, plan);
  if (staging != StoreStaging::None)
    addStagingBuffers(kernel, plan, staging == StoreStaging::Parts, model);
  int64_t bytes = model.placeWithin(limit).bytes;
  if (bytes <= limit)
    return std::nullopt;
  return "with " + std::to_string(*schedule.stages) +
         " stages the kernel takes " + std::to_string(bytes) +
         " bytes of shared memory; " + chip.name.str() + " has " +
         std::to_string(limit);
}

/// Returns true if the launch has a block for each multiprocessor at most.
static bool isOneWave(GridOp grid, const Chip &chip) {
  uint64_t blocks = 1;
  for (Value extent : grid->getOperands()) {
    APInt constant;
    if (!matchPattern(extent, m_ConstantInt(&constant)))
      return false;
    blocks =
        llvm::SaturatingMultiply<uint64_t>(blocks, constant.getZExtValue());
  }
  return blocks <= uint64_t(chip.processors);
}

/// Returns the most stages of the tiles of a work that help `kernel` if it is
/// persistent; 0 if it cannot be persistent.
static int64_t findMostWorkStages(KernelOp kernel, const Chip &chip) {
  if (isOneWave(kernel.getGrid(), chip) || checkPersistence(kernel, &chip))
    return 0;
  bool copiesForWork =
      llvm::any_of(kernel.getBody().front(), llvm::IsaPred<CopyOp>);
  return copiesForWork ? 2 : 1;
}

/// Returns true if TMA can add a tile that a loop adds to global memory.
static bool addsTiles(KernelOp kernel, SumTiles &tiles) {
  WarpPlan plan;
  return !planWarps(kernel, /*takesSums=*/true, plan, tiles) &&
         !plan.sums.empty();
}

/// Plans the roles of `kernel`. Its schedule is undefined afterwards.
static Refusal planRoles(KernelOp kernel, const Chip &chip, RolePlan &plan) {
  int64_t issueRegisters = 0;
  kernel.walk([&](DotOp dot) {
    issueRegisters = std::max(issueRegisters, getIssueRegisters(dot));
  });
  auto copiesElements = [&] {
    return containsOp<CopyOp>(kernel, isCopiedByElements);
  };
  SumTiles tiles;
  auto check = [&](const Schedule &schedule, StoreStaging staging,
                   int64_t limit) {
    return checkMemory(kernel, chip, schedule, staging, limit, tiles);
  };
  return planRoles({chip, getSchedule(kernel), kernel.getNumWarps(),
                    estimateRegisters(kernel).total, issueRegisters,
                    findMostWorkStages(kernel, chip), check, copiesElements,
                    addsTiles(kernel, tiles)},
                   plan);
}

void ChooseRoles::runOnOperation() {
  KernelOp kernel = getOperation();
  const Chip *chip = getTargetChip(kernel);
  if (!chip || failed(verifySharedBuffers(kernel)))
    return signalPassFailure();
  Schedule given = getSchedule(kernel);
  if (!chip->bulkCopy || given.producers == 0)
    return;
  bool pays = given.hasRoles();
  kernel.walk([&](DotOp dot) { pays |= readsCopiedTile(dot); });
  if (!pays)
    return;
  RolePlan plan;
  Refusal refusal = planRoles(kernel, *chip, plan);
  setSchedule(kernel, refusal ? given : plan.schedule);
  if (refusal) {
    if (!given.producers)
      remark::missed(kernel.getLoc(), remarkName("roles-not-chosen"))
          << remark::reason("{0}", *refusal);
    return;
  }
  if (plan.schedule != given) {
    std::string text;
    llvm::raw_string_ostream(text) << kernel.getScheduleAttr();
    remark::passed(kernel.getLoc(), remarkName("roles-chosen"))
        << remark::reason("{0}; blocks on a multiprocessor: {1}", text,
                          plan.blocks);
  }
}
