//===- Partition.h - How blocks share iterations ----------------*- C++ -*-===//
//
// Divides the iterations of a kernel's loop, which only adds up tiles, among
// the blocks of a launch (EqualParts.cpp, StreamK.cpp). A tile here is what a
// block of the original kernel computes.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_GRID_PARTITION_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_GRID_PARTITION_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include <array>
#include <memory>

namespace tile {

/// The extents of a grid, or the coordinates of a block in it.
using GridValues = std::array<mlir::Value, 3>;

/// The part of a tile that a block of the first kernel computes.
struct Part {
  /// The coordinates of the tile in the original grid.
  GridValues tile;
  /// The first of its iterations and the end of these, in equal parts of the
  /// iterations of the tile (Partition::countUnits).
  mlir::Value begin, end;
  /// The number of its sum.
  mlir::Value number;
  /// Whether it has all iterations of the tile; null if no block does. If some
  /// do, parts may be empty: begin >= end.
  mlir::Value isWhole;
};

/// The rows of a tile that a block of the second kernel computes.
struct Piece {
  /// The coordinates of the tile in the original grid.
  GridValues tile;
  /// The number of the tile among those of the second kernel.
  mlir::Value number;
  /// The number of the piece in its tile.
  mlir::Value piece;
};

class Partition {
public:
  virtual ~Partition() = default;

  /// Returns the number of equal parts of the iterations of a tile, in which
  /// `Part` counts.
  virtual int64_t countUnits() const = 0;
  /// Returns the number of sums that all blocks store. `grid` has the extents
  /// of the original launch.
  virtual mlir::Value countSums(mlir::ImplicitLocOpBuilder &b,
                                const GridValues &grid) const = 0;
  /// Replaces the extents `grid` of a launch by those of the first kernel.
  virtual Part dividePart(mlir::ImplicitLocOpBuilder &b,
                          GridValues &grid) const = 0;
  /// Replaces the extents `grid` of a launch by those of the second kernel,
  /// with `pieces` blocks for each tile.
  virtual Piece dividePiece(mlir::ImplicitLocOpBuilder &b, GridValues &grid,
                            int64_t pieces) const = 0;
  /// Adds the sums of the parts of a tile in their order, behind `first` unless
  /// it is null. `load` returns the sum with a number.
  /// `grid` has the extents of the original launch.
  virtual mlir::Value
  addParts(mlir::ImplicitLocOpBuilder &b, const GridValues &grid,
           const Piece &piece, mlir::Value first,
           llvm::function_ref<mlir::Value(mlir::Value)> load) const = 0;
};

/// `parts` blocks have equal parts of each tile.
std::unique_ptr<Partition> createEqualParts(int64_t parts);
/// Each of `blocks` blocks has the same number of whole tiles, and they share
/// the iterations of the tiles that are left equally (stream-K).
std::unique_ptr<Partition> createStreamK(int64_t blocks);

/// Adds two tiles of floating-point numbers or of integers.
mlir::Value addTiles(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                     mlir::Value y);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_GRID_PARTITION_H
