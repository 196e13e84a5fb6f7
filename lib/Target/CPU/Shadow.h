//===- Shadow.h - Who has accessed each byte of a memory --------*- C++ -*-===//
//
// For every piece of memory the last write and two of the reads since, each as
// a step of a thread. After FastTrack (Flanagan, Freund 2009), but of several
// reads that are not ordered only the first and the last are kept.
//
// Memory is recorded by granules of 16 bytes, since that is how most of it is
// accessed; a granule that is accessed in part is split.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_TARGET_CPU_SHADOW_H
#define TILE_LIB_TARGET_CPU_SHADOW_H

#include "Clocks.h"
#include "llvm/ADT/STLExtras.h"
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace tile::cpu {

/// A step at a site of the program of a thread, or of what one has started.
struct Step {
  static constexpr uint32_t kNever = ~0u;
  /// More than there are threads in a block and engines of its warps.
  static constexpr uint32_t kActors = 2048;

  uint32_t clock = 0;
  uint32_t block = 0;
  /// actor + kActors * site, or kNever.
  uint32_t place = kNever;

  bool exists() const { return place != kNever; }
  /// An index into Clock::own.
  unsigned actor() const { return place % kActors; }
  unsigned site() const { return place / kActors; }
};

/// What is recorded of each piece of memory.
struct History {
  Step write, firstRead, lastRead;
  /// The write is an asynchronous copy that has not been waited for.
  bool pending = false;
  /// The write was an atomic one.
  bool atomic = false;
};

enum class AccessKind {
  Read,
  Write,
  Atomic,
  /// A read of shared memory through the async proxy, by a warp's engine of
  /// products: until it has been waited for.
  ProductRead,
  /// The same by the copy engine, for a warp.
  BulkRead,
  /// A write that takes place when it is waited for, and that wait.
  CopyIssue,
  CopyDone
};

/// What is wrong with an access.
struct Fault {
  /// NotFenced: the async proxy need not see what was written.
  enum Kind { Race, NeverWritten, Pending, NotFenced } kind;
  /// The other access, where there is one, and whether it wrote.
  Step other;
  bool otherWrote = false;
  /// The first byte.
  size_t offset = 0;
  /// Two plain writes: none if both write the same, as threads that hold copies
  /// of an element do. The access has been recorded.
  bool unlessEqual = false;
};

class Shadow {
public:
  /// For `bytes` of memory that are accessed in units of `unit` bytes, 1 or 2.
  /// If `global`, several threads of the host use it, and reading what nobody
  /// wrote is no fault.
  Shadow(size_t bytes, unsigned unit, bool global);

  /// Forgets everything.
  void reset();

  /// Records an access by the thread that is at `step` and knows `clock`. A
  /// fault that is certain is returned rather than others.
  std::optional<Fault> access(size_t offset, size_t bytes, AccessKind kind,
                              const Step &step, const Clock &clock);

private:
  static constexpr size_t kGranule = 16;
  static constexpr size_t kStripes = 64;

  struct Granule {
    History whole;
    /// Which of the stripe's splits holds the parts, plus 1; 0 for none.
    uint32_t split = 0;
  };
  /// Granules that share a lock.
  struct Stripe {
    std::mutex mutex;
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
  std::vector<Granule> granules;
  std::unique_ptr<Stripe[]> stripes;
};

} // namespace tile::cpu

#endif // TILE_LIB_TARGET_CPU_SHADOW_H
