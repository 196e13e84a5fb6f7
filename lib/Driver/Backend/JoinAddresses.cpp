//===- JoinAddresses.cpp - Addresses in shared memory ---------------------===//
//
// All buffers of a kernel are in one global variable. An address is its begin,
// and a sum of values with factors, and a constant. Addresses with the same sum
// are computed from one base, unless the constants are too far apart. LLVM
// moves the additions of constants to the accesses, which do them for free.
//
//===----------------------------------------------------------------------===//

#include "JoinAddresses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"
#include <map>

using namespace llvm;

static constexpr unsigned kSharedMemory = 3;

/// The constants that an instruction adds, from 0 (AMD's ISA guides, "Data
/// Share").
static constexpr int64_t kOffsets = 1 << 16;

/// Values are taken apart up to this depth.
static constexpr unsigned kDepth = 6;

namespace {
/// An address in bytes. Arithmetic wraps, as that of addresses does.
struct Address {
  Value *begin;
  /// The factors of values, without zeros.
  std::map<Value *, uint32_t> terms;
  uint32_t constant = 0;

  void add(Value *value, uint32_t factor, unsigned depth = 0);
};
} // namespace

void Address::add(Value *value, uint32_t factor, unsigned depth) {
  using namespace PatternMatch;
  Value *left, *right;
  const APInt *number;
  if (match(value, m_APInt(number))) {
    constant += factor * uint32_t(number->getZExtValue());
  } else if (depth < kDepth &&
             match(value, m_AddLike(m_Value(left), m_Value(right)))) {
    add(left, factor, depth + 1);
    add(right, factor, depth + 1);
  } else if (depth < kDepth &&
             match(value, m_Mul(m_Value(left), m_APInt(number)))) {
    add(left, factor * uint32_t(number->getZExtValue()), depth + 1);
  } else if (depth < kDepth &&
             match(value, m_Shl(m_Value(left), m_APInt(number)))) {
    add(left, factor << number->getZExtValue(), depth + 1);
  } else {
    uint32_t &sum = terms[value];
    sum += factor;
    if (sum == 0)
      terms.erase(value);
  }
}

/// Returns what `pointer` consists of; std::nullopt if it is no variable
/// address in a global variable.
static std::optional<Address> takeApart(GetElementPtrInst &pointer,
                                        const DataLayout &layout) {
  Address address{};
  Value *begin = &pointer;
  while (auto *step = dyn_cast<GEPOperator>(begin)) {
    SmallMapVector<Value *, APInt, 4> variables;
    APInt constant(32, 0);
    if (step->getType()->isVectorTy() ||
        !step->collectOffset(layout, 32, variables, constant))
      return std::nullopt;
    address.constant += uint32_t(constant.getZExtValue());
    for (auto &[value, factor] : variables) {
      if (!value->getType()->isIntegerTy(32))
        return std::nullopt;
      address.add(value, uint32_t(factor.getZExtValue()));
    }
    begin = step->getPointerOperand();
  }
  if (!isa<GlobalVariable>(begin) || address.terms.empty())
    return std::nullopt;
  address.begin = begin;
  return address;
}

namespace {
/// Addresses that are computed from one base.
struct Group {
  /// The address in front of all others.
  GetElementPtrInst *first;
  /// The constant of the base.
  uint32_t constant;
  SmallVector<std::pair<GetElementPtrInst *, uint32_t>> addresses;
};
} // namespace

/// Returns the address `first` with the constant `constant` instead of its own.
static Value *createBase(GetElementPtrInst &first, uint32_t constant,
                         const DataLayout &layout) {
  using namespace PatternMatch;
  IRBuilder<> builder(&first);
  Value *sum = nullptr;
  Address rest{};
  Value *begin = &first;
  while (auto *step = dyn_cast<GEPOperator>(begin)) {
    SmallMapVector<Value *, APInt, 4> variables;
    APInt own(32, 0);
    step->collectOffset(layout, 32, variables, own);
    for (auto [value, factor] : variables) {
      const APInt *number;
      Value *left;
      while (match(value, m_AddLike(m_Value(left), m_APInt(number))))
        value = left;
      rest.add(value, uint32_t(factor.getZExtValue()));
      Value *term = factor.isPowerOf2()
                        ? builder.CreateShl(value, factor.logBase2())
                        : builder.CreateMul(value, builder.getInt(factor));
      sum = sum ? builder.CreateAdd(sum, term) : term;
    }
    begin = step->getPointerOperand();
  }
  // LLVM would add a constant that is added to the begin to each address.
  if (constant != rest.constant)
    sum = builder.CreateAdd(sum, builder.getInt32(constant - rest.constant));
  return builder.CreatePtrAdd(begin, sum);
}

static void joinAddressesOf(Function &function) {
  const DataLayout &layout = function.getDataLayout();
  DominatorTree dominators(function);
  // The sum, and the constant without the part that an instruction adds.
  using Key = std::tuple<Value *, std::map<Value *, uint32_t>, uint32_t>;
  std::map<Key, SmallVector<unsigned>> found;
  std::vector<Group> groups;
  for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&function))
    for (Instruction &instruction : *block) {
      auto *pointer = dyn_cast<GetElementPtrInst>(&instruction);
      if (!pointer || pointer->getAddressSpace() != kSharedMemory)
        continue;
      std::optional<Address> address = takeApart(*pointer, layout);
      // The constant of an instruction is not negative.
      if (!address || int32_t(address->constant) < 0)
        continue;
      uint32_t constant = address->constant / kOffsets * kOffsets;
      SmallVector<unsigned> &same =
          found[Key(address->begin, address->terms, constant)];
      auto *group = find_if(same, [&](unsigned index) {
        return dominators.dominates(groups[index].first, pointer);
      });
      unsigned index = group == same.end() ? groups.size() : *group;
      if (group == same.end()) {
        same.push_back(index);
        groups.push_back({pointer, constant, {}});
      }
      groups[index].addresses.push_back({pointer, address->constant});
    }
  SmallVector<WeakTrackingVH> replaced;
  for (Group &group : groups) {
    if (group.addresses.size() == 1)
      continue;
    Value *base = createBase(*group.first, group.constant, layout);
    for (auto [pointer, constant] : group.addresses) {
      IRBuilder<> builder(pointer);
      Value *address = base;
      if (constant != group.constant)
        address = builder.CreatePtrAdd(
            base, builder.getInt32(constant - group.constant));
      pointer->replaceAllUsesWith(address);
      replaced.push_back(pointer);
    }
  }
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(replaced);
}

void tile::joinSharedAddresses(Module &module) {
  for (Function &function : module)
    if (!function.isDeclaration())
      joinAddressesOf(function);
}
