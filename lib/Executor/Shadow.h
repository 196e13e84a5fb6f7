//===- Shadow.h - Accesses to each byte of memory ---------------*- C++ -*-===//
//
// Records the last write of every piece of memory and two of the reads since,
// each as a step of a thread. After FastTrack (Flanagan, Freund 2009), but of
// several unordered reads only the first and the last are kept.
//
// The unit of recording is a granule of 16 bytes, the size of most accesses. A
// granule that is accessed in part is split.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EXECUTOR_SHADOW_H
#define TILE_LIB_EXECUTOR_SHADOW_H

#include "Clocks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemAlloc.h"
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace tile::cpu {

/// A step of a thread, or of an asynchronous instruction that it has started,
/// at a site. A step of zeros does not exist.
struct Step {
  /// More than the threads of a cluster and the actors of its warps.
  static constexpr uint32_t kActors = 16384;

  uint32_t clock = 0;
  uint32_t block = 0;
  /// 1 + actor + kActors * site, or 0.
  uint32_t place = 0;

  bool exists() const { return place != 0; }
  void setPlace(unsigned actor, unsigned site) {
    place = 1 + actor + kActors * site;
  }
  /// An index into Clock::own.
  unsigned actor() const { return (place - 1) % kActors; }
  unsigned site() const { return (place - 1) / kActors; }
};

/// The record of a piece of memory.
struct History {
  Step write, firstRead, lastRead;
  /// The write is an asynchronous copy that has not been waited for.
  bool pending = false;
  /// The write was atomic.
  bool atomic = false;
};

enum class AccessKind {
  Read,
  Write,
  Atomic,
  /// A read of shared memory by a warp's MMA through the async proxy, until the
  /// MMA has been waited for.
  ProductRead,
  /// A read of shared memory by TMA for a warp, until it has been waited for.
  BulkRead,
  /// The issue of an asynchronous write, and the wait for it.
  CopyIssue,
  CopyDone
};

/// An error of an access.
struct Fault {
  /// NotFenced: the write need not be visible to the async proxy.
  enum Kind { Race, NeverWritten, Pending, NotFenced } kind;
  /// The other access, if there is one, and whether it was a write.
  Step other;
  bool otherWrote = false;
  /// The first byte of the fault.
  size_t offset = 0;
  /// Set for two plain writes: there is no fault if both write the same value,
  /// as threads that hold replicas of an element do. The access has been
  /// recorded.
  bool unlessEqual = false;
};

class Shadow {
public:
  /// Covers `bytes` of memory that are accessed in units of `unit` bytes, 1 or
  /// 2. With `global`, several threads of the host use the shadow, and a read
  /// of memory that was never written is no fault.
  Shadow(size_t bytes, unsigned unit, bool global);

  /// Clears all records.
  void reset();

  /// Records an access by the thread at `step` with the clock `clock`. Returns
  /// a certain fault rather than an uncertain one.
  std::optional<Fault> access(size_t offset, size_t bytes, AccessKind kind,
                              const Step &step, const Clock &clock);

private:
  static constexpr size_t kGranule = 16;
  static constexpr size_t kStripes = 64;

  struct Granule {
    History whole;
    /// Index of the stripe's split that holds the parts, plus 1; 0 for none.
    uint32_t split = 0;
  };
  /// A lock that is held for a few instructions. Threads of the host do not
  /// sleep while they wait for it, because waking one takes longer.
  class SpinLock {
  public:
    void lock() {
      for (unsigned tries = 0; taken.test_and_set(std::memory_order_acquire);)
        // Its holder may have been preempted.
        if (++tries % kTriesAtOnce == 0)
          std::this_thread::yield();
    }
    void unlock() { taken.clear(std::memory_order_release); }

  private:
    static constexpr unsigned kTriesAtOnce = 64;
    std::atomic_flag taken = ATOMIC_FLAG_INIT;
  };

  /// Granules that share a lock, on cache lines of their own.
  struct alignas(64) Stripe {
    SpinLock lock;
    std::vector<History> parts;
    std::vector<uint32_t> free;
  };

  std::optional<Fault> accessGranule(size_t index, size_t begin, size_t end,
                                     AccessKind kind, const Step &step,
                                     const Clock &clock);
  std::optional<Fault> update(History &history, AccessKind kind,
                              const Step &step, const Clock &clock) const;

  bool global;
  unsigned unit, units;
  size_t granuleCount;
  /// Memory of zeros, which takes no pages of the host until it is accessed: a
  /// kernel accesses few of the pages of a cache.
  std::unique_ptr<Granule[], llvm::FreeDeleter> granules;
  std::unique_ptr<Stripe[]> stripes;
};

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_SHADOW_H
