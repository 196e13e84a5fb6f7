//===- SharedPlacement.h - Tiles that go through shared memory --*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_SHAREDPLACEMENT_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_SHAREDPLACEMENT_H

#include "MmaChoice.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace tile {

/// The instructions of the products of a kernel.
using ProductLayouts = llvm::MapVector<DotOp, MmaAttr>;
/// The layouts that tile-assign-layouts has chosen so far.
using TileLayouts = llvm::MapVector<mlir::Value, LayoutAttrInterface>;

/// Chooses the tiles that are loaded to shared memory, and their layouts there.
class SharedPlacement {
public:
  SharedPlacement(KernelOp kernel, const Chip &chip,
                  const ProductLayouts &products)
      : kernel(kernel), chip(chip), products(products) {}

  /// Returns the layout of a tile in shared memory: swizzled or padded, so that
  /// fragments are read without bank conflicts. `fastDim` is the dimension that
  /// the fragments contract; `readers` read the tile as operand b.
  LayoutAttrInterface chooseLayout(mlir::RankedTensorType type, int64_t fastDim,
                                   llvm::ArrayRef<DotOp> readers);

  /// Places tiles that are loaded from global memory and read by products, and
  /// their transposed views. Other operations may read such a tile, too, in a
  /// loop whose copies run ahead. Adds the layouts to `layouts`.
  void placeOperands(TileLayouts &layouts);

  /// Places tiles of one or two dimensions that a loop reads, and of which
  /// threads would hold copies, if the chip copies asynchronously. Each element
  /// is then read once and ahead of its use. Does so with `sources`, too, which
  /// threads would read in the layout of fragments. Replaces their layouts in
  /// `layouts`.
  void placeRepeated(TileLayouts &layouts,
                     const llvm::DenseSet<LoadOp> &sources);

private:
  /// An operand of a product that is a view of a tile, and whether the view
  /// swaps the dimensions of the tile.
  struct OperandRead {
    mlir::OpOperand *use;
    bool isSwapped;
  };

  llvm::FailureOr<Layout> getFragment(const OperandRead &read);
  bool isReadableAs(LayoutAttrInterface layout, mlir::RankedTensorType type,
                    llvm::ArrayRef<OperandRead> reads);
  int64_t chooseFastDim(LoadOp load, int64_t contracted,
                        llvm::ArrayRef<OperandRead> reads);
  LayoutAttrInterface chooseDirectLayout(LoadOp load, int64_t fastDim,
                                         llvm::ArrayRef<OperandRead> reads);
  LayoutAttrInterface choosePaddedLayout(LoadOp load, int64_t fastDim,
                                         llvm::ArrayRef<OperandRead> reads);
  void placeOperand(LoadOp load, TileLayouts &layouts);
  bool canComeShared(LoadOp load, LayoutAttrInterface layout, bool isRepeated);
  void place(LoadOp load, TileLayouts &layouts);
  bool isSwizzleReadable(mlir::RankedTensorType type, int64_t swizzle,
                         llvm::ArrayRef<DotOp> readers);

  KernelOp kernel;
  const Chip &chip;
  const ProductLayouts &products;
};

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_SHAREDPLACEMENT_H
