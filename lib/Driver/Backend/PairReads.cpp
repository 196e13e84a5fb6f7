//===- PairReads.cpp - Bases of reads in pairs ----------------------------===//
//
// joinSharedAddresses leaves addresses in shared memory as sums of few bases
// and constants. A base that LLVM does not see as such a sum serves the pairs
// which are too far from the first one.
//
//===----------------------------------------------------------------------===//

#include "PairReads.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include <map>

using namespace llvm;

static constexpr unsigned kSharedMemory = 3;

/// The bytes of each of the two reads of an instruction, and the constants that
/// it adds, from 0 (AMD's ISA guides, "Data Share").
static constexpr int64_t kReadBytes = 8, kOffsets = 256 * kReadBytes;

/// The addresses with one base, by their constants.
using Addresses = std::map<int64_t, SmallVector<GetElementPtrInst *, 1>>;

/// Returns true if all uses of `pointer` are loads of kReadBytes.
static bool isReadInPairs(const GetElementPtrInst &pointer,
                          const DataLayout &layout) {
  return all_of(pointer.users(), [&](const User *user) {
    auto *load = dyn_cast<LoadInst>(user);
    return load && layout.getTypeStoreSize(load->getType()) == kReadBytes;
  });
}

/// Returns the constants of neighbours out of reach, in order: each list has
/// those that one other base serves.
static std::vector<SmallVector<int64_t>>
findDistantPairs(const Addresses &addresses) {
  std::vector<SmallVector<int64_t>> runs;
  for (int64_t constant : make_first_range(addresses)) {
    if (runs.empty() || runs.back().back() + kReadBytes != constant)
      runs.emplace_back();
    runs.back().push_back(constant);
  }
  std::vector<SmallVector<int64_t>> lists;
  for (ArrayRef<int64_t> run : runs) {
    if (run.size() == 1 || run.back() < kOffsets)
      continue;
    if (lists.empty() || run.back() - lists.back().front() >= kOffsets)
      lists.emplace_back();
    append_range(lists.back(), run);
  }
  // LLVM computes one address for neighbours.
  erase_if(lists, [](ArrayRef<int64_t> list) {
    return list.back() - list.front() == kReadBytes * int64_t(list.size() - 1);
  });
  return lists;
}

/// Returns `base` + `constant`, computed right behind `base`, as an address of
/// which LLVM does not know that it is a sum.
static Value *createBase(Instruction *base, int64_t constant) {
  IRBuilder<> builder(base->getParent(), *base->getInsertionPointAfterDef());
  Value *sum = builder.CreatePtrAdd(base, builder.getInt32(constant));
  auto *type =
      FunctionType::get(sum->getType(), sum->getType(), /*isVarArg=*/false);
  return builder.CreateCall(
      InlineAsm::get(type, "", "=v,0", /*hasSideEffects=*/false), sum);
}

void tile::addBasesOfPairs(Function &function) {
  const DataLayout &layout = function.getDataLayout();
  MapVector<Instruction *, Addresses> found;
  for (BasicBlock &block : function)
    for (Instruction &instruction : block) {
      auto *pointer = dyn_cast<GetElementPtrInst>(&instruction);
      if (!pointer || pointer->getAddressSpace() != kSharedMemory)
        continue;
      auto *base = dyn_cast<Instruction>(pointer->getPointerOperand());
      APInt constant(32, 0);
      if (base && base->getInsertionPointAfterDef() &&
          pointer->accumulateConstantOffset(layout, constant) &&
          !constant.isNegative() && isReadInPairs(*pointer, layout))
        found[base][constant.getSExtValue()].push_back(pointer);
    }
  for (auto &[base, addresses] : found)
    for (ArrayRef<int64_t> constants : findDistantPairs(addresses)) {
      Value *own = createBase(base, constants.front());
      for (int64_t constant : constants)
        for (GetElementPtrInst *pointer : addresses[constant]) {
          IRBuilder<> builder(pointer);
          Value *address = own;
          if (constant != constants.front())
            address = builder.CreatePtrAdd(
                own, builder.getInt32(constant - constants.front()));
          pointer->replaceAllUsesWith(address);
          pointer->eraseFromParent();
        }
    }
}
