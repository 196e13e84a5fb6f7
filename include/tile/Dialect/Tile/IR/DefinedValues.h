//===- DefinedValues.h - Values that an operation defines -------*- C++ -*-===//
#ifndef TILE_DIALECT_TILE_IR_DEFINEDVALUES_H
#define TILE_DIALECT_TILE_IR_DEFINEDVALUES_H

#include "mlir/IR/Operation.h"

namespace tile {

/// Returns the values that `op` defines: its results and the arguments of its
/// blocks.
llvm::SmallVector<mlir::Value> getDefinedValues(mlir::Operation *op);

} // namespace tile

#endif // TILE_DIALECT_TILE_IR_DEFINEDVALUES_H
