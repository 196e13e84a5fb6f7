//===- RingOrder.h - Tiles of rings in program order ------------*- C++ -*-===//
//
// A ring without mbarriers is filled and read by the same threads. The order of
// the program says which tiles are in its slots, and how many groups of
// asynchronous copies are newer than a tile that is taken.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TILE_IR_RINGORDER_H
#define TILE_DIALECT_TILE_IR_RINGORDER_H

#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace tile {

class RingOrder {
public:
  /// Follows the rings of `kernel` that have no mbarriers. Reports an error if
  /// a tile is taken before it is published, if a slot is acquired before it is
  /// released, or if an iteration of a loop changes which slots are in use.
  llvm::LogicalResult run(KernelOp kernel);

  /// Returns how many groups `take`, from a ring without mbarriers, may leave
  /// in flight: the smallest number that any path of the program commits
  /// between the tile and `take`. None if earlier takes have waited for the
  /// tile on all paths.
  std::optional<int64_t> getPending(RingTakeOp take) const {
    auto it = pending.find(take);
    return it == pending.end() ? std::nullopt : std::optional(it->second);
  }

private:
  /// A tile in a slot.
  struct Entry {
    enum { Filling, Full, Taken, Free } state;
    /// The token, while the slot is filled or read.
    mlir::Value token;
    /// The number of groups that are newer, for a full slot.
    int64_t newer = 0;
    /// True if the copies of a full slot have been waited for.
    bool isComplete = false;
  };
  /// The slots in use of each ring, the oldest tile first.
  using State = llvm::MapVector<mlir::Operation *, llvm::SmallVector<Entry>>;

  llvm::LogicalResult visit(mlir::Block &block, State &state);
  llvm::LogicalResult visit(mlir::Operation *op, State &state);
  llvm::LogicalResult visitLoop(mlir::Operation *op, State &state);
  llvm::LogicalResult acquire(RingAcquireOp op, State &state);
  llvm::LogicalResult take(RingTakeOp op, State &state);
  void wait(RingTakeOp op, int64_t count, State &state);
  static Entry *find(mlir::Value token, State &state);
  static void addGroup(State &state);
  static void rename(State &state, mlir::ValueRange from, mlir::ValueRange to);
  static llvm::FailureOr<bool> merge(State &state, const State &other);

  /// The takes that wait, with the number of groups that they leave in flight.
  llvm::DenseMap<mlir::Operation *, int64_t> pending;
};

} // namespace tile

#endif // TILE_DIALECT_TILE_IR_RINGORDER_H
