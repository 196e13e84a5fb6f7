//===- Wgmma.h - Products of four warps to NVVM -----------------*- C++ -*-===//

#ifndef TILE_LIB_CONVERSION_TILETONVGPU_WGMMA_H
#define TILE_LIB_CONVERSION_TILETONVGPU_WGMMA_H

#include "mlir/IR/PatternMatch.h"

namespace tile {

/// wgmma, its descriptors, fences and waits.
void populateWgmmaToNVVMPatterns(mlir::RewritePatternSet &patterns);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVGPU_WGMMA_H
