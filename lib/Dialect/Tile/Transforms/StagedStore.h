//===- StagedStore.h - Stores that TMA can do -------------------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_STAGEDSTORE_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_STAGEDSTORE_H

#include "ArgumentTile.h"

namespace tile {

/// A store of a tile in registers that TMA can do from a staging buffer.
struct StagedStore : ArgumentTile {
  StoreOp store;
  BufferType staging;
  /// Empty if one thread stores all.
  llvm::SmallVector<int64_t, 2> parts;
};

/// Returns true if `store` writes a tile in registers to global memory.
bool isStageCandidate(StoreOp store);

/// Plans a store by TMA, or refuses it.
Refusal planStagedStore(StoreOp store, StagedStore &planned);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_STAGEDSTORE_H
