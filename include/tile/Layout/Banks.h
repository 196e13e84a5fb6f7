//===- Banks.h - The banks of shared memory ---------------------*- C++ -*-===//
#ifndef TILE_LAYOUT_BANKS_H
#define TILE_LAYOUT_BANKS_H

#include "llvm/ADT/ArrayRef.h"
#include <algorithm>
#include <cstdint>

namespace tile {

/// The banks that an access uses, and the lanes that it serves in one pass: as
/// many as can use all banks at once. Without `blocks`, these are neighbours.
struct Banks {
  Banks(unsigned count = 32, llvm::ArrayRef<uint8_t> blocks = {})
      : count(count), blocks(blocks) {}

  /// Lanes of a block, and the bytes of the accesses that `blocks` is for.
  static constexpr int64_t kBlockLanes = 4, kBlockBytes = 16;

  /// Returns how many lanes that access `bytes` each go together.
  int64_t lanesAtOnce(int64_t bytes) const {
    return std::max<int64_t>(4 * count / std::max<int64_t>(bytes, 4), 1);
  }
  /// Returns the lane that is number `place` in the order of service.
  int64_t laneAt(int64_t place, int64_t bytes) const {
    if (blocks.empty() || bytes != kBlockBytes)
      return place;
    int64_t lanes = kBlockLanes * blocks.size();
    int64_t inside = place % lanes;
    return place - inside + blocks[inside / kBlockLanes] * kBlockLanes +
           inside % kBlockLanes;
  }

  /// The number of banks, of 4 bytes each.
  unsigned count;
  /// The order in which blocks of lanes are served; it repeats.
  llvm::ArrayRef<uint8_t> blocks;
};

} // namespace tile

#endif // TILE_LAYOUT_BANKS_H
