//===- Block.h - A block of threads on one CPU ------------------*- C++ -*-===//
//
// Every GPU thread is a fiber. It runs until it must wait for others; then the
// next one that can run does. So threads of a block never run at the same
// time, and which one runs first is the same in every run.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_TARGET_CPU_BLOCK_H
#define TILE_LIB_TARGET_CPU_BLOCK_H

#include "BulkStore.h"
#include "Check.h"
#include "Fiber.h"
#include "Instruction.h"
#include "MemoryBarrier.h"
#include "Products.h"
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

/// What went wrong, in which thread of which block.
struct Report {
  Dim3 block{};
  unsigned thread = 0;
  Position position;
  std::string message;
  /// Other places that have to do with it.
  std::vector<std::pair<Position, std::string>> notes;

  Report() = default;
  Report(const llvm::Twine &message) : message(message.str()) {}
};

/// One launch of a kernel; what its blocks share.
struct Launch {
  std::string kernel;
  /// Calls the kernel with arguments of 8 bytes each.
  void (*entry)(Thread *, const uint64_t *arguments) = nullptr;
  std::vector<uint64_t> arguments;
  Dim3 grid{}, block{};
  unsigned warpSize = 32;
  /// Bytes of shared memory.
  size_t shared = 0;
  /// Bytes of stack that the kernel needs, without the runtime.
  size_t frameBytes = 0;
  /// Whether a barrier orders memory by itself, as on NVIDIA, or together with
  /// fences, as on AMD.
  bool barriersFence = true;
  /// Null if accesses are not checked.
  CheckedLaunch *checked = nullptr;
  /// Null if nothing is counted. Under the mutex.
  Statistics *statistics = nullptr;
  unsigned banks = 32;
  /// As in RunOptions.
  uint64_t maxTurns = 0;

  /// The report of the first block that failed, in the order of their indices.
  /// Others stop when they see `failed`.
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::optional<Report> report;
};

struct Thread : Context {
  char *shared = nullptr;

  Block *block = nullptr;
  Warp *warp = nullptr;
  unsigned id = 0, lane = 0;
  Dim3 index{};
  bool done = false;
  /// Where it waits, null if it does not.
  const Site *waiting = nullptr;

  /// The phase of barrier 0 that it has signalled and not waited for.
  std::optional<uint64_t> signalled;
  /// Filled by the checks.
  llvm::SmallVector<SuspectedWrite, 0> suspects;
  /// Copies since the last commit, and committed groups, oldest first.
  std::vector<PendingCopy> copies;
  std::deque<std::vector<PendingCopy>> groups;
  BulkStores bulkStores;
};

/// Lanes that have come to one instruction and wait for the others.
struct Meeting {
  const Site *site;
  uint64_t members, arrived;
  llvm::SmallVector<Call, 64> calls;
};

struct Warp {
  Block *block = nullptr;
  unsigned id = 0;
  /// The first thread of the warp, and which of its lanes exist.
  Thread *threads = nullptr;
  uint64_t lanes = 0;
  llvm::SmallVector<Meeting, 2> meetings;
  Products products;
};

/// A barrier of the block that `arrived` threads have come to.
struct Barrier {
  unsigned arrived = 0;
  /// Threads to come, 0 for all that have not ended.
  unsigned expected = 0;
  uint64_t phase = 0;
  llvm::SmallVector<Thread *, 0> waiting;
  /// What the threads that have come know, and what those of the last phase
  /// knew.
  Clock clock, lastClock;
};

class Block {
public:
  static llvm::Expected<std::unique_ptr<Block>> create(Launch &launch);
  ~Block();

  /// Runs the block of this index to its end. False if it failed.
  bool run(Dim3 index);

  // What instructions use. Everything below is called by the thread that runs.

  /// Lets others run until ready() is called for `thread`.
  void wait(Thread &thread, const Site &site);
  void ready(Thread &thread);
  /// The thread goes round a loop. Now and then lets others run, one of whom it
  /// may be waiting for.
  void turn(Thread &thread, const Site &site);
  /// Ends the block with this report, to which it adds the thread and the
  /// place. The caller's stack is abandoned, so it may hold nothing that would
  /// have to be freed: all that is made for the report is made in `describe`.
  [[noreturn]] void fail(Thread &thread, const Site &site,
                         llvm::function_ref<Report()> describe);

  /// Comes to barrier `id` for `expected` threads, 0 for all. Returns the phase
  /// that ends when they have all come.
  uint64_t arrive(Thread &thread, const Site &site, unsigned id,
                  unsigned expected);
  /// Waits for the end of a phase.
  void waitBarrier(Thread &thread, const Site &site, unsigned id,
                   uint64_t phase);

  /// The memory at an address that an instruction may access like this; fails
  /// if it may not.
  char *access(Thread &thread, const Site &site, uint64_t address,
               unsigned bytes, unsigned alignment, AccessKind kind);
  /// The same for an address of shared memory, which is checked in any case.
  char *accessShared(Thread &thread, const Site &site, uint64_t address,
                     unsigned bytes, unsigned alignment, AccessKind kind);
  /// Null if accesses are not checked.
  Checker *getChecker() { return checker.get(); }
  /// Null if nothing is counted.
  Counter *getCounter() { return counter.get(); }
  /// Orders what the lanes of a warp have done before what they do next.
  void orderWarp(llvm::ArrayRef<Call> lanes, Warp &warp);

  /// Completes copies of `thread` in their order.
  void complete(Thread &thread, llvm::ArrayRef<PendingCopy> copies);
  /// Makes the copies of a barrier's phase, which `thread` or others see.
  void completeBulk(Thread &thread, MemoryBarrier &barrier);

  Dim3 index{};
  Launch &launch;
  MemoryBarriers memoryBarriers;

private:
  explicit Block(Launch &launch) : launch(launch) {}
  friend void runCall(Thread *thread, const Site *site, char *frame);

  static void enter(boost::context::detail::transfer_t transfer);
  /// What is to run when a thread cannot or has ended.
  Context &next();
  void suspend(Thread &thread);
  void finish(Thread &thread);
  void meet(Thread &thread, const Call &call);
  void endPhaseIfComplete(Barrier &barrier);
  void record(Report report);
  Report describeStop();
  void listWaiting(Report &report) const;

  Context scheduler;
  std::unique_ptr<Checker> checker;
  std::unique_ptr<Counter> counter;
  std::optional<Stacks> stacks;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::deque<Thread *> runnable;
  std::array<Barrier, 16> barriers;
  unsigned unfinished = 0;
  /// Of loops, since a thread has ended or had to wait.
  uint64_t turns = 0;
  bool failed = false;
  char *shared = nullptr;
  size_t sharedMapped = 0;
};

/// What a kernel calls at a site with a row.
void runCall(Thread *thread, const Site *site, char *frame);
/// What a kernel calls before it loads or stores.
void runAccess(Thread *thread, const Site *site, void *address);
/// What a kernel calls before an instruction that the host itself performs.
void runVisit(Thread *thread, const Site *site);
/// What a kernel calls before it divides; `wrong` is not null if by zero, or
/// the smallest integer by -1.
void runDivision(Thread *thread, const Site *site, const void *wrong);
/// What a kernel calls where a loop begins again.
void runTurn(Thread *thread, const Site *site);
/// What a kernel calls at a fence.
void runFence(Thread *thread, const Site *site);
/// What a kernel calls before it computes with registers, at `registers`, that
/// an asynchronous instruction may still write.
void runUse(Thread *thread, const Site *site, const char *registers);
/// Fails because an instruction uses the register of a product in flight.
[[noreturn]] void failEarlyUse(Thread &thread, const Site &site,
                               uint32_t token);
/// Where the shared memory of a thread's block begins.
char *sharedMemory(Thread *thread);

} // namespace tile::cpu

#endif // TILE_LIB_TARGET_CPU_BLOCK_H
