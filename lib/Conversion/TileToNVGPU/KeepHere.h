//===- KeepHere.h - What must not move out of loops -------------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETONVGPU_KEEPHERE_H
#define TILE_LIB_CONVERSION_TILETONVGPU_KEEPHERE_H

#include "mlir/IR/Builders.h"

namespace tile {

/// The same i32, but for LLVM a new one at this place: nothing computed from it
/// moves out of the loop, where it would take registers in all that the loop
/// does. ptxas sees through the move.
mlir::Value keepHere(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value value);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVGPU_KEEPHERE_H
