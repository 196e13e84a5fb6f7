//===- ArgumentTile.h - Tiles of a kernel's arguments -----------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_ARGUMENTTILE_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_ARGUMENTTILE_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// A tile as the copy engine names it: from `indices` of a kernel's argument
/// on, along its dimensions `dims`.
struct ArgumentTile {
  mlir::BlockArgument argument;
  llvm::SmallVector<mlir::Value> indices;
  llvm::SmallVector<int64_t> dims;
};

/// The tile of `buffer` from `indices` on, through the slices that `buffer` is
/// of an argument; says why not where it is none.
std::string findArgumentTile(mlir::Value buffer, mlir::ValueRange indices,
                             ArgumentTile &tile);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_ARGUMENTTILE_H
