//===- AccessLayouts.h - Layouts for accesses of memory ---------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_ACCESSLAYOUTS_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_ACCESSLAYOUTS_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Layouts in which neighbouring threads of a kernel access neighbouring
/// elements of memory.
class AccessLayouts {
public:
  AccessLayouts(KernelOp kernel, const Chip &chip)
      : numWarps(kernel.getNumWarps()), chip(chip) {}

  /// Returns the layout of a tile that no other layout has reached, by the
  /// buffers that it is read from and written to.
  LayoutAttrInterface getLayout(mlir::Value value) const;
  /// Returns a layout with neighbouring threads at neighbouring offsets of
  /// `buffer`, as many bytes each as an access has.
  LayoutAttrInterface getCoalesced(BufferType buffer,
                                   mlir::RankedTensorType type) const;
  /// Returns a layout with neighbouring threads along the last dimension, each
  /// with 16 bytes of its elements, or of elements of `bits` bits.
  LayoutAttrInterface getDefault(mlir::RankedTensorType type) const {
    return getDefault(type, type.getElementTypeBitWidth());
  }
  LayoutAttrInterface getDefault(mlir::RankedTensorType type,
                                 int64_t bits) const;
  /// Returns the layout in which the tile of `store` is exchanged through
  /// shared memory first, because in its own one an access of a warp touches
  /// several times the segments of memory that would hold its elements: the
  /// tile was transposed, for example. Returns null if the store should stay as
  /// it is. Beside products, shared memory has no room to spare; behind their
  /// loops, it has that of their operands.
  LayoutAttrInterface getExchanged(StoreOp store, bool hasProducts) const;

private:
  /// Returns a layout for a tile that is read from or written to a permuted
  /// buffer, in which no dimension is contiguous; null for other tiles.
  LayoutAttrInterface getPermuted(mlir::Value value) const;
  /// Returns a layout with neighbouring threads along the last dimension. Each
  /// has neighbouring elements that it loads, and stores, by one access: where
  /// the buffers allow less than 16 bytes, a thread with 16 bytes would have
  /// several accesses, each at a distance from those of its neighbours.
  LayoutAttrInterface getRows(mlir::Value value) const;

  int64_t numWarps;
  const Chip &chip;
};

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_ACCESSLAYOUTS_H
