//===- Kernel.h - tile.kernel to gpu.func -----------------------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_KERNEL_H
#define TILE_LIB_CONVERSION_TILETOGPU_KERNEL_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Target/Chips.h"

namespace tile {

/// What a buffer is at S5: a rank-1 memref, the offset of its first element
/// (index), its dynamic extents and its dynamic strides (index each).
llvm::SmallVector<mlir::Type> flattenBuffer(BufferType buffer);

/// Moves the body of `kernel`, whose operations stay as they are, into a new
/// gpu.func at the builder's insertion point, with the manifest as attributes.
/// Buffer arguments become casts from their parts. An error says which
/// requirement on extents cannot be met.
mlir::FailureOr<mlir::gpu::GPUFuncOp>
outlineKernel(KernelOp kernel, const Chip &chip, mlir::OpBuilder &builder);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_KERNEL_H
