//===- MemoryBarrier.h - Barriers in shared memory --------------*- C++ -*-===//
//
// A barrier (mbarrier) counts arrivals and, of the copy engine, bytes. Copies
// are made as late as they can be: when a thread waits for the phase and all
// of them have been issued.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_TARGET_CPU_MEMORYBARRIER_H
#define TILE_LIB_TARGET_CPU_MEMORYBARRIER_H

#include "Clocks.h"
#include "llvm/ADT/SmallVector.h"
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
  /// The bytes past `sourceBytes` become 0.
  unsigned bytes, sourceBytes;
};

struct MemoryBarrier {
  /// Arrivals of a phase, and those to come in this one.
  unsigned arrivals = 0, missing = 0;
  /// Bytes announced in this phase less those of copies that were issued.
  int64_t bytes = 0;
  /// Phases that have ended.
  uint64_t phase = 0;
  std::vector<PendingCopy> copies;
  llvm::SmallVector<Thread *, 0> waiting;
  /// What those that have arrived know; what those of the last phase knew.
  Clock clock, lastClock;
};

/// By address.
using MemoryBarriers = std::map<uint64_t, MemoryBarrier>;

} // namespace tile::cpu

#endif // TILE_LIB_TARGET_CPU_MEMORYBARRIER_H
