//===- KernelParameters.h - The parameters of a kernel ----------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_KERNEL_KERNELPARAMETERS_H
#define TILE_LIB_CONVERSION_TILETOGPU_KERNEL_KERNELPARAMETERS_H

#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include <optional>

namespace tile {

/// A function argument as a part of a parameter in the manifest. A scalar
/// parameter has one argument; a buffer has one each for its pointer, its
/// dynamic extents and its dynamic strides.
struct ParameterPart {
  tile::gpu::ManifestOp manifest;
  /// The position of the parameter, and its name.
  unsigned number;
  llvm::StringRef name;
  /// "shape" or "strides", and the dimension; empty for a pointer or a scalar.
  llvm::StringRef field;
  unsigned dim;
};

/// Returns the part that `value` is; nothing if it is no argument of a kernel.
/// The conversion of buffers may be in progress.
std::optional<ParameterPart> findParameter(mlir::Value value);

/// Returns true if two extents are one value, or if launchers check that they
/// are equal.
bool areEqualExtents(mlir::Value a, mlir::Value b);

/// Makes launchers refuse a tensor whose stride `part` is negative or above
/// `limit`.
void limitStride(const ParameterPart &part, int64_t limit);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_KERNEL_KERNELPARAMETERS_H
