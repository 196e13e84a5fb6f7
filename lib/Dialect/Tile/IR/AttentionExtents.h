//===- AttentionExtents.h - Extents of attention ----------------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_IR_ATTENTIONEXTENTS_H
#define TILE_LIB_DIALECT_TILE_IR_ATTENTIONEXTENTS_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Verifies the static extents of the buffers of `op`, the operation of
/// attention. Launchers check dynamic extents.
llvm::LogicalResult verifyAttentionExtents(mlir::Operation *op,
                                           llvm::ArrayRef<NamedExtent> extents);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_IR_ATTENTIONEXTENTS_H
