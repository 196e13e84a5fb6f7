//===- JoinRings.h - Rings that share mbarriers -----------------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_COPIES_JOINRINGS_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_COPIES_JOINRINGS_H

#include "tile/Chips/Chips.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tile {

/// Rings whose slots are filled at the same time, and released at about the
/// same time or earlier than those of one of them, the holder. They share its
/// mbarriers: each side waits once for the slots of all of them.
class JoinedRings {
public:
  /// Finds the groups among `rings`, rings with mbarriers of `kernel`, and
  /// gives all rings of a group the same mbarriers.
  void join(KernelOp kernel, llvm::ArrayRef<RingCreateOp> rings,
            const Chip &chip);

  /// Returns true if `ring` has the mbarriers of another ring.
  bool isFollower(RingCreateOp ring) const { return followers.contains(ring); }
  /// Returns the number of rings with the mbarriers of `ring`.
  int64_t countFills(RingCreateOp ring) const {
    return fills.lookup_or(ring, 1);
  }
  /// Returns how many releases there are for each number of a slot.
  int64_t countReleases(RingCreateOp ring) const {
    return releases.lookup_or(ring, 1);
  }
  /// Returns true if another operation waits or arrives in the place of `op`, a
  /// tile.ring.acquire, tile.ring.take or tile.ring.release.
  bool isCovered(mlir::Operation *op) const { return covered.contains(op); }

private:
  llvm::DenseSet<mlir::Operation *> followers, covered;
  llvm::DenseMap<mlir::Operation *, int64_t> fills, releases;
};

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_COPIES_JOINRINGS_H
