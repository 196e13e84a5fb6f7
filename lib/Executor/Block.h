//===- Block.h - A block of threads on one CPU ------------------*- C++ -*-===//
//
// Every GPU thread is a fiber. A fiber runs until it must wait for other
// threads; then the next runnable one continues. Threads of a block therefore
// never run at the same time, and their order is the same in every run.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EXECUTOR_BLOCK_H
#define TILE_LIB_EXECUTOR_BLOCK_H

#include "Check.h"
#include "Fiber.h"
#include "Instruction.h"
#include "MemoryBarrier.h"
#include "NVIDIA/BulkStore.h"
#include "Products.h"
#include "Reports.h"
#include "Statistics.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace tile::cpu {

using Dim3 = std::array<unsigned, 3>;

/// An error, with the block and the thread that made it.
struct Report {
  Dim3 block{};
  unsigned thread = 0;
  Position position;
  std::string message;
  /// Other places in the source that belong to the error.
  std::vector<std::pair<Position, std::string>> notes;

  Report() = default;
  Report(const llvm::Twine &message) : message(message.str()) {}
};

/// Returns the words for the place of an error with which its report begins.
std::string describeThread(llvm::StringRef kernel, const Dim3 &block,
                           unsigned thread);

/// One launch of a kernel: the state that its blocks share.
struct Launch {
  std::string kernel;
  /// Calls the kernel with arguments of 8 bytes each.
  void (*entry)(Thread *, const uint64_t *arguments) = nullptr;
  std::vector<uint64_t> arguments;
  Dim3 grid{}, block{};
  /// Blocks of a cluster. A cluster runs as one block: `block` has the threads
  /// of all its blocks, `grid` counts clusters, and `shared` is the size of the
  /// shared memory of all, one after the other.
  unsigned clusterBlocks = 1;
  unsigned warpSize = 32;
  /// Size of shared memory in bytes.
  size_t shared = 0;
  size_t sharedOfBlock() const { return shared / clusterBlocks; }
  /// Bytes of stack that the kernel needs, without those of the runtime.
  size_t frameBytes = 0;
  /// Whether a barrier orders memory by itself, as on NVIDIA. On AMD it does so
  /// only together with fences.
  bool barriersFence = true;
  /// Null if accesses are not checked.
  CheckedLaunch *checked = nullptr;
  /// Null if nothing is counted. Guarded by the mutex.
  Statistics *statistics = nullptr;
  Banks readBanks, storeBanks;
  /// RunOptions::maxTurns.
  uint64_t maxTurns = 0;

  /// The report of the first failed block in the order of block indices. The
  /// other blocks stop when they see `failed`.
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::optional<Report> report;
  /// Guarded by the mutex.
  PrintedText printed;
  /// Receives what blocks print.
  llvm::function_ref<void(llvm::StringRef)> sink;
};

struct Thread : Context {
  char *shared = nullptr;

  Block *block = nullptr;
  Warp *warp = nullptr;
  unsigned id = 0, lane = 0;
  /// The number of the thread's block in its cluster, and its index there.
  unsigned rank = 0;
  Dim3 index{};
  bool done = false;
  /// The site where the thread waits; null if it does not.
  const Site *waiting = nullptr;

  /// The text that the thread has printed.
  std::string printed;

  /// The phase of barrier 0, or of the barrier of the cluster, at which the
  /// thread has arrived without waiting.
  std::optional<uint64_t> signalled;
  /// Writes that may turn out to be races; see Checker.
  llvm::SmallVector<SuspectedWrite, 0> suspects;
  /// Copies since the last commit, and committed groups, oldest first.
  std::vector<PendingCopy> copies;
  std::deque<std::vector<PendingCopy>> groups;
  BulkStores bulkStores;
};

/// Lanes that have reached one instruction and wait for the other lanes.
struct Meeting {
  const Site *site;
  uint64_t members, arrived;
  llvm::SmallVector<Call, 64> calls;
};

struct Warp {
  Block *block = nullptr;
  /// The number of the warp in the cluster, and in its block.
  unsigned id = 0, inBlock = 0;
  /// The first thread of the warp, and the mask of the lanes that exist.
  Thread *threads = nullptr;
  uint64_t lanes = 0;
  llvm::SmallVector<Meeting, 2> meetings;
  Products products;
};

/// A barrier of a block or of its cluster, with `arrived` threads so far.
struct Barrier {
  unsigned arrived = 0;
  /// Number of threads that must arrive; 0 means all that have not ended.
  unsigned expected = 0;
  uint64_t phase = 0;
  llvm::SmallVector<Thread *, 0> waiting;
  /// The joined clocks of the threads that have arrived, and those of the last
  /// phase.
  Clock clock, lastClock;
};

class Block {
public:
  static llvm::Expected<std::unique_ptr<Block>> create(Launch &launch);
  ~Block();

  /// Runs the block with this index to its end. Returns false if it failed.
  bool run(Dim3 index);

  // The functions below are called by the instructions of the running thread.

  /// Suspends `thread` until ready() is called for it.
  void wait(Thread &thread, const Site &site);
  void ready(Thread &thread);
  /// Notes that the thread begins a loop iteration. After many iterations it
  /// lets other threads run, because it may poll for one of them.
  void turn(Thread &thread, const Site &site);
  /// Ends the block with this report, and adds the thread and its location. The
  /// stack of the caller is abandoned without running destructors, so
  /// `describe` makes everything that the report needs.
  [[noreturn]] void fail(Thread &thread, const Site &site,
                         llvm::function_ref<Report()> describe);

  /// Returns the words for the kernel, the block and a thread with which
  /// reports begin.
  std::string describeThread(unsigned thread) const;

  /// Arrives at barrier `id`, at which `expected` threads meet (0: all).
  /// Returns the phase, which ends when all of them have arrived.
  uint64_t arrive(Thread &thread, const Site &site, unsigned id,
                  unsigned expected);
  /// Waits for the end of a phase.
  void waitBarrier(Thread &thread, const Site &site, unsigned id,
                   uint64_t phase);
  /// Arrives at the barrier of all threads of the cluster, and waits there for
  /// the end of a phase.
  uint64_t arriveInCluster(Thread &thread);
  void waitForCluster(Thread &thread, const Site &site, uint64_t phase);

  /// Checks an access and returns its memory. Fails if the access is not
  /// allowed.
  char *access(Thread &thread, const Site &site, uint64_t address,
               unsigned bytes, unsigned alignment, AccessKind kind);
  /// As access(), for an address that must be in shared memory, with or without
  /// a Checker.
  char *accessShared(Thread &thread, const Site &site, uint64_t address,
                     unsigned bytes, unsigned alignment, AccessKind kind);
  /// Returns null if accesses are not checked.
  Checker *getChecker() { return checker.get(); }
  /// Returns null if nothing is counted.
  Counter *getCounter() { return counter.get(); }
  /// Orders the past accesses of the lanes of a warp before their future ones.
  void orderWarp(llvm::ArrayRef<Call> lanes, Warp &warp);

  /// Completes copies of `thread` in their order.
  void complete(Thread &thread, llvm::ArrayRef<PendingCopy> copies);
  /// Completes the TMA loads of an mbarrier's phase and makes them visible to
  /// `thread` or to the threads that wait.
  void completeBulk(Thread &thread, MemoryBarrier &barrier);

  Dim3 index{};
  Launch &launch;
  MemoryBarriers memoryBarriers;

private:
  explicit Block(Launch &launch) : launch(launch) {}
  friend void runCall(Thread *thread, const Site *site, char *frame);

  static void enter(boost::context::detail::transfer_t transfer);
  /// Returns the context that runs when the current thread cannot continue.
  Context &next();
  void suspend(Thread &thread);
  void finish(Thread &thread);
  void meet(Thread &thread, const Call &call);
  uint64_t arrive(Thread &thread, Barrier &barrier, unsigned expected,
                  unsigned all);
  void wait(Thread &thread, const Site &site, Barrier &barrier, uint64_t phase);
  void endPhaseIfComplete(Barrier &barrier, unsigned all);
  void record(Report report);
  /// Hands what the threads have printed to the launch.
  void print();
  Report describeStop();
  void listWaiting(Report &report) const;

  Context scheduler;
  std::unique_ptr<Checker> checker;
  std::unique_ptr<Counter> counter;
  std::optional<Stacks> stacks;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::deque<Thread *> runnable;
  /// The barriers of one block of the cluster, and its threads that have not
  /// ended.
  struct Rank {
    std::array<Barrier, 16> barriers;
    unsigned unfinished = 0;
  };
  std::vector<Rank> ranks;
  Barrier clusterBarrier;
  /// The threads that have not ended.
  unsigned unfinished = 0;
  /// Loop iterations since a thread last ended or had to wait.
  uint64_t turns = 0;
  bool failed = false;
  char *shared = nullptr;
  size_t sharedBytes = 0;
};

/// Called by a kernel at a site with a row in the table of instructions.
void runCall(Thread *thread, const Site *site, char *frame);
/// Called by a kernel before a load or a store.
void runAccess(Thread *thread, const Site *site, void *address);
/// Called by a kernel before an instruction that a function of the host
/// emulates.
void runVisit(Thread *thread, const Site *site);
/// Called by a kernel before an integer division. `wrong` is not null if the
/// division has no result: by zero, or of the smallest integer by -1.
void runDivision(Thread *thread, const Site *site, const void *wrong);
/// Called by a kernel at the end of a loop iteration.
void runTurn(Thread *thread, const Site *site);
/// Called by a kernel at a fence.
void runFence(Thread *thread, const Site *site);
/// Called by a kernel before it computes with the values at `registers`, which
/// an asynchronous instruction may still have to write.
void runUse(Thread *thread, const Site *site, const char *registers);
/// Fails because an instruction uses the accumulator of an MMA in flight.
[[noreturn]] void failEarlyUse(Thread &thread, const Site &site,
                               uint32_t token);
/// Returns the start of the shared memory of a thread's block.
char *sharedMemory(Thread *thread);

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_BLOCK_H
