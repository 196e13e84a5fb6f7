//===- Statistics.h - Counts of a run ---------------------------*- C++ -*-===//
#ifndef TILE_LIB_EXECUTOR_STATISTICS_H
#define TILE_LIB_EXECUTOR_STATISTICS_H

#include "Instruction.h"
#include "tile/Executor/Executor.h"
#include "tile/Layout/Banks.h"
#include <deque>
#include <map>

namespace tile::cpu {

/// Counts what the threads of one block do.
class Counter {
public:
  Counter(unsigned warpSize, const Banks &readBanks, const Banks &storeBanks)
      : warpSize(warpSize), readBanks(readBanks), storeBanks(storeBanks) {}

  /// Counts the arrival of a thread at a site that accesses no memory, or whose
  /// access is counted separately.
  void visit(const Site &site);
  /// Counts an access by a lane of `warp`; `offset` is the offset in shared
  /// memory.
  void access(const Site &site, const Warp &warp, unsigned lane, bool shared,
              uint64_t offset, unsigned bytes, bool writes);
  /// Counts a read of shared memory by an MMA, whose order is unknown.
  void readByProduct(unsigned bytes) { sums.sharedRead += bytes; }
  /// Adds the counts of the finished block to `sums`.
  void finish(Statistics &sums);

private:
  /// The lanes of a warp that have arrived at an access equally often.
  struct Visit {
    uint64_t arrived = 0;
    unsigned bytes = 0;
    bool writes = false;
    /// Of each lane that has arrived.
    std::vector<uint64_t> offsets;
  };
  struct Visits {
    /// Arrivals of each lane, and the number of complete ones.
    std::vector<uint64_t> counts;
    uint64_t complete = 0;
    std::deque<Visit> open;
  };

  void countConflicts(const Visit &visit);

  unsigned warpSize;
  Banks readBanks, storeBanks;
  /// Arrivals of threads.
  std::map<Work, uint64_t> visits;
  Statistics sums;
  std::map<std::pair<unsigned, unsigned>, Visits> accesses;
};

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_STATISTICS_H
