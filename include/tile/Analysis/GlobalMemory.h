//===- GlobalMemory.h - Queries on the arguments of a kernel ----*- C++ -*-===//
//
// Queries on the accesses of a kernel to the memory of its arguments. Different
// arguments are different memory.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_GLOBALMEMORY_H
#define TILE_ANALYSIS_GLOBALMEMORY_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Returns the kernel argument that `buffer` is a view of; null if that is
/// chosen at run time.
mlir::BlockArgument getRootArgument(mlir::Value buffer);

/// Returns true if two views of one kernel argument have no element in common:
/// they are slices at different constant indices.
bool areDisjointSlices(mlir::Value buffer, mlir::Value other);

/// Returns true if two stores to global memory write no element in common:
/// their views are disjoint slices, or their tiles begin at constants so far
/// apart in a dimension of one view.
bool areDisjointStores(StoreOp store, StoreOp other);

/// An access of one operation to global memory.
struct GlobalAccess {
  /// The argument, null if it is chosen at run time.
  mlir::BlockArgument argument;
  bool isWrite;
  /// The view of the argument.
  mlir::Value buffer = {};

  bool mayOverlap(mlir::BlockArgument other) const {
    return !argument || !other || argument == other;
  }
};

/// Returns the accesses of `op` itself, without those of operations in its
/// regions. An atomic operation reads and writes. What reads pages reads their
/// table, too.
llvm::SmallVector<GlobalAccess, 2> getGlobalAccesses(mlir::Operation *op);

/// Returns true if `scope` or an operation in its regions reads or, with
/// `isWrite`, writes the memory of `argument`.
bool isAccessedIn(mlir::Operation *scope, mlir::BlockArgument argument,
                  bool isWrite);

/// Returns true if `op` is an atomic operation that releases what the block has
/// done before it.
bool releasesAccesses(mlir::Operation *op);
/// Returns true if `op` is an atomic operation that acquires what others have
/// released, for what the block does behind it.
bool acquiresAccesses(mlir::Operation *op);

} // namespace tile

#endif // TILE_ANALYSIS_GLOBALMEMORY_H
