//===- ArgumentTile.h - Tiles of a kernel's arguments -----------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_WARPROLES_ARGUMENTTILE_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_WARPROLES_ARGUMENTTILE_H

#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Support/Refusal.h"

namespace tile {

/// A tile as a TMA operation addresses it: it starts at `indices` of a kernel
/// argument and extends along its dimensions `dims`. If `start` is not null,
/// the index along the first of them is relative to `start`. If `length` is not
/// null, the rows [start, start + length) of the argument bound the tile. If
/// `table` is not null, it has the pages of the rows [0, length), along
/// dimension `pageDim`.
struct ArgumentTile {
  mlir::BlockArgument argument;
  llvm::SmallVector<mlir::Value> indices;
  llvm::SmallVector<int64_t> dims;
  mlir::Value start, length, table;
  int64_t pageDim = 0;

  bool isRagged() const { return bool(length); }
  /// Makes the indices of a tile that is not ragged relative to the argument.
  void addStart(mlir::OpBuilder &builder, mlir::Location loc);
};

/// Finds the kernel argument that `buffer` is a view of, through slices and at
/// most one tile.narrow or tile.paged of its rows. Sets `tile` to the tile of
/// that argument that starts at `indices` of `buffer`; it is not ragged if it
/// is known to lie within the view. Refuses a tile that TMA cannot move to
/// `dest`.
Refusal findArgumentTile(mlir::Value buffer, mlir::ValueRange indices,
                         BufferType dest, ArgumentTile &tile);

/// Returns the type of a shared buffer for `tile` that TMA can access, with the
/// widest swizzle whose size divides that of the rows; null if there is none.
BufferType findSwizzledTile(mlir::RankedTensorType tile);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_WARPROLES_ARGUMENTTILE_H
