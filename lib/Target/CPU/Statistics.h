//===- Statistics.h - What a run was made of --------------------*- C++ -*-===//
#ifndef TILE_LIB_TARGET_CPU_STATISTICS_H
#define TILE_LIB_TARGET_CPU_STATISTICS_H

#include "Instruction.h"
#include "tile/Target/CPU/Executor.h"
#include <deque>
#include <map>

namespace tile::cpu {

/// Counts what the threads of one block do.
class Counter {
public:
  Counter(unsigned warpSize, unsigned banks)
      : warpSize(warpSize), banks(banks) {}

  /// A thread comes to a site that accesses no memory, or whose access is
  /// counted by itself.
  void visit(const Site &site);
  /// A lane of `warp` accesses memory; `offset` is that in shared memory.
  void access(const Site &site, const Warp &warp, unsigned lane, bool shared,
              uint64_t offset, unsigned bytes, bool writes);
  /// A product reads shared memory, in what order is not known.
  void readByProduct(unsigned bytes) { sums.sharedRead += bytes; }
  /// The block has ended: adds what it did to `sums`.
  void finish(Statistics &sums);

private:
  /// The lanes of a warp that have come to an access for the same time.
  struct Visit {
    uint64_t arrived = 0;
    unsigned bytes = 0;
    std::vector<uint64_t> offsets;
  };
  struct Visits {
    /// How often each lane has come, and how many of the visits are complete.
    std::vector<uint64_t> counts;
    uint64_t complete = 0;
    std::deque<Visit> open;
  };

  void countConflicts(const Visit &visit);

  unsigned warpSize, banks;
  /// Thread visits.
  std::map<Work, uint64_t> visits;
  Statistics sums;
  std::map<std::pair<unsigned, unsigned>, Visits> accesses;
};

} // namespace tile::cpu

#endif // TILE_LIB_TARGET_CPU_STATISTICS_H
