//===- BufferAccess.cpp - Accesses through a buffer descriptor ------------===//
//
// BUFFER_LOAD_*, BUFFER_STORE_* and BUFFER_ATOMIC_* of AMD chips. A descriptor
// has 128 bits, which no pointer of the host has, so an instruction takes its
// parts as operands. The bounds of the descriptor say which lanes are active,
// not where the tensor ends, so an access within them is checked like any
// other.
//
// Sources: LLVM's IntrinsicsAMDGPU.td for the order of operands; AMD's RDNA3
// instruction set architecture guide, "Buffer Addressing", for the bounds.
//
//===----------------------------------------------------------------------===//

#include "BufferAccess.h"
#include "../Atomic.h"
#include "../Block.h"
#include "../Reports.h"
#include "tile/Chips/Chips.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace tile;
using namespace tile::cpu;

/// The parts of a descriptor, the offset of the lane and that of the wave, from
/// the first operand of the descriptor on.
enum Part : unsigned { kBase, kStride, kBytes, kFlags, kOffset, kWaveOffset };

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

static llvm::CallBase *findMaker(llvm::Value *value) {
  auto *call = llvm::dyn_cast<llvm::CallBase>(value);
  return call && makesDescriptor(*call) ? call : nullptr;
}

/// Returns the values that a choice is made from.
static llvm::SmallVector<llvm::Value *> choices(llvm::Instruction *choice) {
  if (auto *phi = llvm::dyn_cast<llvm::PHINode>(choice))
    return llvm::SmallVector<llvm::Value *>(phi->incoming_values());
  auto *select = llvm::cast<llvm::SelectInst>(choice);
  return {select->getTrueValue(), select->getFalseValue()};
}

void cpu::divideDescriptors(llvm::Function &function) {
  constexpr unsigned kDescriptor = 8; // an address space of AMD
  llvm::SetVector<llvm::Instruction *> all;
  for (llvm::Instruction &inst : llvm::instructions(function)) {
    auto *type = llvm::dyn_cast<llvm::PointerType>(inst.getType());
    if (type && type->getAddressSpace() == kDescriptor &&
        llvm::isa<llvm::PHINode, llvm::SelectInst>(inst))
      all.insert(&inst);
  }
  llvm::Function *maker = nullptr;
  for (llvm::Instruction *choice : all)
    for (llvm::Value *value : choices(choice)) {
      if (auto *inst = llvm::dyn_cast<llvm::Instruction>(value))
        if (all.contains(inst))
          continue;
      llvm::CallBase *call = findMaker(value);
      if (!call || (maker && maker != call->getCalledFunction()))
        return;
      maker = call->getCalledFunction();
    }
  if (!maker)
    return;

  // A choice of each part, from parts of the same descriptors. Their operands
  // are set when all exist.
  constexpr unsigned kParts = kFlags + 1;
  llvm::DenseMap<llvm::Value *, llvm::SmallVector<llvm::Instruction *>> parts;
  for (llvm::Instruction *choice : all)
    for (unsigned part = 0; part < kParts; ++part) {
      llvm::Type *type = maker->getFunctionType()->getParamType(part);
      llvm::IRBuilder<> builder(choice);
      llvm::Value *none = llvm::PoisonValue::get(type);
      if (auto *phi = llvm::dyn_cast<llvm::PHINode>(choice))
        parts[choice].push_back(
            builder.CreatePHI(type, phi->getNumIncomingValues()));
      else
        parts[choice].push_back(llvm::SelectInst::Create(
            llvm::cast<llvm::SelectInst>(choice)->getCondition(), none, none,
            "", choice->getIterator()));
    }
  auto partOf = [&](llvm::Value *value, unsigned part) -> llvm::Value * {
    if (llvm::CallBase *call = findMaker(value))
      return call->getArgOperand(part);
    return parts.at(value)[part];
  };
  for (llvm::Instruction *choice : all)
    for (unsigned part = 0; part < kParts; ++part) {
      llvm::Instruction *chosen = parts[choice][part];
      for (auto [i, value] : llvm::enumerate(choices(choice)))
        if (auto *phi = llvm::dyn_cast<llvm::PHINode>(chosen))
          phi->addIncoming(
              partOf(value, part),
              llvm::cast<llvm::PHINode>(choice)->getIncomingBlock(i));
        else
          chosen->setOperand(i + 1, partOf(value, part));
    }
  for (llvm::Instruction *choice : all) {
    llvm::IRBuilder<> builder(choice);
    if (llvm::isa<llvm::PHINode>(choice))
      builder.SetInsertPoint(choice->getParent(),
                             choice->getParent()->getFirstInsertionPt());
    llvm::SmallVector<llvm::Value *> operands(parts[choice].begin(),
                                              parts[choice].end());
    llvm::Value *descriptor = builder.CreateCall(maker, operands);
    choice->replaceUsesWithIf(descriptor, [&](llvm::Use &use) {
      return !all.contains(llvm::cast<llvm::Instruction>(use.getUser()));
    });
  }
  for (llvm::Instruction *choice : all)
    choice->replaceAllUsesWith(llvm::PoisonValue::get(choice->getType()));
  for (llvm::Instruction *choice : all)
    choice->eraseFromParent();
  // Flags and strides that are the same in all descriptors become constants.
  llvm::SmallVector<llvm::Instruction *> chosen;
  for (auto &[choice, ofChoice] : parts)
    llvm::append_range(chosen, ofChoice);
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::Instruction *&inst : chosen) {
      llvm::Value *same = nullptr;
      if (auto *phi = llvm::dyn_cast_or_null<llvm::PHINode>(inst))
        same = phi->hasConstantValue();
      else if (inst && inst->getOperand(1) == inst->getOperand(2))
        same = inst->getOperand(1);
      if (!llvm::isa_and_nonnull<llvm::Constant>(same))
        continue;
      inst->replaceAllUsesWith(same);
      inst->eraseFromParent();
      inst = nullptr;
      changed = true;
    }
  }
}

/// Checks a call whose operand `first` is the descriptor, followed by the
/// offset of the lane and the offset of the wave.
static llvm::Error checkDescriptor(const llvm::CallBase &call, unsigned first) {
  auto *maker = llvm::dyn_cast<llvm::CallBase>(call.getArgOperand(first));
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
  return llvm::Error::success();
}

/// Returns the address of an access of `size` bytes whose descriptor begins at
/// operand `first`; nothing if it is out of bounds. Chips differ in whether the
/// offset of the wave counts: here an access must be in bounds with it, and one
/// out of bounds is so without it, or the kernel depends on the chip.
static std::optional<uint64_t> findAddress(Thread &thread, const Call &call,
                                           unsigned first, uint64_t size) {
  uint64_t offset = call.operand<uint32_t>(first + kOffset);
  uint64_t bytes = call.operand<uint64_t>(first + kBytes);
  if (offset + size > bytes)
    return std::nullopt;
  offset += call.operand<uint32_t>(first + kWaveOffset);
  if (offset + size > bytes)
    thread.block->fail(thread, *call.site, [&] {
      return Report(llvm::formatv("'{0}' is in the bounds of its descriptor "
                                  "without the offset of the wave only",
                                  call.site->name));
    });
  return call.integer(first + kBase) + offset;
}

static llvm::Error decodeBufferAtomic(const llvm::CallBase &call, Site &site) {
  if (llvm::Error error = checkDescriptor(call, 1))
    return error;
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

/// Out of bounds, it writes nothing and returns zeros.
static void updateBuffer(Thread &thread, const Call &call) {
  const auto &update =
      *static_cast<const AtomicUpdate *>(call.site->data.get());
  if (auto address =
          findAddress(thread, call, 1, bytesOf(update.element) * update.count))
    updateMemory(thread, call, *address, call.operandBytes(0));
  else
    std::memset(call.frame, 0, call.site->resultSize);
}

static llvm::Error decodeAccess(const llvm::CallBase &call, Site &site) {
  bool isStore = call.getType()->isVoidTy();
  llvm::Type *type =
      isStore ? call.getArgOperand(0)->getType() : call.getType();
  uint64_t bits = type->getPrimitiveSizeInBits();
  if (bits < 8 || bits > 128 || bits % 8 != 0)
    return llvm::createStringError("its type");
  site.accessBytes = bits / 8;
  // A vector is aligned to its size, or to words if that is no power of two.
  site.accessAlignment =
      llvm::isPowerOf2_64(site.accessBytes) ? site.accessBytes : 4;
  site.reads = !isStore;
  site.writes = isStore;
  return checkDescriptor(call, isStore ? 1 : 0);
}

/// Out of bounds, it returns zeros.
static void load(Thread &thread, const Call &call) {
  const Site &site = *call.site;
  std::memset(call.frame, 0, site.resultSize);
  if (auto address = findAddress(thread, call, 0, site.accessBytes))
    std::memcpy(call.frame,
                thread.block->access(thread, site, *address, site.accessBytes,
                                     site.accessAlignment, AccessKind::Read),
                site.accessBytes);
}

/// Out of bounds, it has no effect.
static void store(Thread &thread, const Call &call) {
  const Site &site = *call.site;
  if (auto address = findAddress(thread, call, 1, site.accessBytes))
    std::memcpy(thread.block->access(thread, site, *address, site.accessBytes,
                                     site.accessAlignment, AccessKind::Write),
                call.operandBytes(0), site.accessBytes);
}

llvm::ArrayRef<Instruction> cpu::bufferInstructions() {
  static const Instruction rows[] = {
      {"llvm.amdgcn.raw.ptr.buffer.atomic.*", Work::Atomic, updateBuffer,
       nullptr, nullptr, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.load.*", Work::Memory, load, nullptr,
       nullptr, decodeAccess},
      {"llvm.amdgcn.raw.ptr.buffer.store.*", Work::Memory, store, nullptr,
       nullptr, decodeAccess},
  };
  return rows;
}
