//===- SplitLoop.cpp - The cost of sums of several blocks -----------------===//
//
// Blocks that share the iterations of a loop store their sums, and another
// kernel adds these (tile-split-reduction). Sums are of f32 or i32.
//
//===----------------------------------------------------------------------===//

#include "Predictor.h"
#include "tile/Analysis/SplitReduction.h"
#include <cmath>

using namespace mlir;
using namespace tile;

/// Cycles from the end of the blocks to that of the kernel that adds their
/// sums, and those for each sum, without those of its reads.
static constexpr double kSumCycles = 5200, kPartCycles = 30;

/// Cycles of the two barriers of a cluster that exchanges sums, which wait for
/// the slowest of its blocks: those of a block, and those for each block. The
/// bytes that a multiprocessor reads in a cycle from the shared memory of
/// others.
static constexpr double kClusterSumCycles = 500, kClusterBlockCycles = 800;
static constexpr double kClusterBytes = 20;

/// Refuses clusters whose blocks cannot divide the rows of the sums.
Refusal Predictor::checkCluster() {
  RowwiseEpilogue epilogue;
  if (Refusal refusal = findRowwiseEpilogue(splitLoop, epilogue))
    return refusal;
  int64_t rows = getShape(splitLoop.getResult(0).getType())[0];
  return checkClusterSplit(chip, *candidate.split, rows);
}

/// Adds the exchange of the sums in a cluster.
void Predictor::exchangeSums(Work &work) {
  for (Type result : splitLoop.getResultTypes()) {
    double bytes = countElements(result) * sizeof(float);
    at(work.units, CostUnit::Serial) +=
        kClusterSumCycles + kClusterBlockCycles * double(*candidate.split) +
        bytes / rates.sharedBytes + bytes / kClusterBytes;
    exchangedSumBytes = std::max<int64_t>(exchangedSumBytes, bytes);
  }
}

/// Adds the stores of the sums.
void Predictor::storeSums(Work &work) {
  for (Value result : splitLoop.getResults()) {
    double elements = countElements(result.getType());
    double bytes = elements * sizeof(float);
    at(work.units, CostUnit::Cache) += bytes / rates.cacheBytes;
    at(work.units, CostUnit::Serial) +=
        2 * bytes / rates.sharedBytes + bytes / rates.cacheBytes;
    work.storedElements += elements;
    addStaging(result.getType(), 32);
  }
}

/// Returns the cycles of the kernel that adds the sums. It has `blocks` blocks.
double Predictor::getSumTime(double blocks) const {
  double bytes = 0;
  for (Value result : scf::ForOp(splitLoop).getResults())
    bytes += countElements(result.getType()) * sizeof(float);
  double each = std::ceil(blocks / chip.processors);
  double rate = rates.cacheBytes * getCacheGain(blocks);
  return kSumCycles + *candidate.split * (kPartCycles + each * bytes / rate);
}

/// Returns the cycles in which the blocks share the iterations of the tiles
/// that are left over, and those of the kernel that adds the sums.
double Predictor::getSharedTime(const Work &work, const Cost &cost) const {
  StreamKPlan plan(grid[0] * grid[1] * grid[2], *candidate.streamK);
  Work share = work;
  share.loops[splitLoopNumber].iterations *=
      double(plan.left) / *candidate.streamK;
  double elements = 0;
  for (Value result : scf::ForOp(splitLoop).getResults())
    elements += countElements(result.getType());
  double parts =
      plan.rests == 0 ? 1 : std::ceil(double(plan.left) / plan.rests) + 1;
  double bytes = elements * sizeof(float);
  double store = elements * kElementStoreCycles + bytes / rates.cacheBytes;
  double cycles = getTime(share, cost.residentBlocks, cost) +
                  cost.residentBlocks * parts * store;
  if (!storesSums)
    return cycles;
  double sums = plan.left + *candidate.streamK;
  return cycles + kSumCycles +
         sums * bytes / (chip.processors * rates.cacheBytes);
}
