//===- LaunchValues.h - Numbers that depend on arguments alone --*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_GRID_LAUNCHVALUES_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_GRID_LAUNCHVALUES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace tile {

/// Clones the operations that compute `value`, for example an extent of the
/// grid, from the arguments of a kernel.
mlir::Value cloneLaunchValue(mlir::OpBuilder &builder, mlir::Value value,
                             mlir::IRMapping &mapping);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_GRID_LAUNCHVALUES_H
