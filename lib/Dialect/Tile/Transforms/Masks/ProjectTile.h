//===- ProjectTile.h - Tiles that vary along one dimension ------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_MASKS_PROJECTTILE_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_MASKS_PROJECTTILE_H

#include "CoordinateSum.h"

namespace tile {

/// Computes a tile again for the elements along one dimension, or for one
/// element, if the others are the same. `parent` is the type of a tile of two
/// dimensions with a layout.
class TileProjection {
public:
  explicit TileProjection(mlir::RankedTensorType parent) : parent(parent) {}

  /// Returns the dimensions of `parent` along which the elements of `value` may
  /// differ, one bit for each.
  unsigned getVariance(mlir::Value value, const TileDims &dims,
                       unsigned depth = 16);
  /// Returns true if `project` succeeds with the elements along `dim`, or with
  /// a scalar if `dim` is std::nullopt.
  bool canProject(mlir::Value value, const TileDims &dims,
                  std::optional<unsigned> dim, unsigned depth = 8);
  mlir::Value project(mlir::OpBuilder &builder, mlir::Value value,
                      const TileDims &dims, std::optional<unsigned> dim);
  /// Returns the type of the elements along `dim`, in the layout that
  /// tile.broadcast needs.
  mlir::RankedTensorType getRowType(unsigned dim, mlir::Type element);

private:
  mlir::RankedTensorType parent;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, unsigned> variances;
};

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_MASKS_PROJECTTILE_H
