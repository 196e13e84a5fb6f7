//===- IssueModel.cpp - Cycles of loops by unit ---------------------------===//

#include "tile/Driver/AMD/IssueModel.h"
#include "tile/Chips/Chips.h"
#include "tile/Driver/ResourceUsage.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace tile {

namespace {

/// Properties of a family of chips that Chips.h has no columns for. Sources:
/// the ISA guides of CDNA3, CDNA4, RDNA3 and RDNA4, and the white papers of
/// CDNA3 and RDNA.
struct Family {
  /// SIMDs that share an LDS, and the compute units that they belong to.
  int64_t simds, computeUnits;
  /// Registers and bytes of the LDS are allocated in multiples of these.
  int64_t registerGranule, sharedGranule;
  /// MMAs take the time of other vector instructions.
  bool matrixIsVector;
};

} // namespace

static constexpr Family cdna{4, 1, 8, 512, false}, rdna{4, 2, 24, 1024, true};

static const Family &getFamily(const Chip &chip) {
  return chip.warpSize == 64 ? cdna : rdna;
}

LoopCycles modelLoop(const AMDWork &loop, const Chip &chip) {
  const Family &family = getFamily(chip);
  const Throughput &rates = chip.throughput;
  // The columns are rates of a compute unit.
  double simds = double(family.simds) / family.computeUnits;
  auto cycles = [&](double work, double rate) {
    return rate == 0 ? 0 : work * simds / rate;
  };
  LoopCycles result;
  result.matrix = cycles(loop.matrix16, rates.matrix) +
                  cycles(loop.matrix32, rates.matrix32) +
                  cycles(loop.matrix8, rates.matrix8);
  // The rate of arithmetic counts packed and dual instructions.
  double results = rates.pairs == F32Pairs::None ? 1 : 2;
  result.vector = cycles(loop.count(AMDUnit::Vector) * chip.warpSize,
                         rates.arithmetic / results);
  result.transcendental = cycles(
      loop.count(AMDUnit::Transcendental) * chip.warpSize, rates.exponentials);
  // Each bank reads 4 bytes in a cycle.
  result.shared = cycles(loop.sharedReads * chip.warpSize, 4.0 * chip.banks) +
                  cycles(loop.sharedWrites * chip.warpSize, rates.sharedBytes);
  double vector = result.vector + result.transcendental;
  double compute = family.matrixIsVector ? result.matrix + vector
                                         : std::max(result.matrix, vector);
  result.bound = std::max(compute, result.shared);
  return result;
}

int64_t countWavesPerSIMD(const Chip &chip, int64_t registers,
                          int64_t blockWaves, int64_t sharedBytes) {
  const Family &family = getFamily(chip);
  const Throughput &rates = chip.throughput;
  int64_t lanes = chip.warpSize * family.simds / family.computeUnits;
  int64_t waves = rates.threads / lanes;
  if (registers > 0)
    waves = std::min<int64_t>(
        waves, rates.registers / lanes /
                   llvm::alignTo(registers, family.registerGranule));
  blockWaves = std::max<int64_t>(blockWaves, 1);
  // Blocks of the SIMDs that share an LDS. A block's waves are spread over
  // them.
  int64_t blocks = waves * family.simds / blockWaves;
  if (sharedBytes > 0)
    blocks = std::min<int64_t>(
        blocks, family.computeUnits * chip.sharedBytes /
                    int64_t(llvm::alignTo(sharedBytes, family.sharedGranule)));
  return std::min<int64_t>(waves,
                           llvm::divideCeil(blocks * blockWaves, family.simds));
}

static llvm::json::Object describeWork(const AMDWork &work, const Chip &chip) {
  llvm::json::Object counts;
  for (unsigned i = 0; i < kNumAMDUnits; ++i)
    counts[stringifyUnit(static_cast<AMDUnit>(i))] = work.instructions[i];
  LoopCycles cycles = modelLoop(work, chip);
  return llvm::json::Object{
      {"instructions", std::move(counts)},
      {"cycles", llvm::json::Object{{"matrix", cycles.matrix},
                                    {"vector", cycles.vector},
                                    {"transcendental", cycles.transcendental},
                                    {"shared", cycles.shared},
                                    {"bound", cycles.bound}}},
      {"matrix_share", cycles.matrixShare()}};
}

llvm::json::Object describeLoops(const AMDKernelLoops &kernel,
                                 const KernelResources &resources,
                                 const Chip &chip) {
  llvm::json::Array loops;
  for (const AMDLoop &loop : kernel.loops) {
    llvm::json::Object line = describeWork(loop.all, chip);
    line["offset"] = static_cast<int64_t>(loop.offset);
    line["matrix_operations"] =
        loop.all.matrix16 + loop.all.matrix32 + loop.all.matrix8;
    if (loop.all.instructions != loop.common.instructions)
      line["common"] = describeWork(loop.common, chip);
    loops.push_back(std::move(line));
  }
  llvm::json::Object result{{"loops", std::move(loops)}};
  if (resources.blockThreads && *resources.blockThreads > 0)
    result["waves_per_simd"] = countWavesPerSIMD(
        chip, resources.registers,
        llvm::divideCeil(*resources.blockThreads, chip.warpSize),
        resources.sharedBytes);
  return result;
}

} // namespace tile
