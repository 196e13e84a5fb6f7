//===- LoopCosts.h - The cycles and registers of a loop ---------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULE_LOOPCOSTS_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULE_LOOPCOSTS_H

#include "LoopBody.h"
#include "tile/Analysis/LoopSchedule.h"
#include "tile/Chips/Chips.h"

namespace tile {

/// Builds the graph of a loop: the nodes of `body` with the cycles that they
/// take on `chip`, their dependences, and the registers of their values.
/// Synchronous products are nodes like others. Refuses a loop with a product
/// that no instruction of the chip computes.
Refusal buildLoopGraph(const LoopBody &body, KernelOp kernel, const Chip &chip,
                       LoopGraph &graph);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULE_LOOPCOSTS_H
