//===- BulkOps.h - What verifiers of roles share ----------------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_IR_BULKOPS_H
#define TILE_LIB_DIALECT_TILE_IR_BULKOPS_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// A barrier is one i64 of a buffer of rank 1 in shared memory.
llvm::LogicalResult verifyBarriers(mlir::Operation *op, BufferType barriers);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_IR_BULKOPS_H
