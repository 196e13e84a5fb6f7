//===- Contains.h - Operations inside of an operation -----------*- C++ -*-===//
#ifndef TILE_DIALECT_TILE_IR_CONTAINS_H
#define TILE_DIALECT_TILE_IR_CONTAINS_H

#include "mlir/IR/Operation.h"

namespace tile {

/// Returns true if `root` itself or an operation inside of it is an OpT for
/// which `predicate` holds.
template <typename OpT = mlir::Operation *, typename Predicate>
bool containsOp(mlir::Operation *root, Predicate &&predicate) {
  return root
      ->walk([&](OpT op) {
        return predicate(op) ? mlir::WalkResult::interrupt()
                             : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace tile

#endif // TILE_DIALECT_TILE_IR_CONTAINS_H
