//===- MemoryBarrier.h - mbarriers ------------------------------*- C++ -*-===//
//
// An mbarrier counts arrivals and the bytes of TMA loads and of asynchronous
// stores. These take effect as late as possible: when a thread waits for their
// phase and all of the phase have been issued.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EXECUTOR_MEMORYBARRIER_H
#define TILE_LIB_EXECUTOR_MEMORYBARRIER_H

#include "Clocks.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace tile::cpu {

struct Site;
struct Thread;

/// A copy to shared memory that has not been waited for.
struct PendingCopy {
  const Site *site;
  char *destination;
  const char *source;
  /// Bytes from `sourceBytes` on become 0.
  unsigned bytes, sourceBytes;
  /// The value of an asynchronous store, which has no source in memory.
  std::array<uint32_t, 4> value = {};
};

struct MemoryBarrier {
  /// Arrivals in this phase, and the number that ends it.
  unsigned arrivals = 0, missing = 0;
  /// Bytes expected in this phase, less those of issued loads.
  int64_t bytes = 0;
  /// Number of completed phases.
  uint64_t phase = 0;
  std::vector<PendingCopy> copies;
  llvm::SmallVector<Thread *, 0> waiting;
  /// The joined clocks of the threads that have arrived, and those of the last
  /// phase.
  Clock clock, lastClock;
};

/// Barriers by address.
using MemoryBarriers = std::map<uint64_t, MemoryBarrier>;

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_MEMORYBARRIER_H
