//===- BufferParts.h - A buffer as values --------------------- -*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_BUFFERPARTS_H
#define TILE_LIB_CONVERSION_TILETOGPU_BUFFERPARTS_H

#include "mlir/IR/Builders.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// The parts of a buffer (see flattenBuffer), by name.
struct BufferParts {
  BufferParts(BufferType type, mlir::ValueRange parts);

  /// The parts again, with another offset, keeping the dimensions in `kept`.
  llvm::SmallVector<mlir::Value> slice(mlir::Value newOffset,
                                       llvm::ArrayRef<bool> kept) const;
  mlir::Value extent(mlir::OpBuilder &builder, mlir::Location loc,
                     unsigned dim) const;
  /// What the coordinate `index` of dimension `dim` adds to the offset. Where
  /// the layout is a map, `index` must be non-negative.
  mlir::Value scale(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value index, unsigned dim) const;
  /// What a start adds to the offset of a map that is a multiple of its period,
  /// a power of two. The start may be negative.
  mlir::Value scaleStart(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value start, unsigned dim) const;
  /// distance * stride of result `result` of a map, an index.
  mlir::Value scaleResult(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value distance, unsigned result) const;

  BufferType type;
  mlir::Value memory, offset;
  /// Per dimension; null where static.
  llvm::SmallVector<mlir::Value> extents, strides;
};

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_BUFFERPARTS_H
