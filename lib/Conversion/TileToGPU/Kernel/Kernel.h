//===- Kernel.h - tile.kernel to gpu.func -----------------------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_KERNEL_KERNEL_H
#define TILE_LIB_CONVERSION_TILETOGPU_KERNEL_KERNEL_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "tile/Chips/Chips.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {
struct RoleContext;

/// Returns the types of the values that represent a buffer at S5: a rank-1
/// memref, the offset of its first element in elements (index), its dynamic
/// extents and its dynamic strides (index each).
llvm::SmallVector<mlir::Type> flattenBuffer(BufferType buffer);

/// Moves the body of `kernel` into a new gpu.func at the builder's insertion
/// point, behind its tile_gpu.manifest, without converting its operations. Adds
/// to `context` what their conversion needs. Buffer arguments become casts from
/// their parts. Fails with an error if a requirement on extents cannot be met.
mlir::FailureOr<mlir::gpu::GPUFuncOp> outlineKernel(KernelOp kernel,
                                                    const Chip &chip,
                                                    mlir::OpBuilder &builder,
                                                    RoleContext &context);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_KERNEL_KERNEL_H
