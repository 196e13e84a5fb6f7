//===- TransposedCopies.h - Tiles in shared memory in both orders -*- C++ -*-=//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_TRANSPOSEDCOPIES_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_TRANSPOSEDCOPIES_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Loads tiles to shared memory a second time, in the other order of
/// dimensions, if products in a loop read single elements of less than a
/// register, and the second tile leaves room for as many blocks as before.
void addTransposedCopies(KernelOp kernel, const Chip &chip);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_TRANSPOSEDCOPIES_H
