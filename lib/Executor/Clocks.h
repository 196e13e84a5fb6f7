//===- Clocks.h - Vector clocks ---------------------------------*- C++ -*-===//
//
// Vector clocks (Lamport 1978, Mattern 1989): entry u of a thread's clock is
// the latest step of thread u whose effects the thread must see. A thread's own
// step advances at each release.
//
// Asynchronous instructions, such as an MMA that reads shared memory, are
// actors with steps of their own, after those of the threads. A thread that has
// waited for such an instruction knows its steps.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EXECUTOR_CLOCKS_H
#define TILE_LIB_EXECUTOR_CLOCKS_H

#include <cstdint>
#include <map>
#include <vector>

namespace tile::cpu {

/// The known steps of threads: those of the own block in an array, those of
/// other blocks, which only atomics make known, by the number of the block. An
/// array may be short: steps beyond its end are not known.
struct Clock {
  std::vector<uint32_t> own;
  std::map<uint32_t, std::vector<uint32_t>> others;
  /// The steps of the own block whose writes a fence has made visible to the
  /// async proxy of shared memory; empty if there are none. The fence may be in
  /// any thread between the writer and the user of the proxy (PTX ISA,
  /// "Causality order").
  std::vector<uint32_t> fenced;

  void join(const Clock &clock);
  void clear();
};

/// The clocks of one thread.
struct ThreadClock {
  /// The accesses that happened before the thread's next one.
  Clock now;
  /// The value of `now` at the last release fence. A relaxed barrier or atomic
  /// passes it on.
  Clock released;
  /// The clocks received from relaxed barriers and atomics. The next acquire
  /// fence adds them to `now`.
  Clock pending;
};

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_CLOCKS_H
