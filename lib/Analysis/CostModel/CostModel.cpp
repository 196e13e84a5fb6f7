//===- CostModel.cpp - Predicted time of a tile program -------------------===//

#include "tile/Analysis/CostModel.h"
#include "Predictor.h"
#include "tile/Analysis/SplitReduction.h"
#include <cmath>

using namespace mlir;
using namespace tile;

/// The exponent of the p-norm that adds the cycles of units. It is fitted, with
/// the constants below, to forward kernels of attention and to matrix products
/// on an H200 (docs/notes/cost-model.md).
static constexpr double kOverlap = 7;

/// Cycles from the issue of a copy from global memory to its arrival.
static constexpr double kCopyLatency = 700;

/// Bytes a clock that one multiprocessor can receive from the second-level
/// cache if others leave the cache idle.
static constexpr double kPortBytes = 64;

/// The share of the rate of global memory that kernels reach, and the exponent
/// of the p-norm of its cycles and those of the blocks.
static constexpr double kMemoryShare = 0.65, kMemoryOverlap = 4;

/// Cycles in which a block with roles writes an element of a tile to global
/// memory if the tile does not leave through shared memory.
static constexpr double kElementStoreCycles = 0.5;

/// Registers of addresses, counters and masks in a loop that is rotated.
static constexpr int64_t kRotationRegisters = 32;

/// Cycles of the start and the end of a block, and of the launch.
static constexpr double kBlockCycles = 1000, kLaunchCycles = 8500;

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

/// Returns the cycles of `work` if `blocks` blocks run on a multiprocessor.
double Predictor::getTime(const Work &work, int64_t blocks,
                          const Cost &cost) const {
  double sum = 0;
  auto add = [&](double cycles) { sum += std::pow(cycles, kOverlap); };
  double cache = work.units[unsigned(CostUnit::Cache)] / cacheGain;
  add(cache * blocks);
  for (unsigned unit = 0; unit < kCostUnits; ++unit)
    if (CostUnit(unit) != CostUnit::Serial && CostUnit(unit) != CostUnit::Cache)
      add(work.units[unit] * blocks);
  double serial = work.units[unsigned(CostUnit::Serial)];
  if (work.copiedBytes > 0) {
    double copy = kCopyLatency + cache;
    // Without stages, the threads wait for each copy.
    if (cost.stages > 1)
      add(copy / (cost.stages - 1));
    else
      serial += copy;
  }
  if (cost.hasRoles && !cost.stagesStores)
    serial += work.storedElements * kElementStoreCycles;
  // tile-schedule starts the products of the next iteration before it computes
  // on those of this one, if there are registers for the tile in between.
  bool isRotated =
      cost.hasRoles && groups >= 2 && work.chainedRegisters > 0 &&
      cost.tileRegisters + work.chainedRegisters + kRotationRegisters <=
          cost.registerLimit;
  if (isRotated) {
    add(work.serialProducts);
    serial -= work.serialProducts;
  }
  add(serial);
  double time = std::pow(sum, 1 / kOverlap);
  for (const Work &loop : work.loops)
    time += getTime(loop, blocks, cost);
  return time * work.iterations;
}

void Predictor::addTotals(const Work &work, double times, Cost &cost) const {
  times *= work.iterations;
  for (unsigned unit = 0; unit < kCostUnits; ++unit)
    cost.units[unit] += times * work.units[unit];
  for (const Work &loop : work.loops)
    addTotals(loop, times, cost);
}

Refusal Predictor::run(Cost &cost) {
  GridOp launch = kernel.getGrid();
  for (auto [axis, extent] : llvm::enumerate(launch->getOperands()))
    grid[axis] = std::max(evaluate(extent), 1.0);
  // Other numbers depend on the grid.
  double tiles = grid[0] * grid[1] * grid[2];
  cost.blocks = tiles * candidate.split.value_or(1);
  if (candidate.split.value_or(1) > 1)
    if (Refusal refusal = findSplitLoop(kernel, splitLoop))
      return refusal;
  cacheGain = getCacheGain(cost.blocks);
  Work work;
  visit(kernel.getBody().front(), work);
  cost.isPadded = isPadded;
  if (Refusal refusal = chooseMemory(cost))
    return refusal;
  addTotals(work, 1, cost);
  cost.cacheBytes =
      cost.units[unsigned(CostUnit::Cache)] * rates.cacheBytes * cost.blocks;
  double places = double(chip.processors) * cost.residentBlocks;
  double full = std::floor(cost.blocks / places);
  double left = cost.blocks - full * places;
  auto timeOf = [&](double blocks) {
    return blocks == 0 ? 0
                       : kBlockCycles + getTime(work, int64_t(blocks), cost);
  };
  double compute = full * timeOf(cost.residentBlocks) +
                   timeOf(std::ceil(left / chip.processors));
  double memory = countMemoryBytes(cost.blocks) /
                  (double(chip.processors) * rates.memoryBytes * kMemoryShare);
  cost.cycles = kLaunchCycles + std::pow(std::pow(compute, kMemoryOverlap) +
                                             std::pow(memory, kMemoryOverlap),
                                         1 / kMemoryOverlap);
  if (splitLoop)
    cost.cycles += getSumTime(tiles);
  double waves = std::ceil(cost.blocks / places);
  cost.waveEfficiency = cost.blocks / (waves * places);
  return std::nullopt;
}

Refusal tile::predictCost(KernelOp kernel, const Chip &chip,
                          const ProblemSizes &sizes, const Candidate &candidate,
                          Cost &cost) {
  cost = {};
  return Predictor(kernel, chip, sizes, candidate).run(cost);
}
