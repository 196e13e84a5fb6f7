//===- Patterns.h - Patterns of tile-vectorize ------------------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_PATTERNS_H
#define TILE_LIB_CONVERSION_TILETOGPU_PATTERNS_H

#include "mlir/Transforms/DialectConversion.h"
#include "tile/Chips/Chips.h"

namespace tile {
class PendingProducts;
struct RoleContext;

/// Adds patterns for load, store and copy.
void populateMemoryPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns,
                            const Chip &chip);

/// Adds patterns for atomic_rmw.
void populateAtomicPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns,
                            const Chip &chip);

/// Adds patterns for alloc, slice, dim, barriers and groups of asynchronous
/// copies.
void populateBufferPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns,
                            const Chip &chip);

/// Adds patterns for operations on tiles in registers.
void populateComputePatterns(const mlir::TypeConverter &converter,
                             mlir::RewritePatternSet &patterns,
                             const Chip &chip);

/// Adds patterns for TMA operations with tensor maps. The patterns refer to
/// `roles`.
void populateTensorMapPatterns(const mlir::TypeConverter &converter,
                               mlir::RewritePatternSet &patterns,
                               const Chip &chip, const RoleContext &roles);

/// Adds patterns for warp roles, mbarriers, and waits for MMAs. The patterns
/// refer to `products` and `roles`.
void populateRolePatterns(const mlir::TypeConverter &converter,
                          mlir::RewritePatternSet &patterns, const Chip &chip,
                          const PendingProducts &products,
                          const RoleContext &roles);

/// Adds patterns for dependent kernel launches.
void populateLaunchPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns,
                            const Chip &chip);

/// Adds patterns for bulk reductions without tensor maps (bulk_add).
void populateBulkAddPatterns(const mlir::TypeConverter &converter,
                             mlir::RewritePatternSet &patterns,
                             const Chip &chip);

/// Adds patterns for wgmma and its fences.
void populateWgmmaPatterns(const mlir::TypeConverter &converter,
                           mlir::RewritePatternSet &patterns);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_PATTERNS_H
