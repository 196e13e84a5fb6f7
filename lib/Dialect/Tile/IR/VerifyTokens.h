//===- VerifyTokens.h - Checks of rings and MMAs in flight ------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_IR_VERIFYTOKENS_H
#define TILE_LIB_DIALECT_TILE_IR_VERIFYTOKENS_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Verifies that each product in flight of `kernel` is awaited, and that no two
/// operations continue it.
llvm::LogicalResult verifyProducts(KernelOp kernel);

/// Verifies that the operations of each ring of `kernel` agree and that each
/// token is used up once, after the last access to its slot. Requires
/// verifyProducts().
llvm::LogicalResult verifyRings(KernelOp kernel);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_IR_VERIFYTOKENS_H
