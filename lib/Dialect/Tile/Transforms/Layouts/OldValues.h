//===- OldValues.h - Old values of atomic operations ------------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_OLDVALUES_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_OLDVALUES_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {
struct Chip;

/// Grows tiles without layouts whose old values an atomic operation returns,
/// and which are too small for all warps: one thread gets the old value of an
/// element, and the other warps need it, too. The elements that are added are
/// outside of the buffer. Of the grown tile, a tile.extract takes the old
/// values, which brings them to all warps. Results that nothing uses are
/// removed.
void growOldValues(KernelOp kernel, const Chip &chip);

/// Returns true if several warps hold copies of the elements of `tile`, a tile
/// with a layout.
bool isSharedByWarps(mlir::RankedTensorType tile);

/// Returns a layout with one element in a thread, or as few as there can be: a
/// tile has no copies in other warps if some layout has none.
LayoutAttrInterface getOldValueLayout(mlir::RankedTensorType tile,
                                      int64_t lanes, int64_t warps);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_OLDVALUES_H
