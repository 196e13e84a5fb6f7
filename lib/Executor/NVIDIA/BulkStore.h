//===- BulkStore.h - TMA stores and reductions ------------------*- C++ -*-===//
//
// The TMA stores and reductions of a thread belong to bulk groups. Here TMA
// reads shared memory and writes global memory as late as the program allows:
// when the thread waits for the reads, and when it waits for the writes.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EXECUTOR_NVIDIA_BULKSTORE_H
#define TILE_LIB_EXECUTOR_NVIDIA_BULKSTORE_H

#include "tile/Chips/Atomics.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace tile::cpu {

class Block;
struct Site;
struct Thread;

/// Up to 16 bytes that TMA moves from shared to global memory.
struct PendingStore {
  const Site *site;
  const char *source;
  char *destination;
  unsigned bytes;
  /// The element type of a reduction; empty for a store.
  std::optional<AtomicElement> added;
  /// The bytes that were read.
  llvm::SmallVector<char, 16> data;
};

struct StoreGroup {
  std::vector<PendingStore> stores;
  /// The step of TMA's reads for the warp; see Checker::closeStores.
  uint32_t step = 0;
  bool isRead = false;
};

/// Stores of one thread since its last commit, and committed groups, oldest
/// first.
struct BulkStores {
  std::vector<PendingStore> open;
  std::deque<StoreGroup> groups;

  void clear() {
    open.clear();
    groups.clear();
  }
};

/// Issues a store of `bytes` from shared memory for a thread, or with `added` a
/// reduction of elements of that type. Both addresses have been checked.
void startStore(Thread &thread, const Site &site, uint64_t source,
                uint64_t destination, unsigned bytes, unsigned elementBytes,
                std::optional<AtomicElement> added);

/// Called when a thread ends. Fails unless the sources of its stores have been
/// read.
void finishBulkStores(Thread &thread);

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_NVIDIA_BULKSTORE_H
