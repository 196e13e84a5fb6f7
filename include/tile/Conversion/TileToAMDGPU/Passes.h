//===- Passes.h - Conversion of tile_gpu to amdgpu and rocdl ----*- C++ -*-===//
#ifndef TILE_CONVERSION_TILETOAMDGPU_PASSES_H
#define TILE_CONVERSION_TILETOAMDGPU_PASSES_H

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Pass/Pass.h"
#include "tile/Chips/Chips.h"

namespace tile {

/// Adds patterns that convert gpu.barrier and the operations of the tile_gpu
/// dialect. The operations must have passed tile::gpu::verifyChip for an AMD
/// chip.
void populateTileToAMDGPUPatterns(mlir::RewritePatternSet &patterns);

/// Lowers the groups of copies to the LDS: waits for groups become waits for
/// the counter of vector memory operations. In functions with such waits, also
/// lowers gpu.barrier, without a wait for copies in flight.
void lowerCopyGroups(mlir::Operation *root);

/// Lets commutative operations on numbers of two lanes, as those of reductions,
/// use both results of a swap of lanes where `chip` has one. gpu.shuffle
/// operations without a use stay.
void combineSwaps(mlir::Operation *root, const Chip &chip);

/// Computes integers that depend on the number of the thread again behind loops
/// that do not use them, from instructions that need no register across the
/// loop.
void recomputeBehindLoops(mlir::Operation *root, const Chip &chip);

/// Gives a loop with products a copy without the branches that a condition
/// skips which is the same in all iterations and in all threads of a block.
void unswitchLoops(mlir::Operation *root);

/// Adds patterns that convert a gpu.shuffle xor by a constant if the vector
/// unit of `chip` can exchange these lanes without going through the LDS.
void populateShuffleToAMDGPUPatterns(mlir::RewritePatternSet &patterns,
                                     const Chip &chip);

#define GEN_PASS_DECL
#include "tile/Conversion/TileToAMDGPU/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "tile/Conversion/TileToAMDGPU/Passes.h.inc"

} // namespace tile

#endif // TILE_CONVERSION_TILETOAMDGPU_PASSES_H
