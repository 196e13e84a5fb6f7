//===- ProductUse.h - What becomes of matrix products -----------*- C++ -*-===//
#ifndef TILE_ANALYSIS_PRODUCTUSE_H
#define TILE_ANALYSIS_PRODUCTUSE_H

#include "tile/Chips/Mma.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Returns true if `value` is only added up in a loop, computed elementwise and
/// stored.
bool isOnlyStored(mlir::Value value);

/// How an instruction divides a product, and what that costs.
struct ProductCost {
  /// The warps that share a row of the result, if rows should stay together;
  /// else 1.
  int64_t sharing;
  /// The elements of operands that all warps exchange with shared memory.
  int64_t exchanged;
  /// The multiplications of one instruction.
  int64_t size;

  /// Reductions of rows that warps share take barriers; then shared memory
  /// decides, then the number of instructions.
  bool operator<(const ProductCost &other) const {
    return std::tuple(sharing, exchanged, -size) <
           std::tuple(other.sharing, other.exchanged, -other.size);
  }
};

/// Returns true if `mma` may take the place of `first`, which the chip prefers,
/// by its cost. The others are for products that `first` does not divide.
bool isAlternative(const Mma &mma, const Mma &first);

} // namespace tile

#endif // TILE_ANALYSIS_PRODUCTUSE_H
