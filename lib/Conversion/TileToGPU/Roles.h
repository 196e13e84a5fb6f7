//===- Roles.h - Warp roles in tile-vectorize -------------------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_ROLES_H
#define TILE_LIB_CONVERSION_TILETOGPU_ROLES_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Unit attribute of a function whose roles have different numbers of
/// registers.
inline constexpr llvm::StringLiteral kRolesAttr = "tile.roles";

/// Unit attribute of an operation in a role of one thread. In other roles, one
/// thread of each warp executes such an operation for all.
inline constexpr llvm::StringLiteral kOneThreadAttr = "tile.one_thread";

/// Returns the number of warps of a block, over all roles.
int64_t countWarps(KernelOp kernel);
/// Returns true if roles set their own numbers of registers.
bool setsRegisters(KernelOp kernel);

/// Prepares the roles of a kernel for conversion: barriers inside roles become
/// named barriers of the role's threads, turns become named barriers of
/// warpgroups, and operations of one thread are marked.
void prepareRoles(KernelOp kernel, int64_t warpSize);

/// Returns the tensor maps of the kernel's TMA operations as entries of the
/// manifest. Sets an attribute on each operation: the number of the function
/// argument that is its tensor map, starting at `firstArgument`.
llvm::SmallVector<mlir::Attribute> collectTensorMaps(KernelOp kernel,
                                                     unsigned firstArgument);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_ROLES_H
