//===- Roles.h - Warp roles in tile-vectorize -------------------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_ROLES_H
#define TILE_LIB_CONVERSION_TILETOGPU_ROLES_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Facts about operations of kernels that are not in the program any more when
/// the operations are converted.
struct RoleContext {
  /// Operations in a role of one thread. In other roles, one thread of each
  /// warp executes such an operation for all.
  llvm::DenseSet<mlir::Operation *> oneThread;
  /// For each TMA operation with a tensor map, the number of the function
  /// argument that is its map.
  llvm::DenseMap<mlir::Operation *, unsigned> tensorMaps;
};

/// Returns the number of warps of a block, over all roles.
int64_t countWarps(KernelOp kernel);
/// Returns true if roles set their own numbers of registers.
bool setsRegisters(KernelOp kernel);

/// Prepares the roles of a kernel for conversion: barriers inside roles become
/// named barriers of the role's threads, turns become named barriers of
/// warpgroups, and operations of one thread are added to `context`.
void prepareRoles(KernelOp kernel, int64_t warpSize, RoleContext &context);

/// Returns the tensor maps of the kernel's TMA operations as entries of the
/// manifest. Adds the arguments that are their maps to `context`, from
/// `firstArgument` on.
llvm::SmallVector<mlir::Attribute> collectTensorMaps(KernelOp kernel,
                                                     unsigned firstArgument,
                                                     RoleContext &context);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_ROLES_H
