//===- TriangularInverse.h - Inverse of a triangular matrix -----*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_PROGRAM_TRIANGULARINVERSE_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_PROGRAM_TRIANGULARINVERSE_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Replaces a tile.unit_triangular_inverse by matrix products.
void expandTriangularInverse(UnitTriangularInverseOp inverse);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_PROGRAM_TRIANGULARINVERSE_H
