//===- FillFromRegisters.h - Slots that registers fill ----------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_COPIES_FILLFROMREGISTERS_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_COPIES_FILLFROMREGISTERS_H

#include "tile/Chips/Chips.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Fills slots of rings without mbarriers through registers, where the chip has
/// no instruction that copies to the layout of the slot: such an asynchronous
/// copy becomes a load where the copy stands and a store right before the next
/// slot is acquired or taken. The operations between overlap with the load.
/// Returns true if threads wait for groups of other asynchronous copies.
bool fillFromRegisters(KernelOp kernel, const Chip &chip);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_COPIES_FILLFROMREGISTERS_H
