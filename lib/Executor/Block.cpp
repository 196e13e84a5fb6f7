//===- Block.cpp - A block of threads on one CPU --------------------------===//

#include "Block.h"
#include "SharedAddresses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace tile::cpu;

/// Bytes of a thread's stack for the runtime, in addition to the kernel's
/// frames.
static constexpr size_t kStackBytes = 256 << 10;

/// Loop iterations of a thread after which another thread runs.
static constexpr uint64_t kTurnsAtOnce = 1024;

llvm::Expected<std::unique_ptr<Block>> Block::create(Launch &launch) {
  std::unique_ptr<Block> block(new Block(launch));
  size_t count = size_t(launch.block[0]) * launch.block[1] * launch.block[2];
  llvm::Expected<Stacks> stacks =
      Stacks::allocate(count, kStackBytes + launch.frameBytes);
  if (!stacks)
    return stacks.takeError();
  block->stacks.emplace(std::move(*stacks));
  block->sharedBytes = std::max<size_t>(launch.shared, 1);
  llvm::Expected<char *> shared =
      SharedAddresses::get().map(block->sharedBytes);
  if (!shared)
    return shared.takeError();
  block->shared = *shared;

  if (launch.checked)
    block->checker =
        std::make_unique<Checker>(launch, *launch.checked, block->shared);
  if (launch.statistics)
    block->counter = std::make_unique<Counter>(
        launch.warpSize, launch.readBanks, launch.storeBanks);

  block->threads.resize(count);
  block->warps.resize(llvm::divideCeil(count, launch.warpSize));
  for (size_t i = 0; i < count; ++i) {
    Thread &thread = block->threads[i];
    thread.block = block.get();
    thread.id = i;
    thread.lane = i % launch.warpSize;
    unsigned width = launch.block[0] / launch.clusterBlocks;
    thread.index = {unsigned(i % width),
                    unsigned(i / launch.block[0] % launch.block[1]),
                    unsigned(i / launch.block[0] / launch.block[1])};
    thread.rank = i % launch.block[0] / width;
    thread.shared = block->shared + thread.rank * launch.sharedOfBlock();
    Warp &warp = block->warps[i / launch.warpSize];
    thread.warp = &warp;
    if (thread.lane == 0) {
      warp.block = block.get();
      warp.id = i / launch.warpSize;
      const Dim3 &index = thread.index;
      warp.inBlock =
          (index[0] + width * (index[1] + launch.block[1] * index[2])) /
          launch.warpSize;
      warp.threads = &thread;
    }
    warp.lanes |= uint64_t(1) << thread.lane;
  }
  return block;
}

Block::~Block() {
  if (shared)
    SharedAddresses::get().unmap(shared, sharedBytes);
}

void Block::enter(boost::context::detail::transfer_t transfer) {
  auto &thread = static_cast<Thread &>(enterContext(transfer));
  Launch &launch = thread.block->launch;
  launch.entry(&thread, launch.arguments.data());
  thread.block->finish(thread);
  leaveContext(thread.block->next());
}

bool Block::run(Dim3 index) {
  this->index = index;
  failed = false;
  runnable.clear();
  turns = 0;
  ranks.assign(launch.clusterBlocks, Rank());
  clusterBarrier = Barrier();
  memoryBarriers.clear();
  // Uninitialized shared memory is NaN in every float type.
  memset(shared, 0xff, sharedBytes);
  if (checker)
    checker->reset();
  for (Warp &warp : warps) {
    warp.meetings.clear();
    warp.products.clear();
  }
  for (Thread &thread : threads) {
    thread.done = false;
    thread.waiting = nullptr;
    thread.signalled.reset();
    thread.printed.clear();
    thread.suspects.clear();
    thread.copies.clear();
    thread.groups.clear();
    thread.bulkStores.clear();
    ++ranks[thread.rank].unfinished;
    stacks->prepare(thread, thread.id, enter);
    runnable.push_back(&thread);
  }
  unfinished = threads.size();
  while (!failed && !runnable.empty() &&
         !launch.failed.load(std::memory_order_relaxed)) {
    Thread *next = runnable.front();
    runnable.pop_front();
    switchContext(scheduler, *next);
  }
  if (!failed && unfinished != 0 && runnable.empty())
    record(describeStop());
  print();
  if (counter) {
    std::lock_guard<std::mutex> lock(launch.mutex);
    counter->finish(*launch.statistics);
  }
  return !failed && unfinished == 0;
}

Context &Block::next() {
  if (failed || runnable.empty())
    return scheduler;
  Thread *thread = runnable.front();
  runnable.pop_front();
  return *thread;
}

void Block::suspend(Thread &thread) {
  Context &to = next();
  if (&to != &thread)
    switchContext(thread, to);
}

void Block::wait(Thread &thread, const Site &site) {
  thread.waiting = &site;
  suspend(thread);
}

void Block::ready(Thread &thread) {
  turns = 0;
  thread.waiting = nullptr;
  runnable.push_back(&thread);
}

void Block::turn(Thread &thread, const Site &site) {
  if (LLVM_LIKELY(++turns % kTurnsAtOnce != 0))
    return;
  if (launch.maxTurns != 0 && turns >= launch.maxTurns)
    fail(thread, site, [&] {
      Report report(llvm::formatv("does not leave a loop: threads of the block "
                                  "have run {0} loop iterations, and none of "
                                  "them has ended or waited",
                                  turns));
      listWaiting(report);
      return report;
    });
  // Threads that wait for a failed block would wait forever.
  if (launch.failed.load(std::memory_order_relaxed))
    leaveContext(scheduler);
  if (LLVM_UNLIKELY(!thread.suspects.empty()))
    checker->confirmWrites(thread);
  runnable.push_back(&thread);
  suspend(thread);
}

void Block::finish(Thread &thread) {
  if (!thread.suspects.empty())
    checker->confirmWrites(thread);
  complete(thread, thread.copies);
  thread.copies.clear();
  for (auto &group : thread.groups)
    complete(thread, group);
  thread.groups.clear();
  finishBulkStores(thread);
  thread.done = true;
  --unfinished;
  turns = 0;
  // Threads that have ended do not arrive at barriers.
  Rank &rank = ranks[thread.rank];
  --rank.unfinished;
  for (Barrier &barrier : rank.barriers)
    if (barrier.arrived != 0)
      endPhaseIfComplete(barrier, rank.unfinished);
  if (clusterBarrier.arrived != 0)
    endPhaseIfComplete(clusterBarrier, unfinished);
}

void Block::print() {
  std::string text;
  for (const Thread &thread : threads)
    text += thread.printed;
  const Dim3 &grid = launch.grid;
  uint64_t number =
      index[0] + uint64_t(grid[0]) * (index[1] + uint64_t(grid[1]) * index[2]);
  std::lock_guard<std::mutex> lock(launch.mutex);
  launch.printed.add(number, std::move(text), launch.sink);
}

std::string Block::describeThread(unsigned thread) const {
  return cpu::describeThread(launch.kernel, index, thread);
}

void Block::record(Report report) {
  failed = true;
  report.block = index;
  auto order = [](const Dim3 &index) {
    return std::tuple(index[2], index[1], index[0]);
  };
  std::lock_guard<std::mutex> lock(launch.mutex);
  launch.failed = true;
  if (!launch.report || order(report.block) < order(launch.report->block))
    launch.report = std::move(report);
}

void Block::fail(Thread &thread, const Site &site,
                 llvm::function_ref<Report()> describe) {
  {
    Report report = describe();
    report.thread = thread.id;
    report.position = site.position;
    record(std::move(report));
  }
  leaveContext(scheduler);
}

uint64_t Block::arrive(Thread &thread, const Site &site, unsigned id,
                       unsigned expected) {
  Rank &rank = ranks[thread.rank];
  if (id >= rank.barriers.size())
    fail(thread, site, [&] {
      return Report(llvm::formatv("there is no barrier {0}, only 0 to {1}", id,
                                  rank.barriers.size() - 1));
    });
  Barrier &barrier = rank.barriers[id];
  if (barrier.arrived != 0 && barrier.expected != expected)
    fail(thread, site, [&] {
      return Report(
          llvm::formatv("barrier {0} is for {1} threads here, but others wait "
                        "at it for {2}",
                        id, expected, barrier.expected));
    });
  return arrive(thread, barrier, expected, rank.unfinished);
}

uint64_t Block::arriveInCluster(Thread &thread) {
  return arrive(thread, clusterBarrier, 0, unfinished);
}

uint64_t Block::arrive(Thread &thread, Barrier &barrier, unsigned expected,
                       unsigned all) {
  barrier.expected = expected;
  ++barrier.arrived;
  if (checker)
    checker->arrive(thread, barrier.clock, launch.barriersFence);
  uint64_t phase = barrier.phase;
  endPhaseIfComplete(barrier, all);
  return phase;
}

/// Ends the phase of a barrier if as many threads have arrived as it expects:
/// `all` unless it has a number.
void Block::endPhaseIfComplete(Barrier &barrier, unsigned all) {
  unsigned expected = barrier.expected ? barrier.expected : all;
  if (barrier.arrived < expected)
    return;
  barrier.arrived = 0;
  ++barrier.phase;
  std::swap(barrier.lastClock, barrier.clock);
  barrier.clock.clear();
  for (Thread *thread : barrier.waiting) {
    if (checker)
      checker->leave(*thread, barrier.lastClock, launch.barriersFence);
    ready(*thread);
  }
  barrier.waiting.clear();
}

void Block::waitBarrier(Thread &thread, const Site &site, unsigned id,
                        uint64_t phase) {
  wait(thread, site, ranks[thread.rank].barriers[id], phase);
}

void Block::waitForCluster(Thread &thread, const Site &site, uint64_t phase) {
  wait(thread, site, clusterBarrier, phase);
}

void Block::wait(Thread &thread, const Site &site, Barrier &barrier,
                 uint64_t phase) {
  if (barrier.phase == phase) {
    barrier.waiting.push_back(&thread);
    wait(thread, site);
  } else if (checker) {
    // The next phase cannot have ended: it needs this thread.
    checker->leave(thread, barrier.lastClock, launch.barriersFence);
  }
}

char *Block::accessShared(Thread &thread, const Site &site, uint64_t address,
                          unsigned bytes, unsigned alignment, AccessKind kind) {
  auto begin = reinterpret_cast<uintptr_t>(shared);
  if (address < begin || address + bytes > begin + launch.shared)
    fail(thread, site, [&] {
      return Report(llvm::formatv(
          "'{0}' accesses {1} bytes at byte {2} of shared memory, "
          "of which there are {3} bytes",
          site.name, bytes, int64_t(address - begin), launch.shared));
    });
  if (address % alignment != 0)
    fail(thread, site, [&] {
      return Report(llvm::formatv(
          "'{0}' accesses {1} bytes at byte {2} of shared memory, "
          "which is not a multiple of {3}",
          site.name, bytes, address - begin, alignment));
    });
  return access(thread, site, address, bytes, alignment, kind);
}

char *Block::access(Thread &thread, const Site &site, uint64_t address,
                    unsigned bytes, unsigned alignment, AccessKind kind) {
  // Private memory, through a pointer that may also point elsewhere.
  if (address - reinterpret_cast<uintptr_t>(thread.bottom) < thread.size)
    return reinterpret_cast<char *>(address);
  if (checker)
    checker->access(thread, site, address, bytes, alignment, kind);
  if (counter) {
    uint64_t offset = address - reinterpret_cast<uintptr_t>(shared);
    bool isShared = offset < launch.shared;
    if (kind == AccessKind::ProductRead)
      counter->readByProduct(bytes);
    else if (kind != AccessKind::Read && kind != AccessKind::BulkRead)
      counter->access(site, *thread.warp, thread.lane, isShared, offset, bytes,
                      /*writes=*/true);
    if (kind == AccessKind::Read || kind == AccessKind::BulkRead ||
        kind == AccessKind::Atomic)
      counter->access(site, *thread.warp, thread.lane, isShared, offset, bytes,
                      /*writes=*/false);
  }
  return reinterpret_cast<char *>(address);
}

void Block::orderWarp(llvm::ArrayRef<Call> lanes, Warp &warp) {
  if (!checker)
    return;
  Clock clock;
  for (auto [lane, call] : llvm::enumerate(lanes))
    if (call.frame)
      checker->arrive(warp.threads[lane], clock, launch.barriersFence);
  for (auto [lane, call] : llvm::enumerate(lanes))
    if (call.frame)
      checker->leave(warp.threads[lane], clock, launch.barriersFence);
}

void Block::complete(Thread &thread, llvm::ArrayRef<PendingCopy> copies) {
  for (const PendingCopy &copy : copies) {
    if (copy.sourceBytes != 0)
      memcpy(copy.destination, copy.source, copy.sourceBytes);
    memset(copy.destination + copy.sourceBytes, 0,
           copy.bytes - copy.sourceBytes);
    if (checker)
      checker->copyDone(thread, *copy.site, copy.destination, copy.bytes);
  }
}

void Block::meet(Thread &thread, const Call &call) {
  Warp &warp = *thread.warp;
  uint64_t self = uint64_t(1) << thread.lane;
  uint64_t members = warp.lanes;
  if (call.site->row->masked)
    members &= call.integer(0);
  if (!(members & self))
    fail(thread, *call.site, [&] {
      return Report(
          llvm::formatv("lane {0} comes to '{1}', whose mask does not name it",
                        thread.lane, call.site->name));
    });
  auto meeting = llvm::find_if(warp.meetings, [&](const Meeting &other) {
    return other.members & members;
  });
  if (meeting == warp.meetings.end()) {
    warp.meetings.push_back({call.site, members, 0, {}});
    meeting = std::prev(warp.meetings.end());
    meeting->calls.assign(launch.warpSize, Call{call.site, nullptr});
  } else if (meeting->site != call.site || meeting->members != members) {
    fail(thread, *call.site, [&] {
      Report report(llvm::formatv(
          "lanes of a warp come to different instructions: lane "
          "{0} to '{1}', lane {2} to '{3}'",
          thread.lane, call.site->name, llvm::countr_zero(meeting->arrived),
          meeting->site->name));
      report.notes = {{meeting->site->position, "where the other lane is"}};
      return report;
    });
  }
  meeting->calls[thread.lane] = call;
  meeting->arrived |= self;
  if (meeting->arrived != members) {
    wait(thread, *call.site);
    return;
  }
  call.site->row->warp(warp, meeting->calls);
  warp.meetings.erase(meeting);
  for (uint64_t rest = members & ~self; rest; rest &= rest - 1)
    ready(warp.threads[llvm::countr_zero(rest)]);
}

void tile::cpu::runCall(Thread *thread, const Site *site, char *frame) {
  Call call{site, frame};
  if (LLVM_UNLIKELY(!thread->suspects.empty()))
    thread->block->getChecker()->confirmWrites(*thread);
  if (Counter *counter = thread->block->getCounter())
    counter->visit(*site);
  if (site->row->thread)
    site->row->thread(*thread, call);
  else
    thread->block->meet(*thread, call);
}

void tile::cpu::runAccess(Thread *thread, const Site *site, void *address) {
  Block &block = *thread->block;
  if (LLVM_UNLIKELY(!thread->suspects.empty()))
    block.getChecker()->confirmWrites(*thread);
  auto place = reinterpret_cast<uintptr_t>(address);
  if (Counter *counter = block.getCounter())
    counter->visit(*site);
  AccessKind kind = site->atomic   ? AccessKind::Atomic
                    : site->writes ? AccessKind::Write
                                   : AccessKind::Read;
  block.access(*thread, *site, place, site->accessBytes, site->accessAlignment,
               kind);
  Checker *checker = block.getChecker();
  if (site->atomic && checker)
    checker->atomic(*thread, place, site->reads, site->writes);
}

void tile::cpu::runDivision(Thread *thread, const Site *site,
                            const void *wrong) {
  if (wrong && thread->block->launch.checked)
    thread->block->fail(*thread, *site, [] {
      return Report("divides an integer by zero, or the smallest one by -1");
    });
}

void tile::cpu::runTurn(Thread *thread, const Site *site) {
  thread->block->turn(*thread, *site);
}

void tile::cpu::runFence(Thread *thread, const Site *site) {
  if (Checker *checker = thread->block->getChecker())
    checker->fence(*thread, site->reads, site->writes);
}

void tile::cpu::runVisit(Thread *thread, const Site *site) {
  if (Counter *counter = thread->block->getCounter())
    counter->visit(*site);
}

void tile::cpu::runUse(Thread *thread, const Site *site,
                       const char *registers) {
  for (unsigned i = 0; i < site->accessBytes; i += 4) {
    uint32_t bits;
    memcpy(&bits, registers + i, 4);
    if (LLVM_UNLIKELY(Products::isToken(bits)))
      failEarlyUse(*thread, *site, bits);
  }
}

char *tile::cpu::sharedMemory(Thread *thread) { return thread->shared; }
