//===- Check.h - What no thread may do --------------------------*- C++ -*-===//
//
// Watches the accesses of a block to memory, and what orders them.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_TARGET_CPU_CHECK_H
#define TILE_LIB_TARGET_CPU_CHECK_H

#include "Instruction.h"
#include "Shadow.h"
#include "tile/Target/CPU/Executor.h"
#include <deque>
#include <mutex>

namespace tile::cpu {

struct Launch;
struct Report;

/// A kernel's argument in global memory, of which only the elements of its
/// shape may be accessed.
struct Buffer {
  std::string name;
  Tensor tensor;
  unsigned elementBytes = 1;
  /// The bytes from the first to the last element.
  uintptr_t begin = 0, end = 0;
  /// Whether there are others between them.
  bool hasGaps = false;
  /// Only for buffers that the kernel writes to: nothing else can race.
  std::unique_ptr<Shadow> shadow;

  Buffer(const Parameter &parameter, const Tensor &tensor, unsigned unit);
  /// Whether the element at this byte is one of the tensor's.
  bool holds(uintptr_t address) const;
};

/// What threads have released at an address. Steps and fences are of blocks
/// with a number: none is the own one of all.
struct Released {
  Clock steps;
  std::map<uint32_t, Clock> fences;
};

/// The checks of the blocks of one launch have this in common.
struct CheckedLaunch {
  std::vector<Buffer> buffers;
  /// Bytes that the smallest access of the program is a multiple of, 1 or 2.
  unsigned unit = 2;
  const std::deque<Site> *sites = nullptr;

  /// What threads released by atomics, by the address.
  std::mutex mutex;
  std::map<uintptr_t, Released> released;
};

/// A write over another that nothing orders, which is a race unless it leaves
/// the memory as it was.
struct SuspectedWrite {
  const Site *site;
  uint64_t address;
  llvm::SmallVector<char, 16> before;
  Fault fault;
};

/// The checks of one block.
class Checker {
public:
  Checker(Launch &launch, CheckedLaunch &checked, char *shared);

  /// Begins a block.
  void reset();

  /// Fails unless `bytes` at `address` may be accessed like this.
  void access(Thread &thread, const Site &site, uint64_t address,
              unsigned bytes, unsigned alignment, AccessKind kind);
  /// To be called when the thread has made the writes that access() was told
  /// of, and before any other thread runs.
  void confirmWrites(Thread &thread);
  /// A copy to shared memory has been waited for.
  void copyDone(Thread &thread, const Site &site, const char *address,
                unsigned bytes);

  /// The same for a copy of the copy engine, which is not known to any thread
  /// before `passBulk`.
  void bulkDone(Thread &thread, const Site &site, const char *address,
                unsigned bytes);
  /// Who has `clock` knows the copies that the copy engine has made so far.
  void passBulk(Clock &clock);

  /// A write of the copy engine to global memory has been waited for.
  void storeDone(Thread &thread, const Site &site, const char *address,
                 unsigned bytes);
  /// What the copy engine has read for a warp, up to the step that is returned,
  /// belongs to one group.
  uint32_t closeStores(const Warp &warp);
  /// A thread has waited until the copy engine has read what it does up to
  /// `step` for its warp.
  void awaitStores(const Thread &thread, uint32_t step);

  void fence(Thread &thread, bool acquires, bool releases);
  /// fence.proxy.async: what the thread knows to be written, the async proxy
  /// sees.
  void fenceProxy(Thread &thread);
  /// What the products of a warp have read, up to the step that is returned,
  /// belongs to one group.
  uint32_t closeProducts(const Warp &warp);
  /// A warp has waited for its products up to `step`.
  void awaitProducts(const Warp &warp, uint32_t step);
  /// An atomic access to `address`.
  void atomic(Thread &thread, uint64_t address, bool acquires, bool releases);

  // What a barrier does to memory: with `fences`, it orders by itself, else
  // only between fences.
  void arrive(const Thread &thread, Clock &barrier, bool fences);
  void leave(const Thread &thread, const Clock &barrier, bool fences);

private:
  Step stepOf(const Thread &thread, const Site &site,
              AccessKind kind = AccessKind::Read) const;
  /// The engine of a warp that multiplies, as an index into Clock::own.
  unsigned productsOf(const Warp &warp) const;
  unsigned copyEngine() const { return clocks.size() + productSteps.size(); }
  /// The copy engine as far as it reads for a warp.
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
  /// The steps of the warps' engines.
  std::vector<uint32_t> productSteps;
  /// The steps of the copy engine that reads for the warps.
  std::vector<uint32_t> storeSteps;
  /// The step of the copy engine.
  uint32_t bulkStep = 1;
};

} // namespace tile::cpu

#endif // TILE_LIB_TARGET_CPU_CHECK_H
