//===- ReorderLoop.h - The order of a loop's operations ---------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULE_REORDERLOOP_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULE_REORDERLOOP_H

#include "LoopBody.h"

namespace tile {

/// Brings the nodes of a loop into an order that keeps dependences. Operations
/// on demand stand before their first user.
void reorderLoop(const LoopBody &body, llvm::ArrayRef<unsigned> order);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULE_REORDERLOOP_H
