//===- Roles.h - Warp roles in tile-vectorize -------------------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_ROLES_H
#define TILE_LIB_CONVERSION_TILETOGPU_ROLES_H

#include "Lowering.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Facts about operations of kernels that are not in the program any more when
/// the operations are converted.
struct RoleContext {
  /// Operations in a role of one thread. In other roles, one thread of each
  /// warp executes such an operation for all.
  llvm::DenseSet<mlir::Operation *> oneThread;
  /// Roles that a whole warp runs, because the kernel saves registers or the
  /// lanes divide a copy (copiesByLanes). A thread is elected for each other
  /// operation with effects.
  llvm::DenseSet<mlir::Region *> wholeWarps;
  /// For each TMA operation with a tensor map, the number of the function
  /// argument that is its map.
  llvm::DenseMap<mlir::Operation *, unsigned> tensorMaps;
  /// The operations whose result differs between groups of consumers:
  /// tile.consumer_group, and allocations of which each group has its own.
  struct Group {
    /// The threads of a group.
    int64_t threads;
    /// The bytes from one buffer to that of the next group.
    int64_t bytes;
  };
  llvm::DenseMap<mlir::Operation *, Group> groups;
};

/// Returns the number of warps of a block, over all roles.
int64_t countWarps(KernelOp kernel);
/// Returns true if roles set their own numbers of registers.
bool setsRegisters(KernelOp kernel);

/// Returns true if all lanes of a warp execute `op` together: it copies a tile
/// of several pages, of which each lane copies one.
bool copiesByLanes(BulkCopyOp op);

/// Prepares the roles of a kernel for conversion: barriers inside roles become
/// named barriers of the role's threads, turns become named barriers of
/// warpgroups, and operations of one thread are added to `context`.
void prepareRoles(KernelOp kernel, int64_t warpSize, RoleContext &context);

/// Numbers the threads of each group of consumers from 0 on, after the
/// conversion.
void numberThreadsInGroups(mlir::Operation *root);

/// Emits what `op` adds for the group of this thread: the bytes to its buffer
/// for an allocation, the number of the group for a tile.consumer_group.
/// Returns null for other operations.
mlir::Value emitGroupOffset(mlir::Operation *op, Lowering &b);

/// Returns the tensor maps of the kernel's TMA operations as entries of the
/// manifest. Adds the arguments that are their maps to `context`, from
/// `firstArgument` on.
llvm::SmallVector<mlir::Attribute> collectTensorMaps(KernelOp kernel,
                                                     unsigned firstArgument,
                                                     RoleContext &context);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_ROLES_H
