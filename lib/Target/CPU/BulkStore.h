//===- BulkStore.h - The copy engine out of shared memory -------*- C++ -*-===//
//
// What a thread has the copy engine store or add belongs to groups. The engine
// reads shared memory and writes as late as it can: when the thread waits for
// the one and for the other.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_TARGET_CPU_BULKSTORE_H
#define TILE_LIB_TARGET_CPU_BULKSTORE_H

#include "tile/Target/Atomics.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace tile::cpu {

class Block;
struct Site;
struct Thread;

/// Up to 16 bytes of shared memory on their way to global memory.
struct PendingStore {
  const Site *site;
  const char *source;
  char *destination;
  unsigned bytes;
  /// What is added; nothing for a plain store.
  std::optional<AtomicElement> added;
  /// What was read.
  llvm::SmallVector<char, 16> data;
};

struct StoreGroup {
  std::vector<PendingStore> stores;
  /// Of the engine that reads, see Checker::closeStores.
  uint32_t step = 0;
  bool isRead = false;
};

/// Stores of one thread since its last commit, and groups, oldest first.
struct BulkStores {
  std::vector<PendingStore> open;
  std::deque<StoreGroup> groups;

  void clear() {
    open.clear();
    groups.clear();
  }
};

/// Starts to move `bytes` from shared memory, both checked, on behalf of a
/// thread. With `added`, adds elements of this type.
void startStore(Thread &thread, const Site &site, uint64_t source,
                uint64_t destination, unsigned bytes, unsigned elementBytes,
                std::optional<AtomicElement> added);

/// The thread ends: fails unless shared memory has been read.
void finishBulkStores(Thread &thread);

} // namespace tile::cpu

#endif // TILE_LIB_TARGET_CPU_BULKSTORE_H
