//===- Patterns.h - Patterns of tile-vectorize ------------------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_PATTERNS_H
#define TILE_LIB_CONVERSION_TILETOGPU_PATTERNS_H

#include "mlir/Transforms/DialectConversion.h"
#include "tile/Target/Chips.h"

namespace tile {

/// load, store and copy.
void populateMemoryPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns,
                            const Chip &chip);

/// atomic_rmw.
void populateAtomicPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns,
                            const Chip &chip);

/// alloc, slice, dim, barriers and groups of asynchronous copies.
void populateBufferPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns,
                            const Chip &chip);

/// Everything that works on tiles in registers.
void populateComputePatterns(const mlir::TypeConverter &converter,
                             mlir::RewritePatternSet &patterns,
                             const Chip &chip);

/// What the copy engine does.
void populateBulkPatterns(const mlir::TypeConverter &converter,
                          mlir::RewritePatternSet &patterns, const Chip &chip);

/// Roles of warps, barriers in memory, and waiting for products.
void populateRolePatterns(const mlir::TypeConverter &converter,
                          mlir::RewritePatternSet &patterns, const Chip &chip);

/// Waiting for the kernel before and starting the one behind.
void populateLaunchPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns,
                            const Chip &chip);

/// What the copy engine adds to memory.
void populateBulkAddPatterns(const mlir::TypeConverter &converter,
                             mlir::RewritePatternSet &patterns,
                             const Chip &chip);

/// Products that read shared memory themselves, and their fences.
void populateWgmmaPatterns(const mlir::TypeConverter &converter,
                           mlir::RewritePatternSet &patterns);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_PATTERNS_H
