//===- Wgmma.h - wgmma to NVVM ----------------------------------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETONVGPU_WGMMA_H
#define TILE_LIB_CONVERSION_TILETONVGPU_WGMMA_H

#include "mlir/IR/PatternMatch.h"

namespace tile {

/// Moves loop-invariant matrix descriptors, which earlier passes have hoisted,
/// back to the MMAs that read them, where each costs one addition, or to the
/// front of the loop. This is done for loops that read more descriptors than
/// uniform registers hold, and for all loops of a kernel whose schedule has
/// `save_registers`.
void placeMatrixDescriptors(mlir::Operation *root);

/// Replaces wgmmas by inline assembly, one for those that follow each other
/// without another effect between them.
void lowerWgmmas(mlir::Operation *root);

/// Adds patterns for matrix descriptors, and for the fences and waits of wgmma.
void populateWgmmaToNVVMPatterns(mlir::RewritePatternSet &patterns);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVGPU_WGMMA_H
