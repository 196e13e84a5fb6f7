//===- OverlapWorks.h - Works of a persistent kernel overlap ----*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_GRID_OVERLAPWORKS_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_GRID_OVERLAPWORKS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Support/Refusal.h"

namespace tile {

/// Rotates `loop`, the loop of `kernel` over its works, so that the products at
/// the end of a work run beside the first product of the next one.
/// `coordinates` are the values in the loop by which works differ. The loop has
/// at least one iteration. Refuses a loop without such products, or whose works
/// end with operations that cannot move.
Refusal overlapWorks(KernelOp kernel, mlir::scf::ForOp loop,
                     mlir::ValueRange coordinates);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_GRID_OVERLAPWORKS_H
