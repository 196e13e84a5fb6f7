//===- IssueModel.h - Cycles of loops by unit -------------------*- C++ -*-===//
//
// A lower bound of the time of one iteration of a loop of a code object, from
// the rates of the chip's table. It assumes that other waves hide latencies,
// and that accesses of the LDS have no bank conflicts.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DRIVER_AMD_ISSUEMODEL_H
#define TILE_DRIVER_AMD_ISSUEMODEL_H

#include "tile/Driver/AMD/Loops.h"
#include "llvm/Support/JSON.h"
#include <cstdint>

namespace tile {

struct Chip;
struct KernelResources;

/// Cycles of one SIMD for one wave and one iteration, if all SIMDs of the
/// compute unit run the same loop.
struct LoopCycles {
  double matrix = 0, vector = 0, transcendental = 0, shared = 0;
  /// The units that cannot work at the same time are added, and the largest
  /// sum is the bound.
  double bound = 0;

  /// Returns the share of the bound in which the matrix unit works.
  double matrixShare() const { return bound == 0 ? 0 : matrix / bound; }
};

LoopCycles modelLoop(const AMDWork &loop, const Chip &chip);

/// Returns the waves of a kernel that one SIMD holds at once. Each block has
/// `blockWaves` waves, each wave `registers` vector registers, and each block
/// `sharedBytes` bytes of the LDS.
int64_t countWavesPerSIMD(const Chip &chip, int64_t registers,
                          int64_t blockWaves, int64_t sharedBytes);

/// Returns the members "loops" and "waves_per_simd" of a kernel's line of
/// `tile-translate --resources`.
llvm::json::Object describeLoops(const AMDKernelLoops &kernel,
                                 const KernelResources &resources,
                                 const Chip &chip);

} // namespace tile

#endif // TILE_DRIVER_AMD_ISSUEMODEL_H
