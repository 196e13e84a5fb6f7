//===- Check.h - Checks of memory accesses ----------------------*- C++ -*-===//
//
// Checks the memory accesses of a block and what orders them.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EXECUTOR_CHECK_H
#define TILE_LIB_EXECUTOR_CHECK_H

#include "Instruction.h"
#include "Shadow.h"
#include "tile/Executor/Executor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <deque>
#include <mutex>

namespace tile::cpu {

struct Launch;
struct Report;

/// A buffer argument of a kernel in global memory. Only the elements of its
/// shape may be accessed.
struct Buffer {
  std::string name;
  Tensor tensor;
  unsigned elementBytes = 1;
  /// The address range from the first to the last element.
  uintptr_t begin = 0, end = 0;
  /// Whether the range contains bytes that belong to no element.
  bool hasGaps = false;
  /// Set only for buffers that the kernel writes: only they can race.
  std::unique_ptr<Shadow> shadow;

  Buffer(const Parameter &parameter, const Tensor &tensor, unsigned unit);
  /// Returns whether all bytes from `address` on belong to elements. Only the
  /// first and the last are checked where elements lie apart.
  bool holds(uintptr_t address, unsigned bytes = 1) const;
  /// Returns the bytes from `address` on, fewer than `bytes`, that lie between
  /// elements in front of an element that holds the last of these bytes; 0 if
  /// there is no such element.
  unsigned countGap(uintptr_t address, unsigned bytes) const;
};

/// Clocks that threads have released at an address. Steps and fences are keyed
/// by the number of the block; none is the block's own.
struct Released {
  Clock steps;
  std::map<uint32_t, Clock> fences;
};

/// The state that the checks of all blocks of a launch share.
struct CheckedLaunch {
  std::vector<Buffer> buffers;
  /// The addresses and sizes of constants, which every thread may read.
  llvm::ArrayRef<std::pair<uintptr_t, uint64_t>> constants;
  /// The granularity of the program's accesses in bytes: 1 or 2.
  unsigned unit = 2;
  const std::deque<Site> *sites = nullptr;

  /// The clocks that atomics released, by address.
  std::mutex mutex;
  std::map<uintptr_t, Released> released;
};

/// A write that nothing orders after an earlier write. It is a race unless it
/// leaves the memory unchanged.
struct SuspectedWrite {
  const Site *site;
  uint64_t address;
  llvm::SmallVector<char, 16> before;
  Fault fault;
};

/// Checks the accesses of one block.
class Checker {
public:
  Checker(Launch &launch, CheckedLaunch &checked, char *shared);

  /// Resets the state for a new block.
  void reset();

  /// Fails unless the access of `bytes` at `address` is allowed.
  void access(Thread &thread, const Site &site, uint64_t address,
              unsigned bytes, unsigned alignment, AccessKind kind);
  /// Must be called after the thread has performed the writes that access()
  /// saw, before another thread runs.
  void confirmWrites(Thread &thread);
  /// Records that a copy to shared memory has been waited for.
  void copyDone(Thread &thread, const Site &site, const char *address,
                unsigned bytes);

  /// As copyDone(), for a TMA load. No thread knows of it before passBulk().
  void bulkDone(Thread &thread, const Site &site, const char *address,
                unsigned bytes);
  /// Makes the TMA loads so far known to the holder of `clock`.
  void passBulk(Clock &clock);

  /// Records that a TMA store to global memory has been waited for.
  void storeDone(Thread &thread, const Site &site, const char *address,
                 unsigned bytes);
  /// Closes the group of the reads by TMA for a warp and returns its step.
  uint32_t closeStores(const Warp &warp);
  /// Records that a thread has waited for TMA's reads for its warp up to
  /// `step`.
  void awaitStores(const Thread &thread, uint32_t step);

  /// Returns the first ones of `bytes` at `address`, a multiple of `alignment`,
  /// that lie between the elements of a buffer, in front of elements. A copy of
  /// an aligned word may read them together with these.
  unsigned countGap(uint64_t address, unsigned alignment, unsigned bytes) const;

  void fence(Thread &thread, bool acquires, bool releases);
  /// Records a fence.proxy.async: it makes all writes that the thread knows of
  /// visible to the async proxy.
  void fenceProxy(Thread &thread);
  /// Closes the group of the reads by a warp's MMAs and returns its step.
  uint32_t closeProducts(const Warp &warp);
  /// Records that a warp has waited for its MMAs up to `step`.
  void awaitProducts(const Warp &warp, uint32_t step);
  /// Records an atomic access to `address` and runs `access`. No other block
  /// does so in between: the clocks pass in the order of the accesses.
  void atomic(
      Thread &thread, uint64_t address, bool acquires, bool releases,
      llvm::function_ref<void()> access = [] {});

  // The effect of a barrier on memory. With `fences` it orders memory by
  // itself, otherwise only together with fences.
  void arrive(const Thread &thread, Clock &barrier, bool fences);
  void leave(const Thread &thread, const Clock &barrier, bool fences);

private:
  Step stepOf(const Thread &thread, const Site &site,
              AccessKind kind = AccessKind::Read) const;
  /// Returns the actor of a warp's MMAs, an index into Clock::own.
  unsigned productsOf(const Warp &warp) const;
  unsigned tmaActor() const { return clocks.size() + productSteps.size(); }
  /// Returns the actor of TMA's reads for a warp.
  unsigned storesOf(const Warp &warp) const;
  std::string nameOf(unsigned actor) const;
  void release(const Thread &thread);
  std::string describePlaceOf(uint64_t address) const;
  Report describe(const Step &step, const Fault &fault, AccessKind kind,
                  uint64_t address) const;
  Report describeOutside(uint64_t address, unsigned bytes,
                         AccessKind kind) const;
  void judge(Thread &thread, const Site &site, uint64_t address, unsigned bytes,
             AccessKind kind, std::optional<Fault> fault, uint64_t begin);
  [[noreturn]] void fail(Thread &thread, const Site &site, const Fault &fault,
                         AccessKind kind, uint64_t address);

  Launch &launch;
  CheckedLaunch &checked;
  uintptr_t shared;
  Shadow sharedShadow;
  std::vector<ThreadClock> clocks;
  /// The current step of each warp's MMAs.
  std::vector<uint32_t> productSteps;
  /// The current step of TMA's reads for each warp.
  std::vector<uint32_t> storeSteps;
  /// The current step of TMA's loads.
  uint32_t bulkStep = 1;
};

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_CHECK_H
