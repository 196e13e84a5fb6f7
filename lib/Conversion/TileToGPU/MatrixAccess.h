//===- MatrixAccess.h - Fragments by ldmatrix and stmatrix ------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_MATRIXACCESS_H
#define TILE_LIB_CONVERSION_TILETOGPU_MATRIXACCESS_H

#include "mlir/IR/Builders.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include <optional>

namespace tile {

/// How load_matrix reads and store_matrix writes a distributed tile: access g of
/// lane l begins at the row access.element(g, l, warp) and has registers
/// [2 * matrices * g, 2 * matrices * (g + 1)).
struct MatrixAccess {
  int64_t matrices; ///< 8x8 matrices per instruction: 1, 2 or 4
  bool transpose;
  Layout access;
};

/// Matches the tile `dist` at `start` of shared memory against 8x8 matrices
/// whose rows are 16 bytes side by side, plain or transposed; checked for
/// every element. Nothing if the layouts do not fit.
std::optional<MatrixAccess> matchMatrixAccess(const Layout &dist,
                                              const Layout &memory,
                                              llvm::ArrayRef<int64_t> start,
                                              unsigned elementBits);

/// The tile as a vector of `type`.
mlir::Value emitLoadMatrix(mlir::OpBuilder &builder, mlir::Location loc,
                           const MatrixAccess &matrices, mlir::VectorType type,
                           BufferType buffer, llvm::ArrayRef<int64_t> start,
                           mlir::Value memory, mlir::Value offset);

/// Stores a tile, of which no element may have copies.
void emitStoreMatrix(mlir::OpBuilder &builder, mlir::Location loc,
                     const MatrixAccess &matrices, mlir::Value vector,
                     BufferType buffer, llvm::ArrayRef<int64_t> start,
                     mlir::Value memory, mlir::Value offset);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_MATRIXACCESS_H
