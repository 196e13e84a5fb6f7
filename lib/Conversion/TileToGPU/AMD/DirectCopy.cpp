//===- DirectCopy.cpp - Copies to the LDS without registers ---------------===//
//
// One instruction (global_load_lds) copies a part of some bytes for each lane
// of a wave. It fills contiguous memory in the order of the lanes, from an
// address of the wave on. A lane chooses only the address that it reads. So the
// parts of a tile are dealt to lanes in the order of the LDS. If the layout of
// the LDS is swizzled, a lane reads the part that the swizzle stores at its
// place, which is the part of another lane of the wave in the layout without
// the swizzle.
//
// Source: AMD's CDNA3 and CDNA4 instruction set architecture guides, "Global
// Load to LDS": LDS address = M0 + offset of the instruction + lane * bytes.
//
//===----------------------------------------------------------------------===//

#include "DirectCopy.h"
#include "../Access/GlobalAccess.h"
#include "../Access/ThreadAddress.h"
#include "../Access/VectorAccess.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Analysis/AccessWidth.h"
#include "tile/Analysis/MemoryLayouts.h"
#include <map>

using namespace mlir;
using namespace tile;

namespace {
/// The copies of a tile by waves. Access i of `groups` is one instruction. Its
/// thread t reads the elements that `dist` gives to thread
/// permute(t) ^ flips[i].
struct WaveCopies {
  Layout dist, plain;
  AccessGroups groups;
  Swizzle threads;
  SmallVector<int64_t> flips;
};
} // namespace

/// Returns true if the warp holds the first copies of its elements.
static bool isOwner(const Layout &dist, int64_t warp) {
  for (const Digit &digit : dist.axis(kWarp)) {
    if (digit.stride == 0 && warp % digit.extent != 0)
      return false;
    warp /= digit.extent;
  }
  return true;
}

/// Finds the permutations of lanes with which each access of a wave fills
/// contiguous memory. Refuses if there are none.
static Refusal findPermutations(const Layout &memory, WaveCopies &copies) {
  const Layout &dist = copies.dist;
  int64_t width = copies.groups.width, lanes = dist.axisSize(kLane);
  Swizzle swizzle = memory.swizzle();
  if (swizzle.bits != 0)
    copies.threads = {swizzle.bits, swizzle.base - llvm::Log2_64(width),
                      swizzle.shift};
  for (size_t i = 0; i < copies.groups.order.size(); i += width) {
    int64_t r = copies.groups.order[i];
    std::optional<int64_t> flip;
    for (int64_t warp = 0; warp < dist.axisSize(kWarp); ++warp) {
      if (!isOwner(dist, warp))
        continue;
      int64_t begin = copies.plain.offset(dist.element(r, 0, warp));
      for (int64_t lane = 0; lane < lanes; ++lane) {
        int64_t place = begin + lane * width, thread = warp * lanes + lane;
        // The place before the swizzle, as a thread of this access.
        int64_t reader = warp * lanes + (swizzle(place) - begin) / width;
        if (!flip)
          flip = reader ^ copies.threads(thread);
        reader = copies.threads(thread) ^ *flip;
        if (reader < 0 || reader / lanes != warp ||
            memory.offset(dist.element(r, reader % lanes, warp)) != place)
          return "the " + std::to_string(lanes) + " parts of " +
                 std::to_string(width) + " elements from element " +
                 std::to_string(begin) + " of the buffer on are not contiguous";
      }
    }
    copies.flips.push_back(*flip);
  }
  return std::nullopt;
}

/// Finds copies of `bytes` per lane, or refuses.
static Refusal planCopies(const BufferParts &source, ValueRange indices,
                          const BufferParts &dest, ValueRange origin,
                          int64_t bytes, int64_t lanes, int64_t warps,
                          WaveCopies &copies) {
  int64_t bits = dest.type.getElementBits(), width = bytes * 8 / bits;
  if (width == 0 || !llvm::isPowerOf2_64(width))
    return "no number of elements, a power of two, has " +
           std::to_string(bytes) + " bytes";
  ArrayRef<int64_t> shape = dest.type.getShape();
  Layout memory = dest.type.getCanonicalLayout();
  SmallVector<Digits> axes;
  for (unsigned axis = 0; axis < memory.numAxes(); ++axis)
    axes.emplace_back(memory.axis(axis));
  copies = {};
  copies.plain = Layout::memory(axes, memory.shape()[0]);
  copies.dist = *getCoalescedLayout(source.type.getContext(), shape,
                                    copies.plain, width, lanes, warps)
                     .getLayout(shape, bits, nullptr);
  MemoryOperand operands[] = {memoryOperand(source, indices),
                              memoryOperand(dest, origin)};
  AccessWidth decided =
      decideWidth(copies.dist, operands, anyWidth(source.type, bytes));
  copies.groups = decided.groups;
  if (copies.groups.width != width)
    return decided.limits.back().str();
  if (copies.dist.replication(kLane) != 1)
    return "the tile has fewer parts of " + std::to_string(bytes) +
           " bytes than a wave has lanes";
  return findPermutations(memory, copies);
}

/// Returns 16 bytes of zeros in global memory. Lanes out of bounds read them.
static Value emitZeros(Emitter &b, CopyOp op, MemRefType type) {
  constexpr StringLiteral name = "tile_zeros";
  constexpr int64_t bytes = 16;
  auto module = op->getParentOfType<mlir::gpu::GPUModuleOp>();
  auto stored =
      MemRefType::get({bytes}, b.getI8Type(), MemRefLayoutAttrInterface(),
                      type.getMemorySpace());
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto zeros = DenseElementsAttr::get(
        RankedTensorType::get({bytes}, b.getI8Type()), int8_t(0));
    memref::GlobalOp::create(b, name, b.getStringAttr("private"), stored, zeros,
                             /*constant=*/true, b.getI64IntegerAttr(bytes));
  }
  Value zeros = memref::GetGlobalOp::create(b, stored, name);
  return memref::ViewOp::create(
      b, type, zeros, b.index(0),
      b.index(bytes * 8 / type.getElementTypeBitWidth()));
}

Refusal tile::emitDirectCopy(Emitter &b, CopyOp op, const BufferParts &source,
                             ValueRange indices, const BufferParts &dest,
                             ValueRange origin, const Chip &chip,
                             int64_t warps) {
  SmallVector<int64_t> start(indices.size(), 0);
  WaveCopies copies;
  Refusal refusal;
  for (int64_t bytes : chip.asyncCopy.bytes) {
    refusal = planCopies(source, indices, dest, origin, bytes, chip.warpSize,
                         warps, copies);
    if (!refusal)
      break;
  }
  if (refusal)
    return refusal;

  Value thread, wave;
  {
    // The first thread of the wave is in a scalar register, once per kernel.
    OpBuilder::InsertionGuard guard(b);
    auto func = op->getParentOfType<mlir::gpu::GPUFuncOp>();
    b.setInsertionPointToStart(&func.getBody().front());
    thread = emitThread(b);
    wave = ROCDL::ReadfirstlaneOp::create(b, thread.getType(), thread);
  }
  OpBuilder::InsertionGuard guard(b);
  if (Value owner = emitIsOwner(b, copies.dist))
    b.enterIf(owner);
  Value reader = emitSwizzle(b, thread, copies.threads);
  SharedOffsets places(b, copies.dist, copies.plain, start, dest.offset, wave);
  // The accesses to global memory, by the flip of their threads.
  std::map<int64_t, std::unique_ptr<GlobalAccess>> reads;
  int64_t width = copies.groups.width;
  auto part = VectorType::get({width}, dest.type.getElementType());
  auto type = cast<MemRefType>(source.memory.getType());
  for (auto [i, flip] : llvm::enumerate(copies.flips)) {
    int64_t r = copies.groups.order[i * width];
    std::unique_ptr<GlobalAccess> &read = reads[flip];
    if (!read)
      read = std::make_unique<GlobalAccess>(
          b, copies.dist, source, indices,
          b.combine<arith::XOrIOp>(reader, flip, 0));
    Value memory = source.memory, offset = read->offset(r);
    if (Value inside = read->inBounds(r)) {
      memory = b.select(inside, memory, emitZeros(b, op, type));
      offset = b.select(inside, offset, origin.front());
    }
    amdgpu::GatherToLDSOp::create(b, memory, ValueRange{offset}, dest.memory,
                                  ValueRange{places.at(r)}, part);
  }
  return std::nullopt;
}

void tile::waitWhereCopiesAreSkipped(KernelOp kernel) {
  kernel.walk([&](CopyOp copy) {
    auto branch = dyn_cast<scf::IfOp>(copy->getParentOp());
    if (!copy.getAsync() || !branch || !branch.getElseRegion().empty())
      return;
    OpBuilder builder(kernel.getContext());
    builder.createBlock(&branch.getElseRegion());
    WaitGroupOp::create(builder, copy.getLoc(), 0);
    scf::YieldOp::create(builder, copy.getLoc());
  });
}
