//===- Occupancy.cpp - Registers, shared memory and resident blocks -------===//

#include "Predictor.h"
#include "tile/Analysis/Registers.h"
#include "tile/Analysis/RolePlan.h"
#include "tile/Analysis/SharedMemory.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace tile;

/// The fewest registers that a back end takes beyond those of tiles.
static constexpr int64_t kFewestOthers =
    kRegisterAllowance + kLeastRegisterMargin;

/// The registers of copies up to which tile-copy-ahead lets threads keep what
/// they have read: 16 elements of 16 bits, and those that are computed from
/// them.
static constexpr double kLeastSparedRegisters = 12;

/// The registers that a thread takes besides if a loop loads each element
/// alone. RMSNorm's gradients with 16 elements of a thread (65 registers of
/// tiles) need more than 102, those with 20 (88 registers) fit 128.
static constexpr int64_t kElementRegisters = 10;

/// The scalar registers that a wave on AMD has for the lanes that are in
/// bounds, of 32 lanes each. Waves with more such masks spill.
static constexpr int64_t kMostLaneMasks = 48;

/// A thread takes one more register for each of so many elements of a softmax
/// whose maximum and sum warps exchange at once: 64 for 32 elements, and 98 for
/// 64.
static constexpr int64_t kJoinedShare = 12;

/// Bytes of a register.
static constexpr int64_t kWordBytes = 4;

/// Bytes of the mbarriers of a kernel.
static constexpr int64_t kBarrierBytes = 256;

bool tile::hasSingleAccesses(BufferType buffer) {
  auto strided = dyn_cast<StridedAttr>(buffer.getLayout());
  int64_t bytes = buffer.getElementBits() / 8;
  if (!strided || bytes >= kWordBytes)
    return false;
  int64_t alignment = std::max(strided.getAlign(), bytes);
  bool isContiguous = false;
  for (auto [stride, divisor] :
       llvm::zip_equal(strided.getStrides(), strided.getDivisors())) {
    if (stride == 1)
      isContiguous = true;
    else
      alignment =
          std::gcd(alignment, bytes * (stride == kDynamic ? divisor : stride));
  }
  return !isContiguous || alignment < kWordBytes;
}

/// Returns the registers of a thread for a tile.
int64_t Predictor::countRegisters(const RegisterTile &tile) const {
  // Rows and columns are shared by the lanes of an MMA, four in a row.
  double threads = candidate.warps * chip.warpSize;
  if (tile.type.getRank() < 2 && facts.hasProducts)
    threads /= 4;
  if (auto known = copies.find(tile.type); known != copies.end())
    threads /= known->second;
  return llvm::divideCeil(
      int64_t(std::ceil(countHeldElements(tile.type) / threads)) *
          tile.elementBits,
      32);
}

/// Returns the most registers of live tiles.
int64_t Predictor::estimateTiles() const {
  SmallVector<int64_t> registers;
  for (const RegisterTile &tile : facts.registerTiles)
    registers.push_back(countRegisters(tile));
  int64_t peak = 0;
  for (ArrayRef<unsigned> place : facts.places) {
    int64_t sum = 0;
    for (unsigned tile : place)
      sum += registers[tile];
    peak = std::max(peak, sum);
  }
  return peak;
}

/// Returns the bytes of tiles that threads compute and products read from
/// shared memory, beside `others`. They share memory where they do not fit
/// (tile-plan-shared-memory): each takes it from its definition to its last
/// product then.
int64_t Predictor::countExchangedBytes(int64_t others) const {
  int64_t all = inverseBytes;
  for (auto &[value, bytes] : exchanged)
    all += bytes;
  if (others + all <= chip.sharedBytes)
    return all;
  int64_t peak = 0;
  for (auto &[value, _] : exchanged) {
    int64_t bytes = 0;
    for (auto &[other, otherBytes] : exchanged) {
      Operation *start = value.getDefiningOp();
      Operation *first = other.getDefiningOp();
      bool isLive = first->getBlock() == start->getBlock() &&
                    !start->isBeforeInBlock(first) &&
                    llvm::any_of(other.getUsers(), [&](Operation *user) {
                      Operation *last =
                          start->getBlock()->findAncestorOpInBlock(*user);
                      return last && start->isBeforeInBlock(last);
                    });
      bytes += isLive ? otherBytes : 0;
    }
    peak = std::max(peak, bytes);
  }
  return peak;
}

/// Adds the buffers through which a tile leaves by TMA.
void Predictor::addStaging(Type tile, int64_t elementBits) {
  int64_t bytes = countElements(tile) * elementBits / 8;
  int64_t rowBytes = getShape(tile).back() * elementBits / 8;
  stagedBytes = std::max(stagedBytes, bytes);
  if (rowBytes > 2 * kStagedRowBytes && rowBytes % kStagedRowBytes == 0)
    bytes = bytes / rowBytes * 2 * kStagedRowBytes;
  stagedPartBytes = std::max(stagedPartBytes, bytes);
}

/// The share of the rows that sums have as padding between banks.
static constexpr int64_t kPaddedShare = 8;

/// Plans the warp roles as tile-choose-roles does.
Refusal Predictor::chooseRoles(Schedule given, int64_t chained, Cost &cost,
                               bool &isSlower) {
  RolePlan plan;
  // Tiles that are copied once for each work have rings in a persistent kernel,
  // and results have buffers of their own. In others, a result leaves through
  // the memory of such a tile. A warp that shares its rows with others would
  // have to exchange elements for a part of the columns.
  auto count = [&](const Schedule &schedule, StoreStaging staging) {
    int64_t works = schedule.workStages.value_or(0), results = 0;
    if (staging == StoreStaging::Parts && !sharesRows)
      results = stagedPartBytes;
    else if (staging != StoreStaging::None)
      results = stagedBytes;
    int64_t fixed = works > 0 ? works * fixedBytes + results
                              : std::max(fixedBytes, results);
    if (schedule.storers.value_or(0) != 0)
      fixed += addedBytes;
    // Sums and results take the memory of the rings.
    if (exchangedSumBytes != 0)
      return std::max(fixedBytes + *schedule.stages * stageBytes,
                      exchangedSumBytes + exchangedSumBytes / kPaddedShare) +
             kBarrierBytes;
    return fixed + *schedule.stages * stageBytes + kBarrierBytes;
  };
  auto check = [&](const Schedule &schedule, StoreStaging staging,
                   int64_t limit) -> Refusal {
    int64_t bytes = count(schedule, staging);
    if (bytes > limit)
      return "it takes " + std::to_string(bytes) +
             " bytes of shared memory, of " + std::to_string(limit);
    cost.sharedBytes = bytes;
    cost.stagesStores = staging != StoreStaging::None;
    return std::nullopt;
  };
  auto isCopiedByElements = [&] { return copiesElements; };
  int64_t mostWorkStages = 0;
  if (cost.blocks > chip.processors && !checkPersistence(kernel, &chip))
    mostWorkStages = fixedBytes > 0 ? 2 : 1;
  RoleRequest request{chip,
                      given,
                      candidate.warps,
                      tiles + chained + kRegisterAllowance,
                      issueRegisters,
                      mostWorkStages,
                      check,
                      isCopiedByElements,
                      /*addsTiles=*/addedBytes > 0};
  if (Refusal refusal = planRoles(request, plan)) {
    isSlower = plan.isSlower;
    return refusal;
  }
  if (tiles + kFewestOthers > plan.registers)
    return "a thread needs about " + std::to_string(tiles + kFewestOthers) +
           " registers, of " + std::to_string(plan.registers);
  cost.hasRoles = true;
  cost.hasStorers = plan.schedule.storers.value_or(0) != 0;
  cost.isPersistent = plan.schedule.workStages.value_or(0) > 0;
  cost.stages = *plan.schedule.stages;
  cost.registers = std::min(tiles + chained + kRegisterMargin, plan.registers);
  int64_t warps = candidate.warps + *plan.schedule.producers +
                  plan.schedule.storers.value_or(0);
  int64_t each = plan.schedule.registers
                     ? getRegisterShare(chip.warpSize * warps)
                     : llvm::alignTo(cost.registers, 8);
  cost.residentBlocks = countResidentBlocks(chip, warps, each);
  int64_t bytes = cost.sharedBytes + countExchangedBytes(cost.sharedBytes);
  while (cost.residentBlocks > 1 &&
         bytes > getSharedLimit(chip, cost.residentBlocks))
    --cost.residentBlocks;
  return std::nullopt;
}

/// Returns the most registers by which a rotated loop exceeds the loop as
/// written.
int64_t Predictor::countChained(const Work &work) const {
  int64_t registers = isRotated(work) ? work.chainedRegisters : 0;
  for (const Work &loop : work.loops)
    registers = std::max(registers, countChained(loop));
  return registers;
}

/// Returns true if tile-persist makes a program of which a multiprocessor has
/// `resident` blocks a loop over works, and tile-load-ahead loads the tiles of
/// the next work.
bool Predictor::loadsNextWork(const Work &work, int64_t resident) const {
  if (facts.hasProducts || checkPersistence(kernel, &chip))
    return false;
  if (std::optional<int64_t> given = getSchedule(kernel).workStages)
    return *given > 0;
  // Blocks of a cluster do not copy single elements (RowRuns.h).
  if (!work.loops.empty() || (work.loadsElements && clusterBlocks > 1))
    return false;
  return tile::loadsNextWork(chip, clusterBlocks, resident,
                             {int64_t(work.ownBytes),
                              int64_t(work.ownBytes + work.storedBytes),
                              work.waitsForOthers});
}

/// Returns the registers of a thread that are free if the tiles that loops load
/// are in shared memory: where registers are short, tile-load-ahead copies them
/// there, and those of 16 bits from before the loop. In a loop whose warps wait
/// for each other, a thread reads the copies again behind the barrier
/// (tile-copy-ahead). In other loops, ptxas moves all reads to the front.
double Predictor::countCopiedRegisters(const Work &work) const {
  double bytes = 0;
  for (const Work &loop : work.loops)
    if (loop.loadsAhead && loop.waitsForOthers && !loop.loadsElements &&
        !facts.hasProducts)
      bytes = std::max(bytes, loop.loadedBytes);
  // The slots of the iteration ahead and of this one.
  if (!chip.asyncCopy.isDefault || 2 * bytes / clusterBlocks > chip.sharedBytes)
    return 0;
  return kSparedRegisters * bytes / (candidate.warps * chip.warpSize) /
         kWordBytes;
}

/// Returns the registers that a second block uses: tile-copy-ahead asks for it.
double Predictor::countSparedRegisters(const Work &work) const {
  double copied = countCopiedRegisters(work);
  return copied > kLeastSparedRegisters ? copied : 0;
}

/// Chooses the stages, and finds out how many blocks run on a multiprocessor.
Refusal Predictor::chooseMemory(const Work &work, Cost &cost) {
  bool loadsElements =
      !facts.hasProducts && llvm::any_of(work.loops, [](const Work &loop) {
        return loop.loadsElements;
      });
  tiles = estimateTiles() + fragments;
  Schedule given = getSchedule(kernel);
  if (candidate.stages)
    given.stages = candidate.stages;
  if (chip.bulkCopy && isAsync && given.producers != 0) {
    bool isSlower = false;
    Refusal refusal = chooseRoles(given, countChained(work), cost, isSlower);
    if (!refusal || !isSlower)
      return refusal;
  }
  // Those of one block.
  int64_t warps = candidate.warps / clusterBlocks;
  int64_t threads = warps * chip.warpSize;
  if (threads > kMostThreads || candidate.warps % clusterBlocks != 0)
    return "it has " + std::to_string(candidate.warps * chip.warpSize) +
           " threads";
  int64_t limit = std::min(chip.maxRegisters, rates.registers / threads);
  if (tiles + kFewestOthers > limit + countCopiedRegisters(work))
    return "a thread needs about " + std::to_string(tiles + kFewestOthers) +
           " registers, of " + std::to_string(limit);
  if (Refusal refusal =
          checkIssueRegisters(chip, candidate.warps, issueRegisters))
    return refusal;
  int64_t masks = int64_t(singleElements) * chip.warpSize / 32;
  cost.spillsMasks = chip.vendor == Vendor::AMD && masks > kMostLaneMasks;
  int64_t others = facts.hasProducts ? kRegisterMargin
                   : loadsElements   ? kFewestOthers + kElementRegisters
                                     : kFewestOthers;
  int64_t registers = tiles + others + joinedElements / kJoinedShare;
  if (countResidentBlocks(chip, warps, llvm::alignTo(registers, 8)) <= 1)
    registers -= int64_t(countSparedRegisters(work));
  cost.registers = std::min(registers, limit);
  int64_t byRegisters =
      countResidentBlocks(chip, warps, llvm::alignTo(cost.registers, 8));
  bool runsAhead = stageBytes > 0 && chip.asyncCopy.isDefault;
  int64_t stages = given.stages.value_or(runsAhead ? kFewestStages : 1);
  cost.stages = stages;
  cost.sharedBytes = fixedBytes + stages * stageBytes;
  if (int64_t bytes = cost.sharedBytes + countExchangedBytes(cost.sharedBytes);
      bytes > chip.sharedBytes)
    return "it takes " + std::to_string(bytes) +
           " bytes of shared memory, of " + std::to_string(chip.sharedBytes);
  // `exchanged` has P of attention here, which stays in registers
  // (docs/notes/cost-model.md), so it does not limit the blocks.
  cost.residentBlocks = std::min<int64_t>(
      byRegisters, chip.sharedBytes / std::max<int64_t>(cost.sharedBytes, 1));
  cost.loadsNextWork = loadsNextWork(work, cost.residentBlocks);
  return std::nullopt;
}
