//===- WarpExchange.h - Results of all warps --------------------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_REDUCTIONS_WARPEXCHANGE_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_REDUCTIONS_WARPEXCHANGE_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Returns the number of warps that share the dimension `dim` of `tile`; 1 if
/// the tile has no layout.
int64_t countWarps(mlir::RankedTensorType tile, int64_t dim);

/// Returns the type of the tile with the results of all warps for `reduce`, a
/// reduction over several warps: an element for each warp along the dimension
/// of the reduction. Lanes with the same elements of the result divide the
/// results of the warps where that is faster.
mlir::RankedTensorType getExchangedType(ReduceOp reduce);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_REDUCTIONS_WARPEXCHANGE_H
