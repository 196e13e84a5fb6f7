//===- LayoutRequirements.h - Layouts that operations need ------*- C++ -*-===//
#ifndef TILE_DIALECT_TILE_IR_LAYOUTREQUIREMENTS_H
#define TILE_DIALECT_TILE_IR_LAYOUTREQUIREMENTS_H

#include "mlir/IR/Value.h"

namespace tile {
class BufferType;
class LayoutAttrInterface;

/// Receives the layouts that an operation needs (see TileLayoutOpInterface).
class LayoutRequirements {
public:
  virtual ~LayoutRequirements() = default;

  /// `operand` must have `layout`. Ignores operands that are no tiles.
  virtual void requireOperand(mlir::OpOperand &operand,
                              LayoutAttrInterface layout) = 0;
  /// `operand` is operand a or b of a matrix product: the instruction decides
  /// whether it is read from registers or from shared memory.
  virtual void requireFactor(mlir::OpOperand &operand) = 0;
  /// `operand` must be in registers; it is about to be written to `memory`.
  virtual void requireRegisters(mlir::OpOperand &operand,
                                BufferType memory) = 0;
  /// The operation computes `result` in `layout`.
  virtual void provideResult(mlir::OpResult result,
                             LayoutAttrInterface layout) = 0;
};

} // namespace tile

#endif // TILE_DIALECT_TILE_IR_LAYOUTREQUIREMENTS_H
