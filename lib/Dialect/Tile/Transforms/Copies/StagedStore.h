//===- StagedStore.h - Stores that TMA can do -------------------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_COPIES_STAGEDSTORE_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_COPIES_STAGEDSTORE_H

#include "../WarpRoles/ArgumentTile.h"

namespace tile {

/// A store of a tile in registers that TMA can do from a staging buffer.
struct StagedStore : ArgumentTile {
  StoreOp store;
  /// What TMA stores at once: the tile, or a part with all rows and some of the
  /// columns, or some of the rows and all columns.
  mlir::RankedTensorType part;
  /// The buffer for a part.
  BufferType staging;
  /// The grid of boxes of the warps in a part. Empty if one thread stores all.
  llvm::SmallVector<int64_t, 2> boxes;

  int64_t countParts() const;
  /// Returns the buffers for parts, which take turns.
  int64_t countBuffers() const { return countParts() == 1 ? 1 : 2; }
};

/// Returns true if `store` writes a tile in registers to global memory.
bool isStageCandidate(StoreOp store);

/// Returns true if `store` stands in the second branch of a condition. Such
/// stores get the shared memory that others leave: for them, no ring has fewer
/// stages, and a multiprocessor no fewer blocks.
bool isSecondary(StoreOp store);

/// Plans a store by TMA, or refuses it. With `inParts`, a tile that is wider
/// than two requests of TMA is divided: into parts as wide as a request, or
/// into whole rows with as many elements. No thread exchanges elements for
/// that.
Refusal planStagedStore(StoreOp store, bool inParts, StagedStore &planned);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_COPIES_STAGEDSTORE_H
