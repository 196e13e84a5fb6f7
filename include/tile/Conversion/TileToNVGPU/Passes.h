//===- Passes.h - Conversion of tile_gpu to nvgpu and nvvm ------*- C++ -*-===//
#ifndef TILE_CONVERSION_TILETONVGPU_PASSES_H
#define TILE_CONVERSION_TILETONVGPU_PASSES_H

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

namespace tile {

/// Adds patterns that convert the operations of the tile_gpu dialect, except
/// for tile_gpu.thread and tile_gpu.wgmma: tile-to-nvgpu converts the former
/// once for a function and the latter in runs. The operations must have passed
/// tile::gpu::verifyChip for an NVIDIA chip.
void populateTileToNVGPUPatterns(mlir::RewritePatternSet &patterns);

#define GEN_PASS_DECL
#include "tile/Conversion/TileToNVGPU/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "tile/Conversion/TileToNVGPU/Passes.h.inc"

} // namespace tile

#endif // TILE_CONVERSION_TILETONVGPU_PASSES_H
