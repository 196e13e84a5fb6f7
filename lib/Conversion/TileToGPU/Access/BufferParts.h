//===- BufferParts.h - The values that represent a buffer -------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_ACCESS_BUFFERPARTS_H
#define TILE_LIB_CONVERSION_TILETOGPU_ACCESS_BUFFERPARTS_H

#include "../Emitter.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// The pages of a buffer that is a view of pages (tile.paged).
struct PageParts {
  /// The number of pages.
  mlir::Value count;
  /// The memory of the table, the place of its first entry, and the distance
  /// between entries.
  mlir::Value table, offset, step;
  /// The distance between pages, in elements.
  mlir::Value stride;
};

/// The values that represent a buffer (see flattenBuffer), by name.
struct BufferParts {
  BufferParts(BufferType type, mlir::ValueRange parts);

  /// Returns the parts of a slice with another offset, which keeps the
  /// dimensions with kept[i].
  llvm::SmallVector<mlir::Value> slice(mlir::Value newOffset,
                                       llvm::ArrayRef<bool> kept) const;
  mlir::Value extent(Emitter &b, unsigned dim) const;
  /// Emits the part of the offset, in elements, from the coordinate `index` of
  /// dimension `dim`. If the layout is a map, `index` must not be negative.
  mlir::Value scale(Emitter &b, mlir::Value index, unsigned dim) const;
  /// Emits the part of the offset from a start along `dim`, if the layout is a
  /// map. The start must be a multiple of the period, which must be a power of
  /// two. The start may be negative.
  mlir::Value scaleStart(Emitter &b, mlir::Value start, unsigned dim) const;
  /// Emits `distance` times the storage stride of result `result` of a map, as
  /// an index.
  mlir::Value scaleResult(Emitter &b, mlir::Value distance,
                          unsigned result) const;

  BufferType type;
  mlir::Value memory, offset;
  /// The dynamic extents and strides, one per dimension; null if static.
  llvm::SmallVector<mlir::Value> extents, strides;
  /// Set if the buffer is a view of pages. The stride of dimension 0 is the
  /// distance between the rows of a page.
  std::optional<PageParts> pages;
};

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_ACCESS_BUFFERPARTS_H
