//===- MatrixAccess.h - Fragments by ldmatrix and stmatrix ------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_NVIDIA_MATRIXACCESS_H
#define TILE_LIB_CONVERSION_TILETOGPU_NVIDIA_MATRIXACCESS_H

#include "../Emitter.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include <optional>

namespace tile {

/// The accesses by which load_matrix reads, or store_matrix writes, a
/// distributed tile. Lane l passes the address of the row that starts at
/// access.element(g, l, warp) to access g. Access g has the elements of the
/// registers [matrices * g, matrices * (g + 1)), of 32 bits each, of a thread.
struct MatrixAccess {
  int64_t matrices; ///< matrices per instruction: 1, 2 or 4
  bool transpose;
  Layout access;
};

/// Finds the accesses to a tile with layout `dist` at `start` of a shared
/// buffer by matrices of 8 rows, plain or transposed, whose rows are 16
/// contiguous bytes. The result is checked for every element. Returns
/// std::nullopt if the layouts do not fit.
std::optional<MatrixAccess> matchMatrixAccess(const Layout &dist,
                                              const Layout &memory,
                                              llvm::ArrayRef<int64_t> start,
                                              unsigned elementBits);

/// Emits loads of the tile and returns it as a vector of `type`.
mlir::Value emitLoadMatrix(Emitter &b, const MatrixAccess &matrices,
                           mlir::VectorType type, BufferType buffer,
                           llvm::ArrayRef<int64_t> start, mlir::Value memory,
                           mlir::Value offset);

/// Emits stores of a tile. No element may have copies.
void emitStoreMatrix(Emitter &b, const MatrixAccess &matrices,
                     mlir::Value vector, BufferType buffer,
                     llvm::ArrayRef<int64_t> start, mlir::Value memory,
                     mlir::Value offset);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_NVIDIA_MATRIXACCESS_H
