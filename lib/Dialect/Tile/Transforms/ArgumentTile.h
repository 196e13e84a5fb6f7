//===- ArgumentTile.h - Tiles of a kernel's arguments -----------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_ARGUMENTTILE_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_ARGUMENTTILE_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// A tile as the copy engine names it: from `indices` of a kernel's argument
/// on, along its dimensions `dims`. With `start`, its rows are within `length`
/// of the argument's from there on, and its first index counts from there.
struct ArgumentTile {
  mlir::BlockArgument argument;
  llvm::SmallVector<mlir::Value> indices;
  llvm::SmallVector<int64_t> dims;
  mlir::Value start, length;

  bool isRagged() const { return bool(start); }
};

/// The tile of `buffer` from `indices` on, through the slices and the one part
/// of its rows that `buffer` is of an argument, as the copy engine can bring it
/// to `dest`; says why not where it cannot.
std::string findArgumentTile(mlir::Value buffer, mlir::ValueRange indices,
                             BufferType dest, ArgumentTile &tile);

/// A tile in shared memory with the widest swizzle that its rows are whole
/// multiples of, as the copy engine takes it; null if there is none.
BufferType findSwizzledTile(mlir::RankedTensorType tile);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_ARGUMENTTILE_H
