//===- AttentionExtents.h - Extents that have to agree ----------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_IR_ATTENTIONEXTENTS_H
#define TILE_LIB_DIALECT_TILE_IR_ATTENTIONEXTENTS_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// What is known of the extents of `op` must fit together; an error names two
/// that do not. What is not known yet is checked at launch.
mlir::LogicalResult verifyExtents(mlir::Operation *op,
                                  llvm::ArrayRef<NamedExtent> extents);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_IR_ATTENTIONEXTENTS_H
