//===- VerifyTiles.h - Checks that several verifiers share ------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_IR_VERIFYTILES_H
#define TILE_LIB_DIALECT_TILE_IR_VERIFYTILES_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Verifies that `tile` has the dimension `dim`.
llvm::LogicalResult verifyDimension(mlir::Operation *op, int64_t dim,
                                    mlir::RankedTensorType tile);
/// Verifies that both tiles of an operation have layouts, or none.
llvm::LogicalResult verifyBothLaidOut(mlir::Operation *op, mlir::Type first,
                                      mlir::Type second);
/// Verifies that `first` and `second` are laid out in registers and have
/// elements of one type.
llvm::LogicalResult verifyInRegisters(mlir::Operation *op,
                                      mlir::RankedTensorType first,
                                      mlir::RankedTensorType second);
/// Verifies that `kind` combines elements of this type.
llvm::LogicalResult verifyReductionKind(mlir::Operation *op,
                                        mlir::arith::AtomicRMWKind kind,
                                        mlir::Type element);
/// Verifies the kind, the dimension and the tiles of an operation that combines
/// elements of `source` along `dim` and that needs layouts.
llvm::LogicalResult verifyCombination(mlir::Operation *op,
                                      mlir::arith::AtomicRMWKind kind,
                                      int64_t dim,
                                      mlir::RankedTensorType source,
                                      mlir::RankedTensorType other);
/// Verifies that the arguments of `block`, of the region that messages call
/// `region`, have the types `expected`.
llvm::LogicalResult verifyArguments(mlir::Operation *op, llvm::StringRef region,
                                    mlir::Block &block,
                                    mlir::TypeRange expected);
/// Verifies that two layouts of one shape are the same function. Reports the
/// message `what` and the first difference.
llvm::LogicalResult verifySameLayout(mlir::Operation *op,
                                     const Layout &expected,
                                     const Layout &actual,
                                     llvm::StringRef what);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_IR_VERIFYTILES_H
