//===- DotOperands.h - Operands of products in fragments --------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_DOTOPERANDS_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_DOTOPERANDS_H

#include "SharedPlacement.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace tile {

/// Brings operands a and b of products to where their instructions read them:
/// shared memory, or registers in the layout of a fragment. Operands from
/// outside a loop are read once if the registers allow.
class DotOperands {
public:
  /// `budget` is the percentage of the registers of a thread that accumulators
  /// and an operand kept across a loop may take.
  DotOperands(KernelOp kernel, const Chip &chip, const ProductLayouts &products,
              SharedPlacement &placement, int64_t budget)
      : kernel(kernel), chip(chip), products(products), placement(placement),
        budget(budget), builder(kernel.getContext()) {}

  /// Converts `operand`, a tile with a layout, for its product.
  void convert(mlir::OpOperand &operand);

private:
  void store(mlir::OpOperand &operand);
  void load(mlir::OpOperand &operand, MmaAttr mma);
  mlir::LoopLikeOpInterface findPlace(mlir::LoopLikeOpInterface loop,
                                      mlir::Value operand);
  int64_t registersAcross(mlir::LoopLikeOpInterface loop,
                          mlir::OpOperand &operand, MmaAttr mma);

  KernelOp kernel;
  const Chip &chip;
  const ProductLayouts &products;
  SharedPlacement &placement;
  int64_t budget;
  mlir::OpBuilder builder;
};

/// Returns `value` in another layout, converted at the insertion point of
/// `builder` if necessary.
mlir::Value convertTile(mlir::OpBuilder &builder, mlir::Value value,
                        LayoutAttrInterface layout);

/// Returns true if elements move between threads in a conversion from one
/// layout to the other; none of the tiles is in shared memory.
bool crossesThreads(mlir::RankedTensorType from, mlir::RankedTensorType to);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_DOTOPERANDS_H
