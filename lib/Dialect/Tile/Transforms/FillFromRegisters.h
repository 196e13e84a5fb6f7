//===- FillFromRegisters.h - Slots that registers fill ----------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_FILLFROMREGISTERS_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_FILLFROMREGISTERS_H

#include "tile/Chips/Chips.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Fills the slots of all rings of `kernel` without mbarriers through
/// registers: each asynchronous copy becomes a load where the copy stands and a
/// store right before the next slot is acquired or taken. The operations
/// between overlap with the load.
void fillFromRegisters(KernelOp kernel, const Chip &chip);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_FILLFROMREGISTERS_H
