//===- WarpPlan.h - Plans of producer and storer warps ----------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_WARPROLES_WARPPLAN_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_WARPROLES_WARPPLAN_H

#include "ArgumentTile.h"
#include "tile/Analysis/RunAhead.h"
#include "tile/Analysis/SharedMemory.h"
#include "llvm/ADT/MapVector.h"
#include <utility>

namespace tile {

/// A copy that TMA does.
struct PlannedCopy : BufferCopy, ArgumentTile {
  unsigned ring = 0;
};

/// An atomic addition that TMA does.
struct PlannedSum {
  unsigned ring = 0;
  /// The destination, if a range of rows bounds it (see `within` of
  /// tile.bulk_reduce).
  std::optional<ArgumentTile> tile;
};

/// A ring to create.
struct Ring {
  /// The source of its tiles; null if its tiles are sums that leave.
  mlir::BlockArgument argument;
  BufferType tile;
  int64_t stages = 1;
  /// False if one tile goes through the ring in all.
  bool counted = false;

  bool leaves() const { return !argument; }
  /// Returns the type of the memory of all stages.
  BufferType getStorageType() const;
  /// Returns the type of one mbarrier for each stage.
  BufferType getBarriersType() const;
};

/// The tiles that the roles of a kernel pass to each other.
struct WarpPlan {
  llvm::SmallVector<Ring> rings;
  /// All copies to shared memory.
  llvm::MapVector<mlir::Operation *, PlannedCopy> copies;
  /// The additions that TMA does.
  llvm::MapVector<mlir::Operation *, PlannedSum> sums;
  /// The other additions, with the reason.
  llvm::SmallVector<std::pair<mlir::Operation *, std::string>> otherSums;
  /// The scalars that each role computes for itself.
  llvm::DenseSet<mlir::Operation *> outside;

  /// Returns the plan of `op` if it is a copy, else null.
  const PlannedCopy *findCopy(mlir::Operation *op) const;
  /// Returns the number of the ring of `op`, a copy or an addition; none for
  /// other operations.
  std::optional<unsigned> ringOf(mlir::Operation *op) const;
};

/// The tiles in shared memory from which TMA would add to global memory, or the
/// reasons why it cannot. They do not depend on the schedule, and take long to
/// find.
using SumTiles =
    llvm::DenseMap<mlir::Operation *, std::pair<BufferType, Refusal>>;

/// Plans all copies of `kernel` and, if `takesSums`, the additions that TMA can
/// do. Refuses a kernel that cannot be specialised. `tiles` keeps what holds
/// for other schedules of the same kernel.
Refusal planWarps(KernelOp kernel, bool takesSums, WarpPlan &plan,
                  SumTiles &tiles);
/// Plans one schedule.
Refusal planWarps(KernelOp kernel, bool takesSums, WarpPlan &plan);

/// Takes a stage from the ring whose tiles are in use for the shortest part of
/// an iteration, among those with which the kernel takes at most `most` bytes
/// of shared memory then. Returns the bytes; none if there is no such ring, and
/// leaves the plan as it is.
std::optional<int64_t> shortenRing(KernelOp kernel, int64_t most,
                                   WarpPlan &plan);

/// Returns true if other buffers may take the memory of rings behind their last
/// read: in a kernel of clusters, which exchange sums as large as rings. It has
/// one work for each block. Elsewhere the gain is not known.
bool drainsRings(KernelOp kernel);

/// Returns the shared memory of `kernel` after splitRoles with this plan.
SharedMemoryModel modelRoles(KernelOp kernel, const WarpPlan &plan);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_WARPROLES_WARPPLAN_H
