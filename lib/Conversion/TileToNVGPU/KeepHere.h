//===- KeepHere.h - Values that stay inside of loops ------------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETONVGPU_KEEPHERE_H
#define TILE_LIB_CONVERSION_TILETONVGPU_KEEPHERE_H

#include "mlir/IR/Builders.h"

namespace tile {

/// Returns a copy of `value`, an i32, that LLVM treats as a new value. Values
/// that are computed from it are not hoisted out of a loop, where they would
/// occupy registers during the whole loop. The copy is a move, which ptxas
/// removes.
mlir::Value keepHere(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value value);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVGPU_KEEPHERE_H
