//===- NVIDIA.cpp - Instructions of NVIDIA's chips ------------------------===//
//
// Source: PTX ISA, the sections named by the instructions.
//
//===----------------------------------------------------------------------===//

#include "../Builtins.h"
#include "../Numbers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace tile::cpu;

static float exp2Approx(float x) { return std::exp2(x); }

/// Rounds a logarithm to multiples of 2^-22, the error that lg2.approx may have
/// for numbers from 0.5 to 2 (PTX ISA, "lg2.approx.ftz.f32"): a logarithm of a
/// number near 1 has few digits.
static float dropDigits(float logarithm) {
  return std::abs(logarithm) < 1
             ? std::nearbyint(logarithm * 0x1p22f) * 0x1p-22f
             : logarithm;
}
static float log2Approx(float x) { return dropDigits(std::log2(x)); }
static float log2ApproxFlush(float x) { return dropDigits(log2Flush(x)); }
static float tanhApprox(float x) { return std::tanh(x); }
static float divideFull(float x, float y) { return x / y; }

//===----------------------------------------------------------------------===//
// Exchanges between lanes
//===----------------------------------------------------------------------===//

namespace {
enum class Shuffle { Up, Down, Butterfly, Index };
} // namespace

template <Shuffle mode>
static void shuffle(Warp &, llvm::ArrayRef<Call> lanes) {
  uint32_t values[32] = {};
  for (unsigned lane = 0; lane < lanes.size(); ++lane)
    if (lanes[lane].frame)
      values[lane] = lanes[lane].operand<uint32_t>(1);
  for (int lane = 0; lane < int(lanes.size()); ++lane) {
    const Call &call = lanes[lane];
    if (!call.frame)
      continue;
    int by = call.operand<uint32_t>(2) & 31;
    uint32_t control = call.operand<uint32_t>(3);
    int clamp = control & 31, segment = (control >> 8) & 31;
    int last = (lane & segment) | (clamp & ~segment);
    int source = 0;
    bool inside = false;
    switch (mode) {
    case Shuffle::Up:
      source = lane - by;
      inside = source >= last;
      break;
    case Shuffle::Down:
      source = lane + by;
      inside = source <= last;
      break;
    case Shuffle::Butterfly:
      source = lane ^ by;
      inside = source <= last;
      break;
    case Shuffle::Index:
      source = (lane & segment) | (by & ~segment);
      inside = source <= last;
      break;
    }
    call.setResult(values[inside ? source : lane]);
    // The forms that return the predicate.
    if (call.site->resultSize > 4)
      call.setResult<uint8_t>(inside, 4);
  }
}

static void voteBallot(Warp &, llvm::ArrayRef<Call> lanes) {
  uint32_t ballot = 0;
  for (auto [lane, call] : llvm::enumerate(lanes))
    if (call.frame && (call.operand<uint8_t>(1) & 1))
      ballot |= uint32_t(1) << lane;
  for (const Call &call : lanes)
    if (call.frame)
      call.setResult(ballot);
}

static void voteAny(Warp &, llvm::ArrayRef<Call> lanes) {
  bool any = llvm::any_of(lanes, [](const Call &call) {
    return call.frame && (call.operand<uint8_t>(1) & 1);
  });
  for (const Call &call : lanes)
    if (call.frame)
      call.setResult<uint8_t>(any);
}

/// cvt.rna.tf32.f32: rounds to 10 bits of mantissa, to nearest, ties away from
/// zero. Source: PTX ISA, "cvt".
static uint32_t roundToTF32(float x) {
  auto bits = bitCast<uint32_t>(x);
  if (std::isfinite(x))
    bits += 0x1000;
  return bits & ~0x1fffu;
}

/// lop3.b32: any function of the bits of three words, by the table of its
/// values. Source: PTX ISA, "lop3".
static uint32_t lookUpLogic(uint32_t a, uint32_t b, uint32_t c,
                            uint32_t table) {
  uint32_t result = 0;
  for (unsigned entry = 0; entry < 8; ++entry)
    if (table >> entry & 1)
      result |=
          (entry & 4 ? a : ~a) & (entry & 2 ? b : ~b) & (entry & 1 ? c : ~c);
  return result;
}

static void syncWarp(Warp &warp, llvm::ArrayRef<Call> lanes) {
  warp.block->orderWarp(lanes, warp);
}

//===----------------------------------------------------------------------===//
// Barriers of the block
//===----------------------------------------------------------------------===//

static void barrierAll(Thread &thread, const Call &call) {
  waitForBlock(thread, *call.site, call.integer(0));
}

static void barrierCount(Thread &thread, const Call &call) {
  unsigned id = call.integer(0);
  uint64_t phase =
      thread.block->arrive(thread, *call.site, id, call.integer(1));
  thread.block->waitBarrier(thread, *call.site, id, phase);
}

static void barrierArrive(Thread &thread, const Call &call) {
  thread.block->arrive(thread, *call.site, call.integer(0), call.integer(1));
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

/// A cluster runs as one block, which has the indices of the cluster.
static void readBlockInGrid(Thread &thread, const Call &call) {
  unsigned dim = call.site->immediate, number = thread.block->index[dim];
  if (dim == 0)
    number = number * thread.block->launch.clusterBlocks + thread.rank;
  call.setResult<uint32_t>(number);
}

static void readBlocksOfGrid(Thread &thread, const Call &call) {
  const Launch &launch = thread.block->launch;
  unsigned dim = call.site->immediate;
  call.setResult<uint32_t>(launch.grid[dim] *
                           (dim == 0 ? launch.clusterBlocks : 1));
}

static void readRank(Thread &thread, const Call &call) {
  call.setResult<uint32_t>(thread.rank);
}

static void arriveInCluster(Thread &thread, const Call &) {
  thread.signalled = thread.block->arriveInCluster(thread);
}

static void waitForCluster(Thread &thread, const Call &call) {
  uint64_t phase = takeSignalled(thread, call);
  thread.block->waitForCluster(thread, *call.site, phase);
}

/// Returns the address in the shared memory of another block of the cluster.
static void mapToBlock(Thread &thread, const Call &call) {
  Block &block = *thread.block;
  auto rank = call.operand<uint32_t>(1);
  if (rank >= block.launch.clusterBlocks)
    block.fail(thread, *call.site, [&] {
      return Report(llvm::formatv("there is no block {0} in the cluster, only "
                                  "0 to {1}",
                                  rank, block.launch.clusterBlocks - 1));
    });
  int64_t distance = int64_t(rank) - thread.rank;
  call.setResult<uint64_t>(call.integer(0) +
                           distance * block.launch.sharedOfBlock());
}

//===----------------------------------------------------------------------===//
// Copies to shared memory
//===----------------------------------------------------------------------===//

/// Decodes llvm.nvvm.cp.async.{ca,cg}.shared.global.<bytes>[.s]
static llvm::Error decodeCopy(const llvm::CallBase &call, Site &site) {
  llvm::StringRef name = site.name;
  name.consume_back(".s");
  name = name.rsplit('.').second;
  if (name.getAsInteger(10, site.immediate))
    return llvm::createStringError("no number of bytes");
  return llvm::Error::success();
}

static void copyAsync(Thread &thread, const Call &call) {
  unsigned bytes = call.site->immediate, sourceBytes = bytes;
  if (call.site->operands.size() > 2)
    sourceBytes = std::min(bytes, call.operand<uint32_t>(2));
  char *to = thread.block->accessShared(thread, *call.site, call.integer(0),
                                        bytes, bytes, AccessKind::CopyIssue);
  const char *from = nullptr;
  if (sourceBytes != 0) {
    // A row may begin in an aligned word behind padding.
    uint64_t address = call.integer(1);
    Checker *checker = thread.block->getChecker();
    unsigned gap = checker ? checker->countGap(address, bytes, sourceBytes) : 0;
    from = thread.block->access(thread, *call.site, address + gap,
                                sourceBytes - gap, gap != 0 ? 1 : bytes,
                                AccessKind::Read) -
           gap;
  }
  thread.copies.push_back({call.site, to, from, bytes, sourceBytes});
}

static void commitCopies(Thread &thread, const Call &) {
  thread.groups.push_back(std::move(thread.copies));
  thread.copies.clear();
}

static void waitCopies(Thread &thread, const Call &call) {
  for (size_t pending = call.integer(0); thread.groups.size() > pending;
       thread.groups.pop_front())
    thread.block->complete(thread, thread.groups.front());
}

static void waitAllCopies(Thread &thread, const Call &call) {
  commitCopies(thread, call);
  for (; !thread.groups.empty(); thread.groups.pop_front())
    thread.block->complete(thread, thread.groups.front());
}

//===----------------------------------------------------------------------===//
// ldmatrix and stmatrix
//===----------------------------------------------------------------------===//

/// Decodes
/// llvm.nvvm.{ld,st}matrix.sync.aligned.m8n8.x<matrices>[.trans].b16.p<space>
static llvm::Error decodeMatrices(const llvm::CallBase &, Site &site) {
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(site.name).split(parts, '.');
  for (llvm::StringRef part : parts)
    if (part.consume_front("x") && !part.getAsInteger(10, site.immediate) &&
        (site.immediate == 1 || site.immediate == 2 || site.immediate == 4))
      return llvm::Error::success();
  return llvm::createStringError("no number of matrices");
}

/// Calls `move` for every element with its address, the call of the lane that
/// holds it, the matrix, and the half of the lane's register.
template <bool transpose, typename MoveT>
static void forEachElement(Warp &warp, llvm::ArrayRef<Call> lanes,
                           AccessKind kind, MoveT move) {
  const Site &site = *lanes[0].site;
  for (unsigned matrix = 0; matrix < site.immediate; ++matrix)
    for (unsigned row = 0; row < 8; ++row) {
      // Lane 8 * i + r has the address of row r of matrix i.
      unsigned lane = 8 * matrix + row;
      char *data = warp.block->accessShared(
          warp.threads[lane], site, lanes[lane].integer(0), 16, 16, kind);
      for (unsigned column = 0; column < 8; ++column) {
        unsigned r = transpose ? column : row, c = transpose ? row : column;
        // Lane 4 * r + c / 2 holds element (r, c) in half c % 2.
        move(data + 2 * column, lanes[4 * r + c / 2], matrix, c % 2);
      }
    }
}

template <bool transpose>
static void loadMatrix(Warp &warp, llvm::ArrayRef<Call> lanes) {
  forEachElement<transpose>(
      warp, lanes, AccessKind::Read,
      [](char *element, const Call &holder, unsigned matrix, unsigned half) {
        std::memcpy(holder.frame + 4 * matrix + 2 * half, element, 2);
      });
}

template <bool transpose>
static void storeMatrix(Warp &warp, llvm::ArrayRef<Call> lanes) {
  forEachElement<transpose>(
      warp, lanes, AccessKind::Write,
      [](char *element, const Call &holder, unsigned matrix, unsigned half) {
        uint16_t value = holder.operand<uint32_t>(1 + matrix) >> 16 * half;
        std::memcpy(element, &value, 2);
      });
}

llvm::ArrayRef<Instruction> tile::cpu::nvidiaInstructions() {
  static const Instruction rows[] = {
      {"llvm.nvvm.read.ptx.sreg.tid.*", Work::Index, readThreadIndex, nullptr,
       nullptr, decodeDimension},
      {"llvm.nvvm.read.ptx.sreg.ntid.*", Work::Index, readBlockSize, nullptr,
       nullptr, decodeDimension},
      {"llvm.nvvm.read.ptx.sreg.ctaid.*", Work::Index, readBlockInGrid, nullptr,
       nullptr, decodeDimension},
      {"llvm.nvvm.read.ptx.sreg.clusterid.*", Work::Index, readBlockIndex,
       nullptr, nullptr, decodeDimension},
      {"llvm.nvvm.read.ptx.sreg.nclusterid.*", Work::Index, readGridSize,
       nullptr, nullptr, decodeDimension},
      {"llvm.nvvm.read.ptx.sreg.cluster.ctarank", Work::Index, readRank},
      {"llvm.nvvm.mapa.shared.cluster", Work::Index, mapToBlock},
      {"llvm.nvvm.read.ptx.sreg.nctaid.*", Work::Index, readBlocksOfGrid,
       nullptr, nullptr, decodeDimension},
      {"llvm.nvvm.read.ptx.sreg.laneid", Work::Index, readLane},
      {"llvm.nvvm.read.ptx.sreg.warpid", Work::Index, readWarp},
      {"llvm.nvvm.read.ptx.sreg.warpsize", Work::Index, readWarpSize},

      {"llvm.nvvm.ex2.approx.ftz.f32", Work::Math, nullptr, nullptr,
       hostFunction(exp2Flush)},
      {"llvm.nvvm.ex2.approx.ftz.f", Work::Math, nullptr, nullptr,
       hostFunction(exp2Flush)},
      {"llvm.nvvm.ex2.approx.f32", Work::Math, nullptr, nullptr,
       hostFunction(exp2Approx)},
      {"llvm.nvvm.lg2.approx.ftz.f", Work::Math, nullptr, nullptr,
       hostFunction(log2ApproxFlush)},
      {"llvm.nvvm.lg2.approx.f", Work::Math, nullptr, nullptr,
       hostFunction(log2Approx)},
      {"llvm.nvvm.rcp.approx.ftz.f", Work::Math, nullptr, nullptr,
       hostFunction(reciprocalFlush)},
      {"llvm.nvvm.rsqrt.approx.ftz.f", Work::Math, nullptr, nullptr,
       hostFunction(reciprocalSqrtFlush)},
      {"llvm.nvvm.sqrt.approx.ftz.f", Work::Math, nullptr, nullptr,
       hostFunction(sqrtFlush)},
      {"llvm.nvvm.tanh.approx.f", Work::Math, nullptr, nullptr,
       hostFunction(tanhApprox)},
      {"llvm.nvvm.div.full", Work::Math, nullptr, nullptr,
       hostFunction(divideFull)},
      {"lop3.b32", Work::Math, nullptr, nullptr, hostFunction(lookUpLogic)},
      {"llvm.nvvm.f2tf32.rna", Work::Math, nullptr, nullptr,
       hostFunction(roundToTF32)},

      {"llvm.nvvm.shfl.sync.up.*", Work::Exchange, nullptr,
       shuffle<Shuffle::Up>, nullptr, nullptr, /*masked=*/true},
      {"llvm.nvvm.shfl.sync.down.*", Work::Exchange, nullptr,
       shuffle<Shuffle::Down>, nullptr, nullptr, /*masked=*/true},
      {"llvm.nvvm.shfl.sync.bfly.*", Work::Exchange, nullptr,
       shuffle<Shuffle::Butterfly>, nullptr, nullptr, /*masked=*/true},
      {"llvm.nvvm.shfl.sync.idx.*", Work::Exchange, nullptr,
       shuffle<Shuffle::Index>, nullptr, nullptr, /*masked=*/true},
      {"llvm.nvvm.vote.ballot.sync", Work::Exchange, nullptr, voteBallot,
       nullptr, nullptr, /*masked=*/true},
      {"llvm.nvvm.vote.any.sync", Work::Exchange, nullptr, voteAny, nullptr,
       nullptr, /*masked=*/true},
      {"llvm.nvvm.bar.warp.sync", Work::Barrier, nullptr, syncWarp, nullptr,
       nullptr, /*masked=*/true},

      {"llvm.nvvm.barrier.cta.sync.aligned.all", Work::Barrier, barrierAll},
      {"llvm.nvvm.barrier.cta.sync.all", Work::Barrier, barrierAll},
      {"llvm.nvvm.barrier.cta.sync.aligned.count", Work::Barrier, barrierCount},
      {"llvm.nvvm.barrier.cta.sync.count", Work::Barrier, barrierCount},
      {"llvm.nvvm.barrier.cta.arrive.aligned.count", Work::Barrier,
       barrierArrive},
      {"llvm.nvvm.barrier.cta.arrive.count", Work::Barrier, barrierArrive},

      {"llvm.nvvm.barrier.cluster.arrive", Work::Barrier, arriveInCluster},
      {"llvm.nvvm.barrier.cluster.arrive.aligned", Work::Barrier,
       arriveInCluster},
      {"llvm.nvvm.barrier.cluster.arrive.relaxed", Work::Barrier,
       arriveInCluster},
      {"llvm.nvvm.barrier.cluster.arrive.relaxed.aligned", Work::Barrier,
       arriveInCluster},
      {"llvm.nvvm.barrier.cluster.wait", Work::Barrier, waitForCluster},
      {"llvm.nvvm.barrier.cluster.wait.aligned", Work::Barrier, waitForCluster},

      {"llvm.nvvm.cp.async.ca.shared.global.*", Work::Copy, copyAsync, nullptr,
       nullptr, decodeCopy},
      {"llvm.nvvm.cp.async.cg.shared.global.*", Work::Copy, copyAsync, nullptr,
       nullptr, decodeCopy},
      {"llvm.nvvm.cp.async.commit.group", Work::Copy, commitCopies},
      {"llvm.nvvm.cp.async.wait.group", Work::Copy, waitCopies},
      {"llvm.nvvm.cp.async.wait.all", Work::Copy, waitAllCopies},

      {"llvm.nvvm.stmatrix.sync.aligned.m8n8.x1.trans.b16.*", Work::Memory,
       nullptr, storeMatrix<true>, nullptr, decodeMatrices},
      {"llvm.nvvm.stmatrix.sync.aligned.m8n8.x1.b16.*", Work::Memory, nullptr,
       storeMatrix<false>, nullptr, decodeMatrices},
      {"llvm.nvvm.stmatrix.sync.aligned.m8n8.x2.trans.b16.*", Work::Memory,
       nullptr, storeMatrix<true>, nullptr, decodeMatrices},
      {"llvm.nvvm.stmatrix.sync.aligned.m8n8.x2.b16.*", Work::Memory, nullptr,
       storeMatrix<false>, nullptr, decodeMatrices},
      {"llvm.nvvm.stmatrix.sync.aligned.m8n8.x4.trans.b16.*", Work::Memory,
       nullptr, storeMatrix<true>, nullptr, decodeMatrices},
      {"llvm.nvvm.stmatrix.sync.aligned.m8n8.x4.b16.*", Work::Memory, nullptr,
       storeMatrix<false>, nullptr, decodeMatrices},
      {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.trans.b16.*", Work::Memory,
       nullptr, loadMatrix<true>, nullptr, decodeMatrices},
      {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.*", Work::Memory,
       nullptr, loadMatrix<true>, nullptr, decodeMatrices},
      {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.*", Work::Memory,
       nullptr, loadMatrix<true>, nullptr, decodeMatrices},
      {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16.*", Work::Memory, nullptr,
       loadMatrix<false>, nullptr, decodeMatrices},
      {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.*", Work::Memory, nullptr,
       loadMatrix<false>, nullptr, decodeMatrices},
      {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.*", Work::Memory, nullptr,
       loadMatrix<false>, nullptr, decodeMatrices},
  };
  return rows;
}
