//===- RowWorks.h - Works of kernels without products -----------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_GRID_ROWWORKS_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_GRID_ROWWORKS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Chips/Chips.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Returns true if `kernel`, which has no products, is faster if each of its
/// blocks does one work after another.
bool paysAsWorks(KernelOp kernel, const Chip &chip);

/// Emits in front of the grid the number of blocks, or of clusters, that the
/// GPU of a launch runs at a time: in proportion to the multiprocessors of
/// `chip`.
mlir::Value countPlaces(KernelOp kernel, const Chip &chip);

/// Moves `loop`, the loop of `kernel` over its works, into the branches of an
/// scf.if in it that all works decide alike. If there is none, moves loads from
/// global memory that are the same in all works in front of it.
void hoistFromWorks(mlir::scf::ForOp loop, KernelOp kernel);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_GRID_ROWWORKS_H
