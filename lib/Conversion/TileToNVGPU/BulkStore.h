//===- BulkStore.h - The copy engine out of shared memory ----- -*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETONVGPU_BULKSTORE_H
#define TILE_LIB_CONVERSION_TILETONVGPU_BULKSTORE_H

#include "mlir/IR/PatternMatch.h"

namespace tile {

/// Stores and reductions by the copy engine, what waits for them, the lane that
/// starts them, and hints of what it will need.
void populateBulkStoreToNVVMPatterns(mlir::RewritePatternSet &patterns);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVGPU_BULKSTORE_H
