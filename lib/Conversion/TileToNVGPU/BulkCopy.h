//===- BulkCopy.h - mbarriers and TMA copies to NVVM ------------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETONVGPU_BULKCOPY_H
#define TILE_LIB_CONVERSION_TILETONVGPU_BULKCOPY_H

#include "mlir/IR/PatternMatch.h"

namespace tile {

/// Adds patterns for mbarriers, TMA copies, and the operations of warp roles.
void populateBulkCopyToNVVMPatterns(mlir::RewritePatternSet &patterns);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVGPU_BULKCOPY_H
