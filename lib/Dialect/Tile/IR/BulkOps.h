//===- BulkOps.h - Checks shared by verifiers of roles ----------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_IR_BULKOPS_H
#define TILE_LIB_DIALECT_TILE_IR_BULKOPS_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Verifies that `barriers` is a buffer of rank 1 of i64 in shared memory,
/// whose elements are mbarriers.
llvm::LogicalResult verifyBarriers(mlir::Operation *op, BufferType barriers);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_IR_BULKOPS_H
