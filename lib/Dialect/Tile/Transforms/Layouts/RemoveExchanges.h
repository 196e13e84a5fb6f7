//===- RemoveExchanges.h - Conversions that need no exchange ----*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_REMOVEEXCHANGES_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_REMOVEEXCHANGES_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Rewrites conversions of `kernel` that move elements between threads, where
/// threads can have the elements without it.
void removeExchanges(KernelOp kernel);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_REMOVEEXCHANGES_H
