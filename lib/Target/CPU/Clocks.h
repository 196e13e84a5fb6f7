//===- Clocks.h - What happens before what ----------------------*- C++ -*-===//
//
// Vector clocks (Lamport 1978, Mattern 1989): entry u of a thread's clock is
// the latest step of thread u whose effects the thread must see. A thread's own
// step advances whenever it releases.
//
// What works on by itself after a thread has started it, such as a matrix
// product that reads shared memory, has steps too, after those of the threads;
// who has waited for it knows them.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_TARGET_CPU_CLOCKS_H
#define TILE_LIB_TARGET_CPU_CLOCKS_H

#include <cstdint>
#include <map>
#include <vector>

namespace tile::cpu {

/// The steps of threads: those of one block in an array, those of other blocks,
/// which only atomics make known, by the block's number.
struct Clock {
  std::vector<uint32_t> own;
  std::map<uint32_t, std::vector<uint32_t>> others;
  /// Steps of the block with a fence since that shows the async proxy of
  /// shared memory what they wrote; empty for none. PTX ISA, "Causality order":
  /// the fence may be in any thread on the way to who uses the proxy.
  std::vector<uint32_t> fenced;

  void join(const Clock &clock);
  void clear();
};

/// What one thread knows.
struct ThreadClock {
  /// What has happened before.
  Clock now;
  /// What had happened before the last release fence: what a barrier or an
  /// atomic without order of its own passes on.
  Clock released;
  /// What such a barrier or atomic has passed to this thread: known after the
  /// next acquire fence.
  Clock pending;
};

} // namespace tile::cpu

#endif // TILE_LIB_TARGET_CPU_CLOCKS_H
