//===- BulkCopy.cpp - mbarriers and TMA loads -----------------------------===//
//
// Source: PTX ISA, "mbarrier", "cp.async.bulk.tensor", "setmaxnreg",
// "griddepcontrol" and "Tensor Swizzling Modes".
//
//===----------------------------------------------------------------------===//

#include "../Block.h"
#include "TensorMapImage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tile;
using namespace tile::cpu;
using llvm::formatv;

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// Reads the number after the last comma: `mbarrier.init... [$0], 8;`.
static llvm::Error decodeCount(const llvm::CallBase &call, Site &site) {
  llvm::StringRef text =
      llvm::cast<llvm::InlineAsm>(call.getCalledOperand())->getAsmString();
  if (text.rsplit(',').second.trim(" ;\n}").getAsInteger(10, site.immediate) ||
      site.immediate < 1)
    return llvm::createStringError("no count");
  return llvm::Error::success();
}

static void checkBarrierAddress(Thread &thread, const Site &site,
                                uint64_t address) {
  // The shared memory of a cluster begins with that of its first block.
  const Launch &launch = thread.block->launch;
  uint64_t offset = address - reinterpret_cast<uintptr_t>(thread.shared) +
                    thread.rank * launch.sharedOfBlock();
  if (offset % 8 != 0 || offset + 8 > launch.shared)
    thread.block->fail(thread, site, [&] {
      return Report(formatv("'{0}' has no barrier at byte {1} of shared "
                            "memory, of which there are {2} bytes",
                            site.name, int64_t(offset),
                            thread.block->launch.shared));
    });
}

static MemoryBarrier &barrierAt(Thread &thread, const Site &site,
                                uint64_t address) {
  checkBarrierAddress(thread, site, address);
  MemoryBarriers &barriers = thread.block->memoryBarriers;
  auto barrier = barriers.find(address);
  if (barrier == barriers.end())
    thread.block->fail(thread, site, [&] {
      return Report(formatv(
          "'{0}' uses byte {1} of shared memory, which no thread has "
          "made a barrier",
          site.name, address - reinterpret_cast<uintptr_t>(thread.shared)));
    });
  return barrier->second;
}

static void initBarrier(Thread &thread, const Call &call) {
  checkBarrierAddress(thread, *call.site, call.integer(0));
  MemoryBarrier &barrier = thread.block->memoryBarriers[call.integer(0)];
  barrier = MemoryBarrier();
  barrier.arrivals = barrier.missing = call.site->immediate;
}

/// Ends the phase if all arrivals and bytes have come. Its loads become visible
/// to `thread` if it waits, else to the first thread that does.
static void endPhaseIfComplete(Thread &thread, MemoryBarrier &barrier,
                               bool waits) {
  if (barrier.missing != 0 || barrier.bytes != 0)
    return;
  if (!barrier.copies.empty()) {
    if (!waits && barrier.waiting.empty())
      return; // as late as can be
    thread.block->completeBulk(thread, barrier);
  }
  Checker *checker = thread.block->getChecker();
  barrier.missing = barrier.arrivals;
  ++barrier.phase;
  std::swap(barrier.lastClock, barrier.clock);
  barrier.clock.clear();
  for (Thread *other : barrier.waiting) {
    if (checker)
      checker->leave(*other, barrier.lastClock, /*fences=*/true);
    thread.block->ready(*other);
  }
  barrier.waiting.clear();
}

static void arriveAt(Thread &thread, const Call &call, int64_t bytes) {
  MemoryBarrier &barrier = barrierAt(thread, *call.site, call.integer(0));
  // If no thread waits for the previous phase, its loads take effect now.
  if (barrier.missing == 0)
    endPhaseIfComplete(thread, barrier, /*waits=*/true);
  if (barrier.missing == 0)
    thread.block->fail(thread, *call.site, [&] {
      return Report(formatv("'{0}' is one more than the {1} arrivals of the "
                            "barrier's phase",
                            call.site->name, barrier.arrivals));
    });
  --barrier.missing;
  barrier.bytes += bytes;
  if (Checker *checker = thread.block->getChecker())
    checker->arrive(thread, barrier.clock, /*fences=*/true);
  endPhaseIfComplete(thread, barrier, /*waits=*/false);
}

/// The second operand, if any, is the number of the thread: only thread 0
/// arrives.
static void arrive(Thread &thread, const Call &call) {
  if (call.site->operands.size() < 2 || call.integer(1) == 0)
    arriveAt(thread, call, 0);
}

static void arriveExpecting(Thread &thread, const Call &call) {
  arriveAt(thread, call, call.site->immediate);
}

static void waitForPhase(Thread &thread, const Call &call) {
  MemoryBarrier &barrier = barrierAt(thread, *call.site, call.integer(0));
  if ((barrier.phase & 1) == (call.integer(1) & 1))
    endPhaseIfComplete(thread, barrier, /*waits=*/true);
  if ((barrier.phase & 1) == (call.integer(1) & 1)) {
    barrier.waiting.push_back(&thread);
    thread.block->wait(thread, *call.site);
    return;
  }
  if (Checker *checker = thread.block->getChecker())
    checker->leave(thread, barrier.lastClock, /*fences=*/true);
}

void cpu::Block::completeBulk(Thread &thread, MemoryBarrier &barrier) {
  for (const PendingCopy &copy : barrier.copies) {
    if (copy.sourceBytes != 0)
      memcpy(copy.destination,
             copy.source ? copy.source
                         : reinterpret_cast<const char *>(copy.value.data()),
             copy.sourceBytes);
    memset(copy.destination + copy.sourceBytes, 0,
           copy.bytes - copy.sourceBytes);
    if (checker)
      checker->bulkDone(thread, *copy.site, copy.destination, copy.bytes);
  }
  barrier.copies.clear();
  if (checker)
    checker->passBulk(barrier.clock);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

TensorMapImage cpu::readTensorMap(Thread &thread, const Call &call,
                                  uint64_t address) {
  const Site &site = *call.site;
  TensorMapImage map;
  memcpy(&map, reinterpret_cast<const char *>(address), sizeof(map));
  if (map.mark != TensorMapImage::kMark || map.rank != site.immediate)
    thread.block->fail(thread, site, [&] {
      return Report(formatv("'{0}' is given no tensor map of {1} dimensions",
                            site.name, site.immediate));
    });
  return map;
}

int64_t
cpu::forEachChunk(Thread &thread, const TensorMapImage &map, const Call &call,
                  unsigned firstCoordinate, uint64_t to,
                  llvm::function_ref<void(const TensorMapChunk &)> visit) {
  int64_t at[kTensorMapRank] = {};
  for (unsigned d = 0; d < map.rank; ++d)
    at[d] = call.operand<int32_t>(firstCoordinate + d);
  // The hardware ends the kernel in this case.
  if (at[0] * map.elementBytes % 16 != 0)
    thread.block->fail(thread, *call.site, [&] {
      return Report(
          formatv("'{0}' begins at element {1} of a row, which is not "
                  "at a multiple of 16 bytes",
                  call.site->name, at[0]));
    });
  int64_t rowBytes = map.box[0] * map.elementBytes, rows = 1;
  for (unsigned d = 1; d < map.rank; ++d)
    rows *= map.box[d];
  uint64_t mask = map.swizzle ? map.swizzle / 16 - 1 : 0;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t rest = row;
    // Addresses wrap around modulo 2^64, as ragged maps require.
    uint64_t offset = 0;
    bool inside = true;
    for (unsigned d = 1; d < map.rank; ++d) {
      int64_t index = at[d] + rest % map.box[d];
      rest /= map.box[d];
      inside &= index >= 0 && index < map.extents[d];
      offset += uint64_t(index) * uint64_t(map.strides[d]);
    }
    for (int64_t begin = 0; begin < rowBytes; begin += 16) {
      int64_t first = at[0] + begin / map.elementBytes;
      int64_t width = 16 / map.elementBytes;
      // Boxes begin at elements of the tensor, so only their ends can be out of
      // bounds.
      int64_t valid =
          inside && first >= 0
              ? std::clamp<int64_t>(map.extents[0] - first, 0, width)
              : 0;
      uint64_t address = to + row * rowBytes + begin;
      address ^= (address >> 7 & mask) << 4;
      uint64_t global = reinterpret_cast<uintptr_t>(map.base) + offset +
                        uint64_t(first) * map.elementBytes;
      visit({address, reinterpret_cast<const char *>(global),
             unsigned(valid * map.elementBytes)});
    }
  }
  return rows * rowBytes;
}

/// Decodes cp.async.bulk.tensor.<rank>d.shared::cluster.global...
static llvm::Error decodeBulkCopy(const llvm::CallBase &, Site &site) {
  llvm::StringRef name = site.name;
  bool isCached = name.consume_back(".L2::cache_hint");
  if (!name.consume_front("cp.async.bulk.tensor.") ||
      name.consumeInteger(10, site.immediate) || site.immediate < 1 ||
      site.immediate > kTensorMapRank ||
      name != "d.shared::cluster.global.mbarrier::complete_tx::bytes" ||
      site.operands.size() != size_t(site.immediate) + 3 + isCached)
    return llvm::createStringError("no tile of a tensor that it knows");
  return llvm::Error::success();
}

static void bulkCopy(Thread &thread, const Call &call) {
  const Site &site = *call.site;
  TensorMapImage map = readTensorMap(thread, call, call.integer(1));
  MemoryBarrier &barrier = barrierAt(thread, site, call.integer(2 + map.rank));
  barrier.bytes -= forEachChunk(
      thread, map, call, /*firstCoordinate=*/2, call.integer(0),
      [&](const TensorMapChunk &chunk) {
        char *destination = thread.block->accessShared(
            thread, site, chunk.address, 16, 16, AccessKind::CopyIssue);
        const char *source = nullptr;
        if (chunk.valid != 0)
          source = thread.block->access(
              thread, site, reinterpret_cast<uintptr_t>(chunk.global),
              chunk.valid, map.elementBytes, AccessKind::Read);
        barrier.copies.push_back({&site, destination, source, 16, chunk.valid});
      });
  endPhaseIfComplete(thread, barrier, /*waits=*/false);
}

/// Decodes st.async...[.v2 or .v4].b32 [address], value, [barrier].
static llvm::Error decodeAsyncStore(const llvm::CallBase &, Site &site) {
  llvm::StringRef name = site.name;
  unsigned words = name.contains(".v4.b32")   ? 4
                   : name.contains(".v2.b32") ? 2
                                              : 1;
  if (!name.consume_front(
          "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes") ||
      !name.consume_back(".b32") || site.operands.size() != words + 2)
    return llvm::createStringError("no store of words to a cluster");
  site.immediate = words;
  return llvm::Error::success();
}

/// The barrier may be one of another block of the cluster.
static void storeAsync(Thread &thread, const Call &call) {
  const Site &site = *call.site;
  unsigned bytes = 4 * site.immediate;
  MemoryBarrier &barrier = barrierAt(thread, site, call.integer(1));
  char *destination = thread.block->accessShared(
      thread, site, call.integer(0), bytes, bytes, AccessKind::CopyIssue);
  PendingCopy copy{&site, destination, nullptr, bytes, bytes};
  for (unsigned i = 0; i < site.immediate; ++i)
    copy.value[i] = call.operand<uint32_t>(2 + i);
  barrier.bytes -= bytes;
  barrier.copies.push_back(copy);
  endPhaseIfComplete(thread, barrier, /*waits=*/false);
}

/// Emulates mov.b32 $0, $1;
static llvm::Error decodeMove(const llvm::CallBase &call, Site &) {
  if (llvm::cast<llvm::InlineAsm>(call.getCalledOperand())->getAsmString() !=
      "mov.b32 $0, $1;")
    return llvm::createStringError("not from one register to another");
  return llvm::Error::success();
}

static void move(Thread &, const Call &call) {
  call.setResult<uint32_t>(call.integer(0));
}

static void doNothing(Thread &, const Call &) {}
static void doNothingTogether(Warp &, llvm::ArrayRef<Call>) {}

llvm::ArrayRef<Instruction> tile::cpu::bulkCopyInstructions() {
  static const Instruction rows[] = {
      {"mbarrier.init.shared::cta.b64", Work::Barrier, initBarrier, nullptr,
       nullptr, decodeCount},
      {"llvm.nvvm.fence.mbarrier_init.release.cluster", Work::Barrier,
       doNothing},
      {"mbarrier.arrive.shared::cta.b64", Work::Barrier, arrive},
      {"mbarrier.arrive.expect_tx.shared::cta.b64", Work::Barrier,
       arriveExpecting, nullptr, nullptr, decodeCount},
      {"mbarrier.try_wait.parity.shared::cta.b64", Work::Barrier, waitForPhase},
      {"st.async.*", Work::Copy, storeAsync, nullptr, nullptr,
       decodeAsyncStore},
      {"cp.async.bulk.tensor.*", Work::Copy, bulkCopy, nullptr, nullptr,
       decodeBulkCopy},
      // The executor runs kernels one after another, so there is nothing to
      // wait for.
      {"griddepcontrol.wait", Work::Barrier, doNothing},
      {"griddepcontrol.launch_dependents", Work::Barrier, doNothing},
      {"mov.b32", Work::Index, move, nullptr, nullptr, decodeMove},
      {"llvm.nvvm.setmaxnreg.*", Work::Index, nullptr, doNothingTogether},
  };
  return rows;
}
