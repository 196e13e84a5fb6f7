//===- DecomposeShapes.h - Parts and shapes in steps ------------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_DECOMPOSESHAPES_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_DECOMPOSESHAPES_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {
struct Chip;

/// Replaces operations on tiles without layouts for which tile-assign-layouts
/// would find no layout, or one with too many copies:
///
/// A tile.reshape that neither joins nor divides dimensions becomes two. Any
/// layout can be joined to one dimension, and some layout of the tile of one
/// dimension can be divided.
///
/// A tile.extract of a part that is too small for all threads becomes a
/// reduction of the elements of all parts, those of other parts set to zero.
/// Otherwise each thread would need registers for the whole tile.
void decomposeShapes(KernelOp kernel, const Chip &chip);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_DECOMPOSESHAPES_H
