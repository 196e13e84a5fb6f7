//===- AccessWidth.h - How wide may an access be ----------------*- C++ -*-===//
//
// One decision for every access of a distributed tile to a buffer: the widest
// group of registers that lies side by side in memory, for every thread, as
// far as the layouts of BOTH sides, the alignment of base and indices, the
// bounds and the target allow.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_ACCESSWIDTH_H
#define TILE_ANALYSIS_ACCESSWIDTH_H

#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Layout/Queries.h"

namespace tile {

/// The largest power of two (at most 2^20) that is known to divide an index.
int64_t knownDivisor(mlir::Value index);

/// True if an index is known to be at least zero.
bool isKnownNonNegative(mlir::Value index);

/// True if dimension `dim` of a tile of `extent` elements that starts at
/// `index` is known to lie within the extents of `buffer`.
bool isInBounds(BufferType buffer, mlir::Value index, unsigned dim,
                int64_t extent);

struct AccessWidth {
  /// Groups of registers, each one access.
  AccessGroups groups;
  /// Why the access is not wider; empty if the target is the limit.
  std::string limit;
};

/// The width of an access of a tile with the layout `dist` at `indices` of
/// `buffer`; at most `maxBytes`.
AccessWidth accessWidth(const Layout &dist, BufferType buffer,
                        mlir::ValueRange indices, int64_t maxBytes);

} // namespace tile

#endif // TILE_ANALYSIS_ACCESSWIDTH_H
