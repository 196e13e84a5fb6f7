//===- ChooseRoles.cpp - Warp roles that the author leaves open -----------===//
//
// Producer warps pay where asynchronous products in a loop read tiles that the
// loop copies: one thread issues the copies by TMA, and they run beside the
// products. The number of stages follows from the shared memory, the registers
// of the roles from the estimate of Analysis/Registers.
//
//===----------------------------------------------------------------------===//

#include "StagedStore.h"
#include "WarpRoles/WarpPlan.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tile/Analysis/AccessWidth.h"
#include "tile/Analysis/Registers.h"
#include "tile/Analysis/SharedMemory.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILECHOOSEROLES
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Bytes of shared memory that a block takes beside its own (CUDA programming
/// guide, "compute capabilities").
static constexpr int64_t kReservedBytes = 1024;

/// The fewest registers that setmaxnreg gives (PTX ISA).
static constexpr int64_t kFewestRegisters = 24;

/// The most blocks of a multiprocessor that the stages leave room for. The
/// epilogue of one block runs beside the products of another (docs/notes/
/// hopper-gemm.md).
static constexpr int64_t kMostBlocks = 2;

static remark::RemarkOpts remarkName(StringRef name) {
  return remark::RemarkOpts::name(name).category("tile-choose-roles");
}

namespace {
/// Completes the schedule of a kernel with roles.
class RoleChooser {
public:
  RoleChooser(KernelOp kernel, const Chip &chip)
      : kernel(kernel), chip(chip), given(getSchedule(kernel)), schedule(given),
        estimate(estimateRegisters(kernel).total) {}

  /// Sets the schedule of the kernel. Refuses a kernel that cannot have roles,
  /// or that is faster without them; the schedule is undefined then.
  Refusal run();

  /// The blocks of a multiprocessor.
  int64_t blocks = 1;

private:
  void chooseProducers();
  void chooseRegisters();
  int64_t countThreads(int64_t others);
  int64_t countBlocks(int64_t threads, int64_t registers) const;
  int64_t getSharedLimit(int64_t blocks) const;
  Refusal tryStages(int64_t stages, bool stagesStores, int64_t limit);
  Refusal checkOccupancy();
  Refusal chooseStages();

  KernelOp kernel;
  const Chip &chip;
  /// The schedule that the author gives, and the one to complete.
  Schedule given, schedule;
  /// Estimated registers of a consumer thread.
  int64_t estimate;
};

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

/// Returns the threads of the block with `others` warps beside the consumers.
int64_t RoleChooser::countThreads(int64_t others) {
  return chip.warpSize * (kernel.getNumWarps() + others);
}

/// Returns the blocks of a multiprocessor with `registers` for each of their
/// `threads`.
int64_t RoleChooser::countBlocks(int64_t threads, int64_t registers) const {
  int64_t blocks = std::min(chip.throughput.registers / (registers * threads),
                            chip.throughput.threads / threads);
  return std::clamp<int64_t>(blocks, 1, kMostBlocks);
}

/// Returns the bytes of shared memory of each of `blocks` blocks of a
/// multiprocessor.
int64_t RoleChooser::getSharedLimit(int64_t blocks) const {
  return (chip.sharedBytes + kReservedBytes) / blocks - kReservedBytes;
}

/// One producer warp issues all copies. Four are a warpgroup, which can give
/// its registers to the consumers if these need more than their share.
void RoleChooser::chooseProducers() {
  if (schedule.producers)
    return;
  bool fits = estimate + kRegisterMargin <= getRegisterShare(countThreads(1));
  schedule.producers =
      fits || kernel.getNumWarps() % kWarpgroupWarps != 0 ? 1 : kWarpgroupWarps;
}

/// Divides the registers among the roles if the consumers need more than their
/// share.
void RoleChooser::chooseRegisters() {
  int64_t warps = kernel.getNumWarps();
  int64_t others = *schedule.producers + schedule.storers.value_or(0);
  int64_t share = getRegisterShare(countThreads(others));
  if (!schedule.registers && estimate + kRegisterMargin > share &&
      warps % kWarpgroupWarps == 0 && others % kWarpgroupWarps == 0)
    for (int64_t theirs : {kProducerRegisters, kFewestRegisters}) {
      int64_t mine = (share * (warps + others) - theirs * others) / warps;
      mine = std::min(mine, chip.maxRegisters) / 8 * 8;
      if (mine <= share)
        continue;
      schedule.registers = {mine, theirs};
      if (estimate + kRegisterMargin <= mine)
        break;
    }
  // Blocks start with the share if roles exchange registers.
  int64_t each =
      std::min(llvm::alignTo(estimate + kRegisterMargin, 8), uint64_t(share));
  blocks = countBlocks(countThreads(others), schedule.registers ? share : each);
}

/// Adds to `model` the buffers through which stores leave by TMA. A buffer that
/// is filled once serves a store that comes after its reads.
static void addStagingBuffers(KernelOp kernel, const WarpPlan &plan,
                              SharedMemoryModel &model) {
  SmallVector<BufferType> free;
  for (const Ring &ring : plan.rings)
    if (!ring.counted && !ring.leaves())
      free.push_back(ring.tile);
  kernel.walk([&](StoreOp store) {
    StagedStore planned;
    if (!isStageCandidate(store) || planStagedStore(store, planned))
      return;
    Operation *use = store;
    for (Operation *op = store; op != kernel; op = op->getParentOp())
      if (isa<LoopLikeOpInterface>(op))
        use = op;
    auto *it = llvm::find(free, planned.staging);
    if (use == store && it != free.end())
      free.erase(it);
    else
      model.add(planned.staging, kernel, use, use);
  });
}

/// Refuses `stages`, with which the kernel takes more than `limit` bytes of
/// shared memory or cannot be divided.
Refusal RoleChooser::tryStages(int64_t stages, bool stagesStores,
                               int64_t limit) {
  schedule.stages = stages;
  setSchedule(kernel, schedule);
  WarpPlan plan;
  if (Refusal refusal =
          planWarps(kernel, schedule.storers.value_or(0) != 0, plan))
    return refusal;
  SharedMemoryModel model = modelRoles(kernel, plan);
  if (stagesStores)
    addStagingBuffers(kernel, plan, model);
  int64_t bytes = model.placeWithin(limit).bytes;
  if (bytes <= limit)
    return std::nullopt;
  return "with " + std::to_string(stages) + " stages the kernel takes " +
         std::to_string(bytes) + " bytes of shared memory; " + chip.name.str() +
         " has " + std::to_string(limit);
}

/// Refuses roles that leave one warpgroup alone on a multiprocessor where two
/// run without roles: the tensor cores are idle whenever it computes anything
/// else. Copies of single elements are slower still.
Refusal RoleChooser::checkOccupancy() {
  uint64_t without =
      std::min<uint64_t>(llvm::alignTo(estimate + kRegisterMargin, 8), 256);
  if (kernel.getNumWarps() > kWarpgroupWarps || blocks > 1 ||
      countBlocks(countThreads(0), without) == 1 ||
      tryStages(schedule.stages.value_or(kFewestStages),
                /*stagesStores=*/false, getSharedLimit(2)))
    return std::nullopt;
  WalkResult result = kernel.walk([](CopyOp copy) {
    return isCopiedByElements(copy) ? WalkResult::interrupt()
                                    : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return std::nullopt;
  return "a multiprocessor has registers for 2 blocks without producer warps, "
         "and for 1 with them";
}

/// Chooses as many stages as the shared memory has room for, beside the buffers
/// through which stores leave.
Refusal RoleChooser::chooseStages() {
  int64_t most = given.stages.value_or(kMostStages);
  int64_t fewest = given.stages.value_or(kFewestStages);
  for (; blocks >= 1; --blocks)
    for (int64_t stages = most; stages >= fewest; --stages)
      if (!tryStages(stages, /*stagesStores=*/true, getSharedLimit(blocks)))
        return std::nullopt;
  blocks = 1;
  return tryStages(fewest, /*stagesStores=*/false, getSharedLimit(1));
}

Refusal RoleChooser::run() {
  chooseProducers();
  int64_t others = *schedule.producers + schedule.storers.value_or(0);
  if (kernel.getNumWarps() + others > kMostWarps)
    return "a block has no room for producers beside " +
           std::to_string(kernel.getNumWarps()) + " warps";
  chooseRegisters();
  if (given.producers)
    return chooseStages();
  int64_t limit = schedule.registers ? schedule.registers->front()
                                     : getRegisterShare(countThreads(others));
  if (estimate > limit)
    return "a consumer thread needs about " + std::to_string(estimate) +
           " registers, of " + std::to_string(limit);
  if (Refusal refusal = checkOccupancy())
    return refusal;
  return chooseStages();
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
  RoleChooser chooser(kernel, *chip);
  if (Refusal refusal = chooser.run()) {
    setSchedule(kernel, given);
    if (!given.producers)
      remark::missed(kernel.getLoc(), remarkName("roles-not-chosen"))
          << remark::reason("{0}", *refusal);
    return;
  }
  if (Schedule chosen = getSchedule(kernel); chosen != given) {
    std::string text;
    llvm::raw_string_ostream(text) << kernel.getScheduleAttr();
    remark::passed(kernel.getLoc(), remarkName("roles-chosen"))
        << remark::reason("{0}; blocks on a multiprocessor: {1}", text,
                          chooser.blocks);
  }
}
