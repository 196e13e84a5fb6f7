//===- BulkCopy.h - Barriers and the copy engine to NVVM --------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETONVGPU_BULKCOPY_H
#define TILE_LIB_CONVERSION_TILETONVGPU_BULKCOPY_H

#include "mlir/IR/PatternMatch.h"

namespace tile {

/// Barriers in memory, copies by the copy engine, and what roles need.
void populateBulkCopyToNVVMPatterns(mlir::RewritePatternSet &patterns);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVGPU_BULKCOPY_H
