//===- NamedExtents.h - Extents of the named operations ---------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_IR_NAMEDEXTENTS_H
#define TILE_LIB_DIALECT_TILE_IR_NAMEDEXTENTS_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Verifies that the static extents of each kind are equal. The error names two
/// extents that differ. Launchers check dynamic extents.
llvm::LogicalResult verifyNamedExtents(mlir::Operation *op,
                                       llvm::ArrayRef<NamedExtent> extents);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_IR_NAMEDEXTENTS_H
