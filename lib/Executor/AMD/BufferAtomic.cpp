//===- BufferAtomic.cpp - Atomics through a buffer descriptor -------------===//
//
// BUFFER_ATOMIC_* of AMD chips. A descriptor has 128 bits, which no pointer of
// the host has, so an instruction takes its parts as operands. The bounds of
// the descriptor say which lanes are active, not where the tensor ends, so an
// access within them is checked like any other.
//
// Sources: LLVM's IntrinsicsAMDGPU.td for the order of operands; AMD's RDNA3
// instruction set architecture guide, "Buffer Addressing", for the bounds.
//
//===----------------------------------------------------------------------===//

#include "BufferAtomic.h"
#include "../Atomic.h"
#include "../Block.h"
#include "tile/Chips/Chips.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

using namespace tile;
using namespace tile::cpu;

/// Operands of an instruction whose descriptor has been replaced by its parts.
enum Operand : unsigned { kValue, kBase, kStride, kBytes, kFlags, kOffset };

bool cpu::makesDescriptor(const llvm::CallBase &call) {
  return call.getIntrinsicID() == llvm::Intrinsic::amdgcn_make_buffer_rsrc;
}

llvm::SmallVector<llvm::Value *> cpu::operandParts(const llvm::CallBase &call) {
  llvm::SmallVector<llvm::Value *> parts;
  for (llvm::Value *operand : call.args()) {
    auto *maker = llvm::dyn_cast<llvm::CallBase>(operand);
    if (maker && makesDescriptor(*maker))
      llvm::append_range(parts, maker->args());
    else
      parts.push_back(operand);
  }
  return parts;
}

/// Reads a call whose operand 1 is the descriptor, followed by the offset of
/// the lane and the offset of the wave.
static llvm::Error decodeBuffer(const llvm::CallBase &call, Site &site) {
  auto *maker = llvm::dyn_cast<llvm::CallBase>(call.getArgOperand(1));
  if (!maker || !makesDescriptor(*maker))
    return llvm::createStringError("its descriptor is not made in place");
  auto isNumber = [](const llvm::Value *value, auto accepts) {
    auto *number = llvm::dyn_cast<llvm::ConstantInt>(value);
    return number && accepts(number->getZExtValue());
  };
  auto isZero = [](uint64_t number) { return number == 0; };
  auto areFlags = [](uint64_t flags) {
    return flags != 0 && llvm::any_of(chips(), [&](const Chip &chip) {
             return chip.bufferFlags == flags;
           });
  };
  if (!isNumber(maker->getArgOperand(1), isZero) ||
      !isNumber(maker->getArgOperand(3), areFlags))
    return llvm::createStringError("the stride or the flags of its descriptor");
  if (!isNumber(call.getArgOperand(3), isZero))
    return llvm::createStringError("its offset of the wave");
  using BinOp = llvm::AtomicRMWInst::BinOp;
  static const std::pair<llvm::Intrinsic::ID, BinOp> operations[] = {
      {llvm::Intrinsic::amdgcn_raw_ptr_buffer_atomic_fadd, BinOp::FAdd},
      {llvm::Intrinsic::amdgcn_raw_ptr_buffer_atomic_add, BinOp::Add},
      {llvm::Intrinsic::amdgcn_raw_ptr_buffer_atomic_smax, BinOp::Max},
      {llvm::Intrinsic::amdgcn_raw_ptr_buffer_atomic_smin, BinOp::Min},
      {llvm::Intrinsic::amdgcn_raw_ptr_buffer_atomic_umax, BinOp::UMax},
      {llvm::Intrinsic::amdgcn_raw_ptr_buffer_atomic_umin, BinOp::UMin},
      {llvm::Intrinsic::amdgcn_raw_ptr_buffer_atomic_or, BinOp::Or},
      {llvm::Intrinsic::amdgcn_raw_ptr_buffer_atomic_and, BinOp::And},
  };
  auto *operation = llvm::find_if(operations, [&](const auto &row) {
    return row.first == call.getIntrinsicID();
  });
  if (operation == std::end(operations))
    return llvm::createStringError("its operation");
  return decodeUpdate(operation->second, call.getType(), site);
}

static void updateBuffer(Thread &thread, const Call &call) {
  const auto &update =
      *static_cast<const AtomicUpdate *>(call.site->data.get());
  uint64_t size = bytesOf(update.element) * update.count;
  uint64_t offset = call.operand<uint32_t>(kOffset);
  // Out of bounds: the instruction writes nothing and returns zeros.
  if (offset + size > call.operand<uint64_t>(kBytes)) {
    std::memset(call.frame, 0, call.site->resultSize);
    return;
  }
  updateMemory(thread, call, call.integer(kBase) + offset,
               call.operandBytes(kValue));
}

llvm::ArrayRef<Instruction> cpu::bufferInstructions() {
  static const Instruction rows[] = {
      {"llvm.amdgcn.raw.ptr.buffer.atomic.*", Work::Atomic, updateBuffer,
       nullptr, nullptr, decodeBuffer},
  };
  return rows;
}
