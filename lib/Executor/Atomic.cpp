//===- Atomic.cpp - Atomic read-modify-write ------------------------------===//
//
// Each element is combined by a compare-and-swap of the host, because blocks
// run on several threads of the host. The rows of Chips/Atomics.h say what PTX
// instructions combine.
//
//===----------------------------------------------------------------------===//

#include "Atomic.h"
#include "Block.h"
#include "Numbers.h"
#include "tile/Chips/Atomics.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/InlineAsm.h"
#include <algorithm>
#include <cmath>

using namespace tile;
using namespace tile::cpu;

using BinOp = llvm::AtomicRMWInst::BinOp;

template <typename T> static T combineFloats(BinOp op, T old, T value) {
  switch (op) {
  case BinOp::FAdd:
    return old + value;
  case BinOp::FSub:
    return old - value;
  case BinOp::FMax:
    return std::fmax(old, value);
  case BinOp::FMin:
    return std::fmin(old, value);
  default:
    return value;
  }
}

template <typename T> static T combineIntegers(BinOp op, T old, T value) {
  using Signed = std::make_signed_t<T>;
  switch (op) {
  case BinOp::Add:
    return old + value;
  case BinOp::Sub:
    return old - value;
  case BinOp::And:
    return old & value;
  case BinOp::Or:
    return old | value;
  case BinOp::Xor:
    return old ^ value;
  case BinOp::Max:
    return std::max<Signed>(old, value);
  case BinOp::Min:
    return std::min<Signed>(old, value);
  case BinOp::UMax:
    return std::max(old, value);
  case BinOp::UMin:
    return std::min(old, value);
  default:
    return value;
  }
}

/// Returns whether combine() supports the operation.
static bool isKnown(BinOp op, AtomicElement element) {
  bool integer = element == AtomicElement::I32 || element == AtomicElement::I64;
  switch (op) {
  case BinOp::Xchg:
    return true;
  case BinOp::FAdd:
  case BinOp::FSub:
  case BinOp::FMax:
  case BinOp::FMin:
    return !integer;
  case BinOp::Add:
  case BinOp::Sub:
  case BinOp::And:
  case BinOp::Or:
  case BinOp::Xor:
  case BinOp::Max:
  case BinOp::Min:
  case BinOp::UMax:
  case BinOp::UMin:
    return integer;
  default:
    return false;
  }
}

unsigned cpu::bytesOf(AtomicElement element) {
  switch (element) {
  case AtomicElement::F16:
  case AtomicElement::BF16:
    return 2;
  case AtomicElement::F32:
  case AtomicElement::I32:
    return 4;
  case AtomicElement::F64:
  case AtomicElement::I64:
    return 8;
  }
  llvm_unreachable("not an element");
}

/// Returns the combination of two elements, given as bits.
static uint64_t combine(const AtomicUpdate &update, uint64_t old,
                        uint64_t value) {
  switch (update.element) {
  case AtomicElement::F16:
    if (update.op == BinOp::Xchg)
      return value;
    return toF16(combineFloats(update.op, fromF16(old), fromF16(value)));
  case AtomicElement::BF16:
    if (update.op == BinOp::Xchg)
      return value;
    return toBF16(combineFloats(update.op, fromBF16(old), fromBF16(value)));
  case AtomicElement::F32:
    return bitCast<uint32_t>(combineFloats(update.op,
                                           bitCast<float>(uint32_t(old)),
                                           bitCast<float>(uint32_t(value))));
  case AtomicElement::F64:
    return bitCast<uint64_t>(
        combineFloats(update.op, bitCast<double>(old), bitCast<double>(value)));
  case AtomicElement::I32:
    return combineIntegers<uint32_t>(update.op, old, value);
  case AtomicElement::I64:
    return combineIntegers<uint64_t>(update.op, old, value);
  }
  llvm_unreachable("not an element");
}

template <typename Bits>
static void updateElements(const AtomicUpdate &update, char *memory,
                           const char *values, char *olds) {
  for (unsigned i = 0; i < update.count; ++i) {
    auto *place = reinterpret_cast<Bits *>(memory) + i;
    Bits value;
    std::memcpy(&value, values + i * sizeof(Bits), sizeof(Bits));
    Bits old = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(
        place, &old, static_cast<Bits>(combine(update, old, value)),
        /*weak=*/true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
    if (olds)
      std::memcpy(olds + i * sizeof(Bits), &old, sizeof(Bits));
  }
}

/// Performs `update` on the memory at `memory`; `olds` may be null.
static void updateAll(const AtomicUpdate &update, char *memory,
                      const char *values, char *olds) {
  switch (bytesOf(update.element)) {
  case 2:
    return updateElements<uint16_t>(update, memory, values, olds);
  case 4:
    return updateElements<uint32_t>(update, memory, values, olds);
  case 8:
    return updateElements<uint64_t>(update, memory, values, olds);
  }
}

void cpu::addElements(AtomicElement element, unsigned count, char *memory,
                      const char *values) {
  AtomicUpdate update;
  bool isInteger =
      element == AtomicElement::I32 || element == AtomicElement::I64;
  update.op = isInteger ? BinOp::Add : BinOp::FAdd;
  update.element = element;
  update.count = count;
  updateAll(update, memory, values, nullptr);
}

void cpu::updateMemory(Thread &thread, const Call &call, uint64_t address,
                       const char *values) {
  const auto &update =
      *static_cast<const AtomicUpdate *>(call.site->data.get());
  unsigned size = bytesOf(update.element) * update.count;
  Block &block = *thread.block;
  char *memory = update.shared
                     ? block.accessShared(thread, *call.site, address, size,
                                          size, AccessKind::Atomic)
                     : block.access(thread, *call.site, address, size, size,
                                    AccessKind::Atomic);
  char *olds = call.site->resultSize ? call.frame : nullptr;
  auto perform = [&] { updateAll(update, memory, values, olds); };
  if (Checker *checker = block.getChecker())
    checker->atomic(thread, address, update.acquires, update.releases, perform);
  else
    perform();
}

/// Operand 0 is the address. The values begin at operand 1.
static void update(Thread &thread, const Call &call) {
  updateMemory(thread, call, call.integer(0), call.operandBytes(1));
}

//===----------------------------------------------------------------------===//
// LLVM's atomicrmw
//===----------------------------------------------------------------------===//

static std::optional<AtomicElement> elementOf(llvm::Type *type) {
  if (type->isHalfTy())
    return AtomicElement::F16;
  if (type->isBFloatTy())
    return AtomicElement::BF16;
  if (type->isFloatTy())
    return AtomicElement::F32;
  if (type->isDoubleTy())
    return AtomicElement::F64;
  if (type->isIntegerTy(32))
    return AtomicElement::I32;
  if (type->isIntegerTy(64))
    return AtomicElement::I64;
  return std::nullopt;
}

/// Returns the update that combines values of `type`; null if combine() does
/// not support it.
static std::shared_ptr<AtomicUpdate> makeUpdate(BinOp op, llvm::Type *type) {
  std::optional<AtomicElement> element = elementOf(type->getScalarType());
  if (!element || !isKnown(op, *element))
    return nullptr;
  auto vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  auto update = std::make_shared<AtomicUpdate>();
  update->op = op;
  update->element = *element;
  update->count = vector ? vector->getNumElements() : 1;
  return update;
}

llvm::Error cpu::decodeUpdate(BinOp op, llvm::Type *type, Site &site) {
  site.data = makeUpdate(op, type);
  return site.data ? llvm::Error::success()
                   : llvm::createStringError("its operation or its type");
}

llvm::Error cpu::decodeAtomic(const llvm::AtomicRMWInst &inst, Site &site) {
  static const Instruction row = {"atomicrmw", Work::Atomic, update};
  auto decoded = makeUpdate(inst.getOperation(), inst.getType());
  if (!decoded)
    return llvm::createStringError("its operation or its type");
  decoded->shared = inst.getPointerAddressSpace() == 3;
  decoded->acquires = llvm::isAcquireOrStronger(inst.getOrdering());
  decoded->releases = llvm::isReleaseOrStronger(inst.getOrdering());
  site.row = &row;
  site.data = std::move(decoded);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// PTX
//===----------------------------------------------------------------------===//

static BinOp operationOf(AtomicKind kind) {
  switch (kind) {
  case AtomicKind::AddF:
    return BinOp::FAdd;
  case AtomicKind::AddI:
    return BinOp::Add;
  case AtomicKind::MaxS:
    return BinOp::Max;
  case AtomicKind::MinS:
    return BinOp::Min;
  case AtomicKind::MaxU:
    return BinOp::UMax;
  case AtomicKind::MinU:
    return BinOp::UMin;
  case AtomicKind::Or:
    return BinOp::Or;
  case AtomicKind::And:
    return BinOp::And;
  }
  llvm_unreachable("not an atomic kind");
}

/// Returns the updates of all mnemonics of the table of atomics.
static llvm::StringMap<AtomicUpdate> spellAtomics() {
  llvm::StringMap<AtomicUpdate> updates;
  for (const Atomic &row : atomics()) {
    if (row.ptx.empty())
      continue;
    bool integer =
        row.element == AtomicElement::I32 || row.element == AtomicElement::I64;
    for (int kind = 0; kind <= int(AtomicKind::And); ++kind) {
      if (integer == (AtomicKind(kind) == AtomicKind::AddF))
        continue;
      for (int order = 0; order <= int(AtomicOrder::AcqRel); ++order)
        for (int scope = 0; scope <= int(AtomicScope::System); ++scope)
          for (bool shared : {false, true})
            for (bool returns : {false, true}) {
              AtomicUpdate &update = updates[getPtxAtomic(
                  row, AtomicKind(kind), AtomicOrder(order), AtomicScope(scope),
                  shared, returns)];
              update.op = operationOf(AtomicKind(kind));
              update.element = row.element;
              update.count = row.width;
              update.shared = shared;
              update.acquires = AtomicOrder(order) == AtomicOrder::Acquire ||
                                AtomicOrder(order) == AtomicOrder::AcqRel;
              update.releases = AtomicOrder(order) == AtomicOrder::Release ||
                                AtomicOrder(order) == AtomicOrder::AcqRel;
            }
    }
  }
  return updates;
}

static llvm::Error decodePtx(const llvm::CallBase &call, Site &site) {
  static const auto &updates =
      *new llvm::StringMap<AtomicUpdate>(spellAtomics());
  auto found = updates.find(site.name);
  if (found == updates.end())
    return llvm::createStringError("no row of the table of atomics is this");
  // The text must be one instruction whose operands are the results, the
  // address and the values.
  llvm::StringRef text =
      llvm::cast<llvm::InlineAsm>(call.getCalledOperand())->getAsmString();
  if (text.count(';') != 1 || text.contains('@'))
    return llvm::createStringError("more than one instruction");
  unsigned bytes = 0;
  for (const Site::Operand &operand :
       llvm::ArrayRef(site.operands).drop_front())
    bytes += operand.size;
  if (bytes != bytesOf(found->second.element) * found->second.count)
    return llvm::createStringError("operands of other types");
  site.data = std::make_shared<AtomicUpdate>(found->second);
  return llvm::Error::success();
}

llvm::ArrayRef<Instruction> cpu::atomicInstructions() {
  static const Instruction rows[] = {
      {"red.*", Work::Atomic, update, nullptr, nullptr, decodePtx},
      {"atom.*", Work::Atomic, update, nullptr, nullptr, decodePtx},
  };
  return rows;
}
