//===- CostModel.cpp - Predicted time of a tile program -------------------===//

#include "tile/Analysis/CostModel.h"
#include "Predictor.h"
#include "tile/Analysis/Registers.h"
#include "tile/Analysis/RolePlan.h"
#include "tile/Analysis/SplitReduction.h"
#include <cmath>

using namespace mlir;
using namespace tile;

/// The exponent of the p-norm that adds the cycles of units. It is fitted, with
/// the constants below, to forward kernels of attention and to matrix products
/// on an H200 (docs/notes/cost-model.md).
static constexpr double kOverlap = 7;

/// Bytes a clock that one multiprocessor can receive from the second-level
/// cache if others leave the cache idle, and those that the threads of a
/// program without products receive.
static constexpr double kPortBytes = 90, kLoadBytes = 64;

/// The share of the rate of global memory that kernels reach, and the exponent
/// of the p-norm of its cycles and those of the blocks: in programs with
/// products, and without.
static constexpr double kMemoryShare = 0.78, kMemoryOverlap = 7;
static constexpr double kPlainMemoryShare = 0.915, kPlainMemoryOverlap = 3.5;

/// The time of global memory where a thread accesses less than 16 bytes at a
/// time, relative to that of whole accesses (rows of 4099 elements, H200).
static constexpr double kNarrowAccessTime = 1.5;
static constexpr int64_t kAccessBits = 128;

/// In a program without products, the time of global memory grows by this
/// power of the ratio of the bytes that it delivers in kQueueCycles to those
/// that the loads of a multiprocessor have in flight. Loads that are issued an
/// iteration before count kAheadInFlight times. These constants and those for
/// such programs below are fitted to the schedules of 96 problems on an H200
/// (docs/notes/cost-model.md).
static constexpr double kIdleMemoryPower = 0.15, kAheadInFlight = 1.5;

/// Schedulers of a multiprocessor (CUDA C++ Programming Guide, "Compute
/// Capability 9.0").
static constexpr int64_t kSchedulers = 4;

/// Global memory delivers some bytes in kQueueCycles. If copies have more bytes
/// in flight, the rest waits in queues, and the time of global memory grows by
/// the share kQueueTime for each time as many. Copies of kFewStages stages are
/// never too many. Fitted to products of 64 rows on an H100
/// (docs/notes/cost-model.md).
static constexpr double kQueueCycles = 3000, kQueueTime = 0.12;
static constexpr int64_t kFewStages = 4;

/// Cycles of the start and the end of a block, and of the launch. In a
/// persistent kernel, producers copy for the next work beside the end of this
/// one.
static constexpr double kBlockCycles = 1000, kLaunchCycles = 7500;

/// The share of its bytes from the second-level cache that a program without
/// products waits for beside those from global memory.
static constexpr double kCacheWaitShare = 0.1;

/// Cycles of the start and the end of a block without products, those that a
/// cluster adds, and the share of the launch of blocks beside which others do
/// not run.
static constexpr double kPlainBlockCycles = 150, kClusterCycles = 3000,
                        kLaunchShare = 0.6;

/// The share of the latency of its loads for which a thread without products
/// waits, beside the time of their bytes.
static constexpr double kLatencyShare = 0.22;

/// Neighbours that read the same bytes at the same time share the way to the
/// second-level cache. The n blocks of a cluster that share iterations read
/// different bytes, and what they read takes n^kUnsharedReads times as long.
static constexpr double kUnsharedReads = 0.46;

/// The smallest copy of an iteration starts first (tile-lower-rings). Reads
/// take longer by the share kLateReads if that tile is not one of the largest
/// buffer, if more than kPairedReads blocks read the same part of the largest
/// buffer, and if the matrix unit is not the bound. Fitted to matrix products
/// on an H200 (docs/notes/cost-model.md).
static constexpr double kLateReads = 0.14, kPairedReads = 2;

/// Global memory is idle at the end of the last block: for the share
/// kLastCopies of the time of its last copies, and for kLastStores cycles for
/// each element of its result. Fitted to the same products.
static constexpr double kLastCopies = 0.14, kLastStores = 0.02;

StringRef tile::stringify(CostUnit unit) {
  static constexpr StringRef names[] = {
      "matrix",        "exponentials",       "arithmetic",
      "shared memory", "second-level cache", "serial path"};
  return names[unsigned(unit)];
}

CostUnit Cost::getBound() const {
  return CostUnit(std::distance(units.begin(), llvm::max_element(units)));
}

/// Returns the rate of the second-level cache for each of `blocks` blocks,
/// relative to that with a block on all multiprocessors.
double Predictor::getCacheGain(double blocks) const {
  double active = std::min<double>(blocks, chip.processors);
  return std::max(
      std::min(kPortBytes / rates.cacheBytes, chip.processors / active), 1.0);
}

/// Returns true if tile-schedule starts the products of the next iteration
/// before it computes on those of this one. There must be registers for the
/// tile in between.
bool Predictor::isRotated(const Work &work) const {
  return chip.bulkCopy && isAsync && groups >= 2 && work.chainedRegisters > 0 &&
         tiles + work.chainedRegisters + kRotationAllowance <=
             getMostConsumerRegisters(chip, candidate.warps);
}

/// Returns the cycles of an iteration in which products depend on each other
/// through the work of the threads. A warpgroup alternates between the matrix
/// unit and the other units, which it shares with the other warpgroups: a
/// closed network of queues. Mean value analysis gives the time of a round
/// (Reiser and Lavenberg, "Mean-Value Analysis of Closed Multichain Queuing
/// Networks", 1980).
double Predictor::getChainTime(const Work &work, int64_t blocks) const {
  int64_t customers = std::max<int64_t>(std::llround(groups * blocks), 1);
  // Warpgroups that wait for each product stay in phase, because the matrix
  // unit serves all of them at once. Warps with products of their own do not.
  if (isAsync && !isRotated(work))
    return customers * (work.products + work.others);
  // A warp with products of its own runs on one scheduler, which has its part
  // of each unit.
  int64_t parts = isAsync ? 1 : kSchedulers;
  customers = llvm::divideCeil(customers, parts);
  double time = 0, atProducts = 0, atOthers = 0;
  for (int64_t count = 1; count <= customers; ++count) {
    double products = work.products * parts * (1 + atProducts);
    double others = work.others * parts * (1 + atOthers);
    time = products + others;
    atProducts = count * products / time;
    atOthers = count * others / time;
  }
  return time;
}

/// Returns the cycles in which threads wait for the loads of `work`.
double Predictor::getLoadCycles(const Work &work) const {
  double cycles =
      kLatencyShare * (kCopyLatency + memoryShare * kMemoryLatency) +
      work.loadedBytes / clusterBlocks / kLoadBytes;
  return work.loadsAhead ? cycles / 2 : cycles;
}

/// Returns the cycles in which the second-level cache serves a block.
double Predictor::getCacheCycles(const Work &work) const {
  double cycles = work.units[unsigned(CostUnit::Cache)] / cacheGain;
  bool isLate = work.firstSource < work.largestSource &&
                work.largestReads > kPairedReads &&
                cycles > work.units[unsigned(CostUnit::Matrix)];
  return isLate ? cycles * (1 + kLateReads) : cycles;
}

/// Returns the cycles of `work` if `blocks` blocks run on a multiprocessor.
double Predictor::getTime(const Work &work, int64_t blocks,
                          const Cost &cost) const {
  double sum = 0;
  auto add = [&](double cycles) { sum += std::pow(cycles, kOverlap); };
  // Each block of a cluster has its part of the work of all threads.
  double share = double(blocks) / clusterBlocks;
  double cache = getCacheCycles(work);
  add(cache * share);
  bool isChain = work.chainedRegisters > 0;
  for (unsigned unit = 0; unit < kCostUnits; ++unit)
    if (CostUnit(unit) == CostUnit::Shared ||
        (!isChain && CostUnit(unit) != CostUnit::Serial &&
         CostUnit(unit) != CostUnit::Cache))
      add(work.units[unit] * share);
  double serial = isChain ? getChainTime(work, blocks) + work.latency
                          : work.units[unsigned(CostUnit::Serial)];
  if (work.copiedBytes > 0) {
    double copy = kCopyLatency + memoryShare * kMemoryLatency + cache;
    // Without stages, the threads wait for each copy.
    if (cost.stages > 1)
      add(copy / (cost.stages - 1));
    else
      serial += copy;
  }
  // Beside products, other warps hide the latency of loads to registers.
  if (work.waitsForLoads && !facts.hasProducts)
    serial += getLoadCycles(work);
  if (cost.hasRoles && !cost.stagesStores)
    serial += work.storedElements * kElementStoreCycles;
  add(serial);
  double time = std::pow(sum, 1 / kOverlap);
  for (const Work &loop : work.loops)
    time += getTime(loop, blocks, cost);
  time *= work.iterations;
  // The first loads have no iteration before them, but may have a work.
  if (work.waitsForLoads && work.loadsAhead && !facts.hasProducts &&
      !cost.loadsNextWork)
    time += getLoadCycles(work);
  // Nothing runs beside the begin and the end of a rotated loop.
  if (isRotated(work))
    time += work.products + work.others;
  return time;
}

void Predictor::addTotals(const Work &work, double times, Cost &cost) const {
  times *= work.iterations;
  for (unsigned unit = 0; unit < kCostUnits; ++unit)
    cost.units[unit] += times * work.units[unit];
  for (const Work &loop : work.loops) {
    cost.iterations += times * loop.iterations;
    addTotals(loop, times, cost);
  }
}

/// Returns the most bytes that an iteration of a loop copies.
double Predictor::countStageBytes(const Work &work) {
  double bytes = work.copiedBytes;
  for (const Work &loop : work.loops)
    bytes = std::max(bytes, countStageBytes(loop));
  return bytes;
}

/// Returns the factor by which copies that wait in queues lengthen the time of
/// global memory.
double Predictor::getQueueFactor(const Work &work, const Cost &cost) const {
  double running =
      std::min(cost.blocks, double(chip.processors) * cost.residentBlocks);
  double stage = running * countStageBytes(work) * memoryShare;
  double needed = chip.processors * rates.memoryBytes * kQueueCycles;
  needed = std::max(needed, stage * kFewStages);
  return 1 + kQueueTime * std::max(stage * cost.stages / needed - 1, 0.0);
}

/// Refuses tiles of more elements than a tile may have, or than
/// tile-check-registers lets a thread have.
Refusal Predictor::checkElements() const {
  for (Type tile : facts.tiles)
    if (countElements(tile) > kMostTileElements)
      return "a tile has at most " + std::to_string(kMostTileElements) +
             " elements";
  double threads = candidate.warps * chip.warpSize;
  for (Type tile : facts.heldTiles) {
    int64_t elements = countElements(tile) / threads;
    if (elements > kMostThreadElements)
      return ("a thread has " + Twine(elements) +
              " elements of a tile; the limit is " + Twine(kMostThreadElements))
          .str();
  }
  return std::nullopt;
}

/// Refuses tiles of a program without products that the threads do not divide:
/// tile-pad-extents would grow them.
Refusal Predictor::checkDivision() const {
  int64_t threads = candidate.warps * chip.warpSize;
  for (Type tile : facts.tiles) {
    int64_t elements = countElements(tile);
    if (elements > threads && elements % threads != 0)
      return (Twine(threads) + " threads do not divide a tile of " +
              Twine(elements) + " elements")
          .str();
  }
  return std::nullopt;
}

/// Returns true if a thread of a program without products loads no multiple of
/// the widest access, so that its accesses are narrower.
bool Predictor::hasNarrowAccesses() const {
  int64_t accesses = candidate.warps * chip.warpSize * kAccessBits;
  // Beside rows that begin anywhere, threads have single elements.
  return !facts.hasProducts && !facts.loadsElements &&
         llvm::any_of(facts.wideTiles, [&](RankedTensorType tile) {
           int64_t bits = countElements(tile) * tile.getElementTypeBitWidth();
           return bits > accesses && bits % accesses != 0;
         });
}

/// Returns the bytes that the loads of a block have in flight.
double Predictor::countInFlight(const Work &work, const Cost &cost) const {
  bool isAhead = work.loadsAhead || cost.loadsNextWork;
  double bytes = work.loadedBytes * (isAhead ? kAheadInFlight : 1);
  for (const Work &loop : work.loops)
    bytes = std::max(bytes, countInFlight(loop, cost));
  return bytes;
}

/// Returns the factor by which global memory takes longer because it waits for
/// loads.
double Predictor::getIdleFactor(const Work &work, const Cost &cost) const {
  double inFlight =
      countInFlight(work, cost) * double(cost.residentBlocks) / clusterBlocks;
  if (inFlight == 0)
    return 1;
  double needed = kQueueCycles * rates.memoryBytes;
  return std::pow(std::max(needed / inFlight, 1.0), kIdleMemoryPower);
}

Refusal Predictor::run(Cost &cost) {
  if (Refusal refusal = checkElements())
    return refusal;
  if (!facts.hasProducts && candidate.warps > 1)
    if (Refusal refusal = checkDivision())
      return refusal;
  if (!facts.hasProducts && facts.loadsElements)
    accessElements = 1;
  GridOp launch = kernel.getGrid();
  for (auto [axis, extent] : llvm::enumerate(launch->getOperands()))
    grid[axis] = std::max(evaluate(extent), 1.0);
  cost.isGridKnown = !hasGuessed;
  cost.isLine = cost.isGridKnown && std::min(grid[0], grid[1]) == 1;
  // Other numbers depend on the grid.
  double tiles = grid[0] * grid[1] * grid[2];
  cost.blocks = tiles * candidate.split.value_or(1) * clusterBlocks;
  if (candidate.split.value_or(1) > 1 || candidate.streamK) {
    if (Refusal refusal = findSplitLoop(kernel, splitLoop))
      return refusal;
    if (candidate.streamK && StreamKPlan(tiles, *candidate.streamK).left == 0)
      return "no tiles are left over for 'stream_k = " +
             std::to_string(*candidate.streamK) + "'";
    bool isAtomic = addsAtomically(splitLoop);
    storesSums = !isAtomic && !candidate.splitsInCluster;
    if (candidate.splitsInCluster)
      if (Refusal refusal = checkCluster())
        return refusal;
  }
  cacheGain = getCacheGain(cost.blocks);
  if (candidate.splitsInCluster)
    cacheGain *= std::pow(double(*candidate.split), -kUnsharedReads);
  programs = cost.blocks / clusterBlocks;
  Work work;
  visit(kernel.getBody().front(), work);
  cost.isPadded = isPadded;
  if (isPadded && candidate.splitsInCluster)
    return std::string("blocks of a cluster cannot divide padded rows");
  if (Refusal refusal = chooseMemory(work, cost))
    return refusal;
  work.loadsAhead = cost.loadsNextWork;
  addThreadWork(work);
  addTotals(work, 1, cost);
  cost.cacheBytes =
      cost.units[unsigned(CostUnit::Cache)] * rates.cacheBytes * programs;
  double memoryBytes = countMemoryBytes(programs);
  if (!facts.hasProducts)
    memoryBytes +=
        countMissedBytes(programs, double(cost.residentBlocks) / clusterBlocks);
  memoryShare = std::min(memoryBytes / std::max(cost.cacheBytes, 1.0), 1.0);
  cost.places = double(chip.processors) * cost.residentBlocks;
  if (candidate.splitsInCluster)
    cost.places =
        countClusterPlaces(chip, cost.residentBlocks, *candidate.split);
  double places = cost.places;
  double full = std::floor(cost.blocks / places);
  double left = candidate.streamK ? 0 : cost.blocks - full * places;
  double ends = facts.hasProducts ? kBlockCycles : kPlainBlockCycles;
  if (clusterBlocks > 1)
    ends += kClusterCycles;
  double each = cost.isPersistent || cost.loadsNextWork ? 0 : ends;
  auto timeOf = [&](double blocks) {
    return blocks == 0 ? 0 : each + getTime(work, int64_t(blocks), cost);
  };
  double compute = full * timeOf(cost.residentBlocks) +
                   timeOf(std::ceil(left / chip.processors)) + ends - each;
  if (candidate.streamK)
    compute += getSharedTime(work, cost);
  if (!facts.hasProducts)
    memoryBytes +=
        kCacheWaitShare * std::max(cost.cacheBytes - memoryBytes, 0.0);
  if (!facts.hasProducts && !cost.loadsNextWork) {
    double launch = cost.blocks / chip.processors * kBlockLaunchCycles;
    compute = std::max(compute, launch) + kLaunchShare * launch;
  }
  double share = facts.hasProducts ? kMemoryShare : kPlainMemoryShare;
  double overlap = facts.hasProducts ? kMemoryOverlap : kPlainMemoryOverlap;
  double memory =
      memoryBytes / (double(chip.processors) * rates.memoryBytes * share);
  if (hasNarrowAccesses())
    memory *= kNarrowAccessTime;
  if (!facts.hasProducts)
    memory *= getIdleFactor(work, cost);
  else
    memory =
        memory * getQueueFactor(work, cost) +
        kLastCopies * countStageBytes(work) / (rates.cacheBytes * cacheGain) +
        kLastStores * work.storedElements;
  cost.cycles = kLaunchCycles +
                std::pow(std::pow(compute, overlap) + std::pow(memory, overlap),
                         1 / overlap);
  if (storesSums && candidate.split)
    cost.cycles += getSumTime(tiles);
  double waves = std::ceil(cost.blocks / places);
  cost.waveEfficiency = cost.blocks / (waves * places);
  return std::nullopt;
}

CostModel::CostModel(KernelOp kernel, const Chip &chip,
                     const ProblemSizes &sizes)
    : kernel(kernel), chip(chip), sizes(sizes),
      facts(std::make_unique<ProgramFacts>(kernel)) {}

CostModel::~CostModel() = default;

Refusal CostModel::predict(const Candidate &candidate, Cost &cost) const {
  cost = {};
  return Predictor(kernel, chip, sizes, *facts, candidate).run(cost);
}
