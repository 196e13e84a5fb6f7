//===- Passes.h - From tile_gpu to AMD's dialects ---------------*- C++ -*-===//
#ifndef TILE_CONVERSION_TILETOAMDGPU_PASSES_H
#define TILE_CONVERSION_TILETOAMDGPU_PASSES_H

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Pass/Pass.h"
#include "tile/Target/Chips.h"

namespace tile {

/// Patterns that convert the operations of the tile_gpu dialect, which must
/// have passed tile::gpu::verifyChip for `chip`, an AMD chip, and gpu.barrier.
void populateTileToAMDGPUPatterns(mlir::RewritePatternSet &patterns);

/// Patterns that convert gpu.shuffle xor by a constant where `chip` can
/// exchange the lanes without going through memory.
void populateShuffleToAMDGPUPatterns(mlir::RewritePatternSet &patterns,
                                     const Chip &chip);

#define GEN_PASS_DECL
#include "tile/Conversion/TileToAMDGPU/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "tile/Conversion/TileToAMDGPU/Passes.h.inc"

} // namespace tile

#endif // TILE_CONVERSION_TILETOAMDGPU_PASSES_H
