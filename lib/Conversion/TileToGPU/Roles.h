//===- Roles.h - What roles make of a kernel's function ---------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_ROLES_H
#define TILE_LIB_CONVERSION_TILETOGPU_ROLES_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Unit attribute of a function whose roles have registers of their own.
inline constexpr llvm::StringLiteral kRolesAttr = "tile.roles";

/// Unit attribute of what a role of one thread does and others do once for all
/// their threads.
inline constexpr llvm::StringLiteral kOneThreadAttr = "tile.one_thread";

/// The warps of a block, those of all roles.
int64_t countWarps(KernelOp kernel);
/// Whether roles have numbers of registers of their own.
bool setsRegisters(KernelOp kernel);

/// Barriers inside roles become those of the role's threads.
void prepareRoles(KernelOp kernel, int64_t warpSize);

/// The tensor maps that the copy engine needs, as entries of the manifest; each
/// operation learns which argument of the function is its own, of those that
/// begin at `firstArgument`.
llvm::SmallVector<mlir::Attribute> collectTensorMaps(KernelOp kernel,
                                                     unsigned firstArgument);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_ROLES_H
