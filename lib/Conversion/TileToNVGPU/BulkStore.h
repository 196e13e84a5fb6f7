//===- BulkStore.h - TMA stores and reductions to NVVM ----------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETONVGPU_BULKSTORE_H
#define TILE_LIB_CONVERSION_TILETONVGPU_BULKSTORE_H

#include "mlir/IR/PatternMatch.h"

namespace tile {

/// Adds patterns for TMA stores and reductions, their waits, the election of
/// the lane that issues them, and prefetches.
void populateBulkStoreToNVVMPatterns(mlir::RewritePatternSet &patterns);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVGPU_BULKSTORE_H
