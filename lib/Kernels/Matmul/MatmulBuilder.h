//===- MatmulBuilder.h - tile.matmul as tile programs -----------*- C++ -*-===//
#ifndef TILE_LIB_KERNELS_MATMUL_MATMULBUILDER_H
#define TILE_LIB_KERNELS_MATMUL_MATMULBUILDER_H

#include "../ExpandFunctions.h"

namespace tile {

/// The steps of a tile.matmul that one kernel performs.
enum class MatmulKernel {
  /// The product and the epilogue.
  Whole,
  /// Clears the buffers of sums.
  Zero,
  /// The product; adds it to the buffers of sums.
  Product,
  /// The epilogue, from the buffers of sums.
  Epilogue
};

/// Writes the body of a kernel of `op` at the insertion point. `mapping` maps
/// the values that `op` uses to those of the kernel.
void buildMatmul(mlir::ImplicitLocOpBuilder &builder, MatmulOp op,
                 const mlir::IRMapping &mapping, MatmulKernel kernel);

} // namespace tile

#endif // TILE_LIB_KERNELS_MATMUL_MATMULBUILDER_H
