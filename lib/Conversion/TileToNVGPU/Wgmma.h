//===- Wgmma.h - Products of four warps to NVVM -----------------*- C++ -*-===//

#ifndef TILE_LIB_CONVERSION_TILETONVGPU_WGMMA_H
#define TILE_LIB_CONVERSION_TILETONVGPU_WGMMA_H

#include "mlir/IR/PatternMatch.h"

namespace tile {

/// Computes descriptors that a loop does not change beside the products that
/// read them, one addition each, where the loop reads more of them than uniform
/// registers hold, or in a kernel that saves registers. Passes before move them
/// out of loops.
void placeMatrixDescriptors(mlir::Operation *root);

/// wgmma, its descriptors, fences and waits.
void populateWgmmaToNVVMPatterns(mlir::RewritePatternSet &patterns);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVGPU_WGMMA_H
