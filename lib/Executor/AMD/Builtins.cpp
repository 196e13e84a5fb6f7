//===- AMD.cpp - Instructions of AMD's chips ------------------------------===//
//
// Sources: AMD's CDNA3, CDNA4, RDNA3 and RDNA4 instruction set architecture
// guides; for the order of operands LLVM's IntrinsicsAMDGPU.td.
//
//===----------------------------------------------------------------------===//

#include "../Builtins.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace tile::cpu;

/// Returns the value of a constant operand.
static uint64_t constantOperand(const llvm::CallBase &call, unsigned i) {
  return llvm::cast<llvm::ConstantInt>(call.getArgOperand(i))->getZExtValue();
}

//===----------------------------------------------------------------------===//
// Exchanges between lanes
//===----------------------------------------------------------------------===//

namespace {
/// The values of one operand in the lanes of a wave.
struct Register {
  uint32_t values[64] = {};

  Register(llvm::ArrayRef<Call> lanes, unsigned operand) {
    for (auto [lane, call] : llvm::enumerate(lanes))
      if (call.frame)
        values[lane] = call.operand<uint32_t>(operand);
  }
  uint32_t operator[](unsigned lane) const { return values[lane]; }
};
} // namespace

/// Returns the lane that `lane` reads with this DPP control; nothing if that
/// lane is outside its row of 16.
static std::optional<unsigned> dppSource(unsigned control, unsigned lane) {
  unsigned row = lane & ~15u, column = lane & 15, n = control & 15;
  if (control < 0x100) // quad_perm
    return (lane & ~3u) | ((control >> (2 * (lane & 3))) & 3);
  switch (control & ~15u) {
  case 0x100: // row_shl
    return column + n < 16 ? std::optional(lane + n) : std::nullopt;
  case 0x110: // row_shr
    return column >= n ? std::optional(lane - n) : std::nullopt;
  case 0x120: // row_ror
    return row | ((column - n) & 15);
  case 0x140: // row_mirror, row_half_mirror
    return n == 0 ? row | (15 - column) : lane ^ 7;
  case 0x150: // row_share, row_newbcast
    return row | n;
  default: // row_xmask
    return lane ^ n;
  }
}

static llvm::Error decodeDpp(const llvm::CallBase &call, Site &site) {
  site.immediate = constantOperand(call, 2);
  bool known = site.immediate < 0x100 ||
               (site.immediate > 0x100 && site.immediate < 0x130 &&
                (site.immediate & 15) != 0) ||
               site.immediate == 0x140 || site.immediate == 0x141 ||
               (site.immediate >= 0x150 && site.immediate < 0x170);
  if (!known || call.getType()->getPrimitiveSizeInBits() != 32)
    return llvm::createStringError("control 0x%x", unsigned(site.immediate));
  return llvm::Error::success();
}

static void moveDpp(Warp &, llvm::ArrayRef<Call> lanes) {
  Register source(lanes, 1);
  for (auto [lane, call] : llvm::enumerate(lanes)) {
    if (!call.frame)
      continue;
    uint32_t old = call.operand<uint32_t>(0), rows = call.operand<uint32_t>(3),
             banks = call.operand<uint32_t>(4);
    bool bound = call.operand<uint8_t>(5) & 1;
    if (!(rows >> (lane / 16) & 1) || !(banks >> (lane % 16 / 4) & 1)) {
      call.setResult(old);
      continue;
    }
    std::optional<unsigned> from = dppSource(call.site->immediate, lane);
    bool valid = from && *from < lanes.size() && lanes[*from].frame;
    call.setResult(valid ? source[*from] : bound ? 0 : old);
  }
}

/// Emulates v_permlane16_b32 and, with `other`, v_permlanex16_b32.
template <bool other>
static void permuteRow(Warp &, llvm::ArrayRef<Call> lanes) {
  Register source(lanes, 1);
  for (unsigned lane = 0; lane < lanes.size(); ++lane) {
    const Call &call = lanes[lane];
    if (!call.frame)
      continue;
    uint64_t select =
        call.operand<uint32_t>(2) | uint64_t(call.operand<uint32_t>(3)) << 32;
    unsigned row = (lane & ~15u) ^ (other ? 16 : 0);
    call.setResult(source[row | ((select >> (4 * (lane & 15))) & 15)]);
  }
}

/// Emulates v_permlane16_swap_b32 and v_permlane32_swap_b32: exchanges the
/// lanes of the first register whose bit `bit` is set with the lanes of the
/// second register that are `bit` lower.
template <unsigned bit>
static void swapLanes(Warp &, llvm::ArrayRef<Call> lanes) {
  Register first(lanes, 0), second(lanes, 1);
  for (auto [lane, call] : llvm::enumerate(lanes)) {
    if (!call.frame)
      continue;
    bool upper = lane & bit;
    call.setResult(upper ? second[lane ^ bit] : first[lane], 0);
    call.setResult(upper ? second[lane] : first[lane ^ bit], 4);
  }
}

static llvm::Error decodeSwizzle(const llvm::CallBase &call, Site &site) {
  site.immediate = constantOperand(call, 1);
  if (site.immediate & 0x8000 && (site.immediate & 0xff00) != 0x8000)
    return llvm::createStringError("pattern 0x%x", unsigned(site.immediate));
  return llvm::Error::success();
}

static void swizzle(Warp &, llvm::ArrayRef<Call> lanes) {
  Register source(lanes, 0);
  for (auto [lane, call] : llvm::enumerate(lanes)) {
    if (!call.frame)
      continue;
    unsigned pattern = call.site->immediate, from;
    if (pattern & 0x8000)
      from = (lane & ~3u) | ((pattern >> (2 * (lane & 3))) & 3);
    else
      from = (lane & ~31u) |
             ((((lane & 31) & (pattern & 31)) | ((pattern >> 5) & 31)) ^
              ((pattern >> 10) & 31));
    call.setResult(source[from]);
  }
}

/// Emulates ds_bpermute_b32. The address is four times the lane to read.
static void permuteBackward(Warp &warp, llvm::ArrayRef<Call> lanes) {
  Register source(lanes, 1);
  for (const Call &call : lanes)
    if (call.frame)
      call.setResult(source[call.operand<uint32_t>(0) / 4 % lanes.size()]);
}

static void readFirstLane(Warp &warp, llvm::ArrayRef<Call> lanes) {
  Register source(lanes, 0);
  for (const Call &call : lanes)
    if (call.frame)
      call.setResult(source[llvm::countr_zero(warp.lanes)]);
}

static void readOneLane(Warp &, llvm::ArrayRef<Call> lanes) {
  Register source(lanes, 0);
  for (const Call &call : lanes)
    if (call.frame)
      call.setResult(source[call.operand<uint32_t>(1) % lanes.size()]);
}

static void ballot(Warp &, llvm::ArrayRef<Call> lanes) {
  uint64_t bits = 0;
  for (auto [lane, call] : llvm::enumerate(lanes))
    if (call.frame && (call.operand<uint8_t>(0) & 1))
      bits |= uint64_t(1) << lane;
  for (const Call &call : lanes)
    if (call.frame)
      std::memcpy(call.frame, &bits, call.site->resultSize);
}

static llvm::Error require32Bits(const llvm::CallBase &call, Site &site) {
  if (site.resultSize != 4)
    return llvm::createStringError("it is not of 32 bits");
  return llvm::Error::success();
}

/// Emulates v_mbcnt: counts the bits of the mask below the lane.
template <unsigned first>
static void countBelow(Thread &thread, const Call &call) {
  unsigned below =
      thread.lane <= first ? 0 : std::min(thread.lane - first, 32u);
  uint32_t mask =
      call.operand<uint32_t>(0) & llvm::maskTrailingOnes<uint32_t>(below);
  call.setResult<uint32_t>(llvm::popcount(mask) + call.operand<uint32_t>(1));
}

//===----------------------------------------------------------------------===//
// Reads of the LDS that transpose
//===----------------------------------------------------------------------===//

static llvm::Error decodeTransposing(const llvm::CallBase &, Site &site) {
  if (site.resultSize != 8)
    return llvm::createStringError("it is not of 64 bits");
  return llvm::Error::success();
}

/// Emulates ds_read_b64_tr_b16. In each row of 16 lanes, lane 4 * r + q passes
/// the address of the columns from 4 * q on of row r, and lane c receives
/// column c, in the order of the rows.
static void readTransposing(Warp &wave, llvm::ArrayRef<Call> lanes) {
  const Site &site = *lanes[0].site;
  const char *data[64] = {};
  for (auto [lane, call] : llvm::enumerate(lanes))
    if (call.frame)
      data[lane] = wave.block->accessShared(
          wave.threads[lane], site, call.integer(0), 8, 8, AccessKind::Read);
  for (auto [lane, call] : llvm::enumerate(lanes)) {
    if (!call.frame)
      continue;
    uint16_t column[4] = {};
    for (unsigned row = 0; row < 4; ++row)
      if (const char *source = data[(lane & ~15u) + 4 * row + lane % 16 / 4])
        std::memcpy(&column[row], source + 2 * (lane % 4), 2);
    std::memcpy(call.frame, column, sizeof(column));
  }
}

//===----------------------------------------------------------------------===//
// Copies to the LDS
//===----------------------------------------------------------------------===//

namespace {
/// The constant operands of a copy to the LDS.
struct LDSCopy {
  unsigned bytes, offset;
};
} // namespace

/// Decodes llvm.amdgcn.load.to.lds and llvm.amdgcn.global.load.lds.
static llvm::Error decodeLDSCopy(const llvm::CallBase &call, Site &site) {
  auto copy = std::make_shared<LDSCopy>();
  copy->bytes = constantOperand(call, 2);
  copy->offset = constantOperand(call, 3);
  if (copy->bytes != 4 && copy->bytes != 16)
    return llvm::createStringError("%u bytes a lane", copy->bytes);
  if (call.getArgOperand(0)->getType()->getPointerAddressSpace() != 1)
    return llvm::createStringError("the source is not in global memory");
  site.data = copy;
  return llvm::Error::success();
}

/// Starts a copy of one part for each active lane. The wave has one address in
/// the LDS, that of its first active lane, and the part of lane i is at i times
/// the size. Inactive lanes leave their part as it is.
static void copyToLDS(Warp &wave, llvm::ArrayRef<Call> lanes) {
  const Site &site = *lanes[0].site;
  const auto &copy = *static_cast<const LDSCopy *>(site.data.get());
  const Call *first = llvm::find_if(
      lanes, [](const Call &call) { return call.frame != nullptr; });
  uint64_t base = first->integer(1) + copy.offset;
  for (auto [lane, call] : llvm::enumerate(lanes)) {
    if (!call.frame)
      continue;
    Thread &thread = wave.threads[lane];
    char *to = wave.block->accessShared(thread, site, base + lane * copy.bytes,
                                        copy.bytes, 4, AccessKind::CopyIssue);
    const char *from =
        wave.block->access(thread, site, call.integer(0) + copy.offset,
                           copy.bytes, 4, AccessKind::Read);
    thread.copies.push_back({&site, to, from, copy.bytes, copy.bytes});
  }
}

static llvm::Error decodeWait(const llvm::CallBase &call, Site &site) {
  site.immediate = constantOperand(call, 0);
  return llvm::Error::success();
}

/// Emulates s_waitcnt of gfx9, with vmcnt in bits 0 to 3, 14 and 15, and
/// lgkmcnt in bits 8 to 11. The counter of vector memory operations allows the
/// newest ones to be in flight. Of these only the copies to the LDS are counted
/// here, so that the most copies that the hardware may have in flight are.
/// After a wait for all accesses to the LDS, a barrier orders them.
static void waitForCounters(Thread &thread, const Call &call) {
  unsigned counters = call.site->immediate;
  size_t inFlight = (counters & 15) | (counters >> 14 & 3) << 4;
  if (thread.copies.size() > inFlight) {
    auto end = thread.copies.end() - inFlight;
    thread.block->complete(thread,
                           llvm::ArrayRef(thread.copies).drop_back(inFlight));
    thread.copies.erase(thread.copies.begin(), end);
  }
  bool isGfx9 = thread.block->launch.warpSize == 64;
  if (Checker *checker = thread.block->getChecker();
      checker && isGfx9 && (counters >> 8 & 15) == 0)
    checker->fence(thread, /*acquires=*/false, /*releases=*/true);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

static void barrier(Thread &thread, const Call &call) {
  waitForBlock(thread, *call.site, 0);
}

static void orderWave(Warp &wave, llvm::ArrayRef<Call> lanes) {
  wave.block->orderWarp(lanes, wave);
}

/// Accepts only the barrier of the workgroup, -1.
static llvm::Error decodeBarrier(const llvm::CallBase &call, Site &) {
  if (!llvm::cast<llvm::ConstantInt>(call.getArgOperand(0))->isMinusOne())
    return llvm::createStringError("it is not the workgroup's barrier, -1");
  return llvm::Error::success();
}

llvm::ArrayRef<Instruction> tile::cpu::amdInstructions() {
  static const Instruction rows[] = {
      {"llvm.amdgcn.workitem.id.*", Work::Index, readThreadIndex, nullptr,
       nullptr, decodeDimension},
      {"llvm.amdgcn.workgroup.id.*", Work::Index, readBlockIndex, nullptr,
       nullptr, decodeDimension},
      {"llvm.amdgcn.wavefrontsize", Work::Index, readWarpSize},
      {"llvm.amdgcn.mbcnt.lo", Work::Index, countBelow<0>},
      {"llvm.amdgcn.mbcnt.hi", Work::Index, countBelow<32>},

      {"llvm.amdgcn.exp2.f32", Work::Math, nullptr, nullptr,
       hostFunction(exp2Flush)},
      {"llvm.amdgcn.log.f32", Work::Math, nullptr, nullptr,
       hostFunction(log2Flush)},
      {"llvm.amdgcn.rcp.f32", Work::Math, nullptr, nullptr,
       hostFunction(reciprocalFlush)},
      {"llvm.amdgcn.rsq.f32", Work::Math, nullptr, nullptr,
       hostFunction(reciprocalSqrtFlush)},
      {"llvm.amdgcn.sqrt.f32", Work::Math, nullptr, nullptr,
       hostFunction(sqrtFlush)},

      {"llvm.amdgcn.update.dpp.*", Work::Exchange, nullptr, moveDpp, nullptr,
       decodeDpp},
      {"llvm.amdgcn.permlane16.swap", Work::Exchange, nullptr, swapLanes<16>},
      {"llvm.amdgcn.permlane32.swap", Work::Exchange, nullptr, swapLanes<32>},
      {"llvm.amdgcn.permlane16.*", Work::Exchange, nullptr, permuteRow<false>,
       nullptr, require32Bits},
      {"llvm.amdgcn.permlanex16.*", Work::Exchange, nullptr, permuteRow<true>,
       nullptr, require32Bits},
      {"llvm.amdgcn.ds.swizzle", Work::Exchange, nullptr, swizzle, nullptr,
       decodeSwizzle},
      {"llvm.amdgcn.ds.bpermute", Work::Exchange, nullptr, permuteBackward},
      {"llvm.amdgcn.readfirstlane.*", Work::Exchange, nullptr, readFirstLane,
       nullptr, require32Bits},
      {"llvm.amdgcn.readlane.*", Work::Exchange, nullptr, readOneLane, nullptr,
       require32Bits},
      {"llvm.amdgcn.ballot.*", Work::Exchange, nullptr, ballot},

      {"llvm.amdgcn.wave.barrier", Work::Barrier, nullptr, orderWave},
      {"llvm.amdgcn.s.barrier", Work::Barrier, barrier},
      {"llvm.amdgcn.s.barrier.signal", Work::Barrier, signalBarrier, nullptr,
       nullptr, decodeBarrier},
      {"llvm.amdgcn.s.barrier.wait", Work::Barrier, awaitBarrier, nullptr,
       nullptr, decodeBarrier},

      {"llvm.amdgcn.ds.read.tr16.b64.*", Work::Memory, nullptr, readTransposing,
       nullptr, decodeTransposing},

      {"llvm.amdgcn.sched.*", Work::Index, doNothing},
      {"llvm.amdgcn.iglp.opt", Work::Index, doNothing},
      {"llvm.amdgcn.s.setprio", Work::Index, doNothing},
      {"llvm.amdgcn.s.sleep", Work::Index, doNothing},
      {"llvm.amdgcn.load.to.lds.*", Work::Copy, nullptr, copyToLDS, nullptr,
       decodeLDSCopy},
      {"llvm.amdgcn.global.load.lds", Work::Copy, nullptr, copyToLDS, nullptr,
       decodeLDSCopy},
      {"llvm.amdgcn.s.waitcnt", Work::Index, waitForCounters, nullptr, nullptr,
       decodeWait},
      {"llvm.amdgcn.s.wait.*", Work::Index, doNothing},
  };
  return rows;
}
