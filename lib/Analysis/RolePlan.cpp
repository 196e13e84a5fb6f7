//===- RolePlan.cpp - Warp roles, registers and stages --------------------===//

#include "tile/Analysis/RolePlan.h"
#include "tile/Analysis/Registers.h"
#include "tile/Analysis/SharedMemory.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

/// Bytes of shared memory that a block takes beside its own (CUDA programming
/// guide, "compute capabilities").
static constexpr int64_t kReservedBytes = 1024;

/// The most blocks of a multiprocessor that the stages leave room for. The
/// epilogue of one block runs beside the products of another (docs/notes/
/// hopper-gemm.md).
static constexpr int64_t kMostBlocks = 2;

/// Registers that ptxas 13.0 demands for wgmma beyond those of the accumulator
/// (measured for 208, 224, 240 and 256 columns; a in registers or not).
static constexpr int64_t kIssueOverhead = 26;

/// Registers beyond the estimate for the numbers of a work. Forward attention
/// at head dimension 64 has 20, and spills at most 4 bytes.
static constexpr int64_t kWorkRegisters = 20;

int64_t tile::countResidentBlocks(const Chip &chip, int64_t warps,
                                  int64_t registers) {
  // The granularity of the allocation is left out: the registers are estimates
  // that exceed what ptxas takes.
  int64_t threads = warps * chip.warpSize;
  int64_t resident =
      std::min({chip.throughput.registers / (registers * threads),
                chip.throughput.threads / threads, chip.throughput.blocks});
  return std::max<int64_t>(resident, 1);
}

int64_t tile::getSharedLimit(const Chip &chip, int64_t blocks) {
  return (chip.sharedBytes + kReservedBytes) / blocks - kReservedBytes;
}

int64_t tile::chooseColumns(const Mma &mma, int64_t columns) {
  int64_t result = std::min(columns, mma.maxColumns);
  while (columns % result != 0)
    result -= mma.n;
  return result;
}

int64_t tile::getIssueRegisters(const Mma &mma, int64_t columns) {
  if (!mma.isAsync)
    return 0;
  return mma.m * chooseColumns(mma, columns) * getBits(mma.accumulator) / 32 /
             mma.warpSize +
         kIssueOverhead;
}

int64_t tile::getIssueRegisters(DotOp dot) {
  auto layout = dyn_cast_or_null<MmaAttr>(getLayoutAttr(dot.getTile()));
  if (!layout)
    return 0;
  return getIssueRegisters(layout.getMma(),
                           dot.getTile().getDimSize(1) / layout.getWarps()[1]);
}

int64_t tile::getMostConsumerRegisters(const Chip &chip, int64_t warps) {
  int64_t all = warps + kWarpgroupWarps;
  int64_t registers = getRegisterShare(chip.warpSize * all) * all -
                      kFewestRegisters * kWarpgroupWarps;
  return std::min(registers / warps / 8 * 8, chip.maxRegisters);
}

Refusal tile::checkIssueRegisters(const Chip &chip, int64_t warps,
                                  int64_t issueRegisters) {
  int64_t share = getRegisterShare(chip.warpSize * warps);
  if (issueRegisters <= share)
    return std::nullopt;
  return "a matrix instruction needs " + std::to_string(issueRegisters) +
         " registers a thread; a block of " + std::to_string(warps) +
         " warps starts with " + std::to_string(share);
}

Refusal tile::checkPersistence(KernelOp kernel, const Chip *chip) {
  if (chip && chip->vendor == Vendor::AMD)
    return "blocks of " + chip->name.str() + " cannot read how many there are";
  if (kernel.getClusterBlocks() > 1)
    return std::string("its blocks are those of clusters");
  Refusal refusal;
  kernel.walk([&](Operation *op) {
    if (isa<NumProgramsOp, MultiprocessorsOp>(op))
      refusal = "it reads the extents of the launch";
    else if (isa<WaitPrerequisitesOp, LaunchDependentsOp>(op))
      refusal = "it waits for another launch, or starts one";
    else if (isa<WarpRolesOp>(op))
      refusal = "its author has divided it into roles";
    return refusal ? WalkResult::interrupt() : WalkResult::advance();
  });
  return refusal;
}

bool tile::loadsNextWork(const Chip &chip, int64_t clusterBlocks,
                         int64_t resident, const BlockAccesses &accesses) {
  if (!chip.asyncCopy.isDefault || accesses.loaded == 0)
    return false;
  // Memory would wait for the launch of the next block.
  if (!accesses.waitsForOthers)
    return accesses.moved < kBlockLaunchCycles * chip.throughput.memoryBytes;
  // So few blocks wait at the same time, and leave memory idle. Blocks of a
  // cluster wait longer, and for all of them (docs/notes/hopper-rows.md).
  int64_t few = clusterBlocks > 1 ? 4 : 1;
  return resident <= few &&
         2 * accesses.loaded / clusterBlocks <= getSharedLimit(chip, resident);
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

namespace {
class RolePlanner {
public:
  RolePlanner(const RoleRequest &request, bool addsTiles, RolePlan &plan)
      : request(request), addsTiles(addsTiles), chip(request.chip), plan(plan),
        warps(request.warps * request.given.countConsumerGroups()),
        needed(request.registers + kRegisterMargin) {}

  Refusal run();
  void choosePersistence();

private:
  int64_t countOthers() const {
    return plan.schedule.producers.value_or(0) +
           plan.schedule.storers.value_or(0);
  }
  int64_t getShare(int64_t others) const {
    return getRegisterShare(chip.warpSize * (warps + others));
  }
  Refusal tryStages(int64_t stages, StoreStaging staging, int64_t limit);
  bool findStages(int64_t blocks);
  void chooseOthers();
  void chooseRegisters();
  Refusal checkOccupancy();
  Refusal chooseStages();

  const RoleRequest &request;
  /// Whether storer warps add tiles.
  bool addsTiles;
  const Chip &chip;
  RolePlan &plan;
  /// The warps of all groups of consumers.
  int64_t warps;
  /// Registers of a thread that computes, if there are enough.
  int64_t needed;
};
} // namespace

Refusal RolePlanner::tryStages(int64_t stages, StoreStaging staging,
                               int64_t limit) {
  plan.schedule.stages = stages;
  return request.checkMemory(plan.schedule, staging, limit);
}

/// Finds the most stages for which `blocks` blocks of a multiprocessor have
/// memory beside the buffers through which stores leave. Stores in parts are
/// worth more stages of a single block. They would let two blocks have too few
/// stages where one has enough.
bool RolePlanner::findStages(int64_t blocks) {
  int64_t most = request.given.stages.value_or(kMostStages);
  int64_t fewest = request.given.stages.value_or(kFewestStages);
  int64_t limit = getSharedLimit(chip, blocks);
  for (int64_t stages = most; stages >= fewest; --stages)
    if (!tryStages(stages, StoreStaging::Whole, limit) ||
        (blocks == 1 && !tryStages(stages, StoreStaging::Parts, limit)))
      return true;
  return false;
}

/// One producer warp issues all copies, and one storer warp all additions. If
/// the consumers need more registers than their share, these warps are part of
/// a warpgroup, which can give its registers.
void RolePlanner::chooseOthers() {
  Schedule &schedule = plan.schedule;
  if (schedule.producers)
    return;
  if (addsTiles)
    schedule.storers = 1;
  int64_t storers = schedule.storers.value_or(0);
  schedule.producers = 1;
  if (needed <= getShare(1 + storers) || warps % kWarpgroupWarps != 0)
    return;
  int64_t idle =
      llvm::offsetToAlignment(1 + storers, llvm::Align(kWarpgroupWarps));
  if (addsTiles)
    *schedule.storers += idle;
  else
    *schedule.producers += idle;
}

/// Divides the registers among the roles if the consumers need more than their
/// share.
void RolePlanner::chooseRegisters() {
  int64_t others = countOthers();
  int64_t share = getShare(others);
  Schedule &schedule = plan.schedule;
  if (!schedule.registers && needed > share && warps % kWarpgroupWarps == 0 &&
      others % kWarpgroupWarps == 0)
    for (int64_t theirs : {kProducerRegisters, kFewestRegisters}) {
      int64_t mine = (share * (warps + others) - theirs * others) / warps;
      mine = std::min(mine, chip.maxRegisters) / 8 * 8;
      if (mine <= share)
        continue;
      // Registers are given in units of eight.
      int64_t left = ((warps + others) * share - warps * mine) / others;
      schedule.registers = {mine, std::min(left / 8 * 8, kProducerRegisters)};
      // Producers with the fewest registers spill.
      if (request.registers + kLeastRegisterMargin <= mine)
        break;
    }
  plan.registers = schedule.registers ? schedule.registers->front() : share;
  // Blocks start with the share if roles exchange registers.
  int64_t each = schedule.registers
                     ? share
                     : std::min<int64_t>(llvm::alignTo(needed, 8), share);
  plan.blocks =
      std::min(countResidentBlocks(chip, warps + others, each), kMostBlocks);
}

/// Refuses roles that leave one warpgroup alone on a multiprocessor where two
/// run without roles: the tensor cores are idle whenever it computes anything
/// else. Copies of single elements are slower still.
Refusal RolePlanner::checkOccupancy() {
  int64_t without = std::min<int64_t>(llvm::alignTo(needed, 8), 256);
  if (warps > kWarpgroupWarps || plan.blocks > 1 ||
      countResidentBlocks(chip, warps, without) == 1 ||
      tryStages(plan.schedule.stages.value_or(kFewestStages),
                StoreStaging::None, getSharedLimit(chip, 2)) ||
      request.copiesElements())
    return std::nullopt;
  plan.isSlower = true;
  return "a multiprocessor has registers for 2 blocks without producer warps, "
         "and for 1 with them";
}

/// Chooses as many stages as the shared memory has room for, beside the buffers
/// through which stores leave.
Refusal RolePlanner::chooseStages() {
  for (; plan.blocks >= 1; --plan.blocks)
    if (findStages(plan.blocks))
      return std::nullopt;
  plan.blocks = 1;
  return tryStages(request.given.stages.value_or(kFewestStages),
                   StoreStaging::None, getSharedLimit(chip, 1));
}

/// Makes the kernel persistent if a multiprocessor has room for one block only,
/// and if there are registers for the numbers of a work beside those of its
/// loops. The tiles of the next work are copied during this one if there is
/// memory for both. Kernels whose loops add to memory keep the grid: backward
/// attention at head dimension 256 is 1 % faster in persistent blocks without a
/// mask, and 10 % slower with a causal one (docs/notes/hopper-backward.md).
void RolePlanner::choosePersistence() {
  if (request.given.workStages || plan.blocks > 1 || request.addsTiles ||
      request.registers + kWorkRegisters > plan.registers)
    return;
  Schedule plain = plan.schedule;
  for (int64_t works = request.mostWorkStages; works >= 1; --works) {
    plan.schedule.workStages = works;
    if (findStages(/*blocks=*/1))
      return;
  }
  plan.schedule = plain;
}

Refusal RolePlanner::run() {
  plan.schedule = request.given;
  chooseOthers();
  int64_t all = warps + countOthers();
  if (all > kMostWarps)
    return "a block has no room for producers beside " + std::to_string(warps) +
           " warps";
  chooseRegisters();
  if (Refusal refusal = checkIssueRegisters(chip, all, request.issueRegisters))
    return refusal;
  if (request.given.producers)
    return chooseStages();
  if (request.registers > plan.registers)
    return "a consumer thread needs about " +
           std::to_string(request.registers) + " registers, of " +
           std::to_string(plan.registers);
  if (Refusal refusal = checkOccupancy())
    return refusal;
  return chooseStages();
}

Refusal tile::planRoles(const RoleRequest &request, RolePlan &plan) {
  bool isOpen = !request.given.producers && !request.given.storers;
  Refusal refusal;
  for (bool addsTiles : {true, false}) {
    if (addsTiles && !(isOpen && request.addsTiles))
      continue;
    plan = {};
    RolePlanner planner(request, addsTiles, plan);
    refusal = planner.run();
    if (!refusal) {
      planner.choosePersistence();
      break;
    }
  }
  return refusal;
}
