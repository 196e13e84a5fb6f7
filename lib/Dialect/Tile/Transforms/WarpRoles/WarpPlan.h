//===- WarpPlan.h - What warps can copy for warps that compute --*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_WARPROLES_WARPPLAN_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_WARPROLES_WARPPLAN_H

#include "../ArgumentTile.h"
#include "tile/Analysis/RunAhead.h"
#include "tile/Analysis/SharedMemory.h"
#include "llvm/ADT/MapVector.h"
#include <utility>

namespace tile {

/// A copy as the copy engine takes it.
struct PlannedCopy : BufferCopy, ArgumentTile {
  unsigned ring = 0;
};

/// A sum that leaves by the copy engine.
struct PlannedSum {
  unsigned ring = 0;
  /// What it is added to where a tensor map ends with a part of the rows.
  std::optional<ArgumentTile> tile;
};

/// Buffers that tiles of one kind go through, one after another.
struct Ring {
  /// Where they come from; null where they leave.
  mlir::BlockArgument argument;
  BufferType tile;
  int64_t stages = 1;
  /// Whether tiles are counted; else there is one in all.
  bool counted = false;

  bool leaves() const { return !argument; }
  /// Returns the type of the memory of all stages.
  BufferType getStorageType() const;
  /// Returns the type of one mbarrier for each stage.
  BufferType getBarriersType() const;
};

/// What the roles of a kernel hand to each other.
struct WarpPlan {
  llvm::SmallVector<Ring> rings;
  /// All copies to shared memory.
  llvm::MapVector<mlir::Operation *, PlannedCopy> copies;
  /// The sums that leave by the copy engine.
  llvm::MapVector<mlir::Operation *, PlannedSum> sums;
  /// Those that do not, and why.
  llvm::SmallVector<std::pair<mlir::Operation *, std::string>> otherSums;
  /// The scalars that every role computes for itself.
  llvm::DenseSet<mlir::Operation *> outside;

  /// The plan of `op` if it is a copy, else null.
  const PlannedCopy *findCopy(mlir::Operation *op) const;
  /// The ring of what goes through one.
  std::optional<unsigned> ringOf(mlir::Operation *op) const;
};

/// Plans all copies of `kernel` and, if it `takesSums`, the sums that can leave
/// by the copy engine. Refuses a kernel that cannot be specialised.
Refusal planWarps(KernelOp kernel, bool takesSums, WarpPlan &plan);

/// Returns the shared memory of `kernel` after splitRoles with this plan.
SharedMemoryModel modelRoles(KernelOp kernel, const WarpPlan &plan);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_WARPROLES_WARPPLAN_H
