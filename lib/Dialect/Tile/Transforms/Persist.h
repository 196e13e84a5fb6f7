//===- Persist.h - Kernels that can be persistent ---------------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_PERSIST_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_PERSIST_H

#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Support/Refusal.h"

namespace tile {

/// Refuses a kernel whose grid cannot become a loop over works.
Refusal checkPersistence(KernelOp kernel);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_PERSIST_H
