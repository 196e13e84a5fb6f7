//===- SlotAccesses.h - Accesses to slots of shared buffers -----*- C++ -*-===//
//
// Different slots of a ring are different memory. Their numbers are known to
// differ if they have constant distances from one value.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_SLOTACCESSES_H
#define TILE_ANALYSIS_SLOTACCESSES_H

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include <set>

namespace tile {

/// An access to an allocation: to the slot (base + offset) mod stages of a
/// ring, where a null base stands for 0, or to all of the allocation if
/// `stages` is 0.
struct SlotAccess {
  /// Returns the access of `op` to the allocation `root`, whose number is
  /// `allocation`.
  static SlotAccess get(mlir::Operation *op, AllocOp root, unsigned allocation);
  static SlotAccess getWhole(unsigned allocation) { return {allocation}; }

  /// Returns true if both are accesses to one allocation, but to slots that are
  /// known to be different.
  bool isOtherSlot(const SlotAccess &other) const {
    return allocation == other.allocation && stages != 0 && other.stages != 0 &&
           base == other.base && offset != other.offset;
  }
  auto key() const {
    return std::tuple(allocation, stages, base.getAsOpaquePointer(), offset);
  }
  bool operator<(const SlotAccess &other) const { return key() < other.key(); }
  bool operator==(const SlotAccess &other) const {
    return key() == other.key();
  }

  unsigned allocation;
  int64_t stages = 0;
  mlir::Value base = {};
  int64_t offset = 0;
};

/// The accesses since some point of the program.
class SlotAccesses {
public:
  bool empty() const { return accesses.empty(); }
  void clear() { accesses.clear(); }
  void insert(const SlotAccess &access) { accesses.insert(access); }
  void merge(const SlotAccesses &other) {
    accesses.insert(other.accesses.begin(), other.accesses.end());
  }
  /// Returns true if one of the accesses is to the memory of `access`, where
  /// `overlaps` says which allocations share memory with its allocation.
  bool reach(const SlotAccess &access,
             llvm::function_ref<bool(unsigned allocation)> overlaps) const;
  /// Renames the slots at the end of an iteration of `loop`: a value that the
  /// loop carries is another one in the next iteration. Accesses to slots that
  /// depend on other values of the iteration become ones to all slots.
  void endIteration(mlir::LoopLikeOpInterface loop);
  /// Makes accesses to slots that depend on values of `loop` ones to all slots.
  void leaveLoop(mlir::LoopLikeOpInterface loop);

  bool operator==(const SlotAccesses &other) const {
    return accesses == other.accesses;
  }

private:
  /// Calls `rename` for the slots that depend on values of `loop`.
  void renameInLoop(mlir::LoopLikeOpInterface loop,
                    llvm::function_ref<void(SlotAccess &)> rename);

  std::set<SlotAccess> accesses;
};

} // namespace tile

#endif // TILE_ANALYSIS_SLOTACCESSES_H
