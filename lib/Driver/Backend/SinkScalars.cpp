//===- SinkScalars.cpp - Scalars computed in the loops that use them ------===//

#include "SinkScalars.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

/// The scalar registers of values that loops use and that are computed in front
/// of them, of about 100. Others hold addresses, counters and conditions of the
/// loop.
static constexpr unsigned kMostRegisters = 72;

/// The scalar registers that are worth a vector register.
static constexpr unsigned kVectorRegister = 4;

/// Returns true if `instruction` is computed from one value and constants, by
/// few instructions.
static bool isCheap(const Instruction &instruction) {
  if (auto *limit = dyn_cast<MinMaxIntrinsic>(&instruction))
    return !limit->getType()->isVectorTy() && isa<Constant>(limit->getRHS()) &&
           !isa<Constant>(limit->getLHS());
  if (!isa<BinaryOperator, CmpInst, CastInst>(instruction) ||
      instruction.getType()->isVectorTy() || instruction.isFPDivRem())
    return false;
  switch (instruction.getOpcode()) {
  case Instruction::UDiv:
  case Instruction::SDiv:
  case Instruction::URem:
  case Instruction::SRem:
    return false;
  default:
    return count_if(instruction.operands(), [](const Use &operand) {
             return !isa<Constant>(operand);
           }) == 1;
  }
}

namespace {
class Sinker {
public:
  Sinker(Function &function, const UniformityInfo &uniformity,
         unsigned waveSize)
      : function(function), uniformity(uniformity), waveSize(waveSize),
        dominators(function), loops(dominators) {}

  void run();

private:
  unsigned countRegisters(const Value *value) const;
  void relieve(Loop &loop);
  void sinkChain(Instruction &instruction, const Loop &loop);
  bool isAlwaysUsed(const Instruction &instruction, const Loop &loop) const;

  Function &function;
  const UniformityInfo &uniformity;
  unsigned waveSize;
  DominatorTree dominators;
  LoopInfo loops;
};
} // namespace

/// Returns true if all iterations of `loop` use `instruction`.
bool Sinker::isAlwaysUsed(const Instruction &instruction,
                          const Loop &loop) const {
  SmallVector<BasicBlock *> ends;
  loop.getLoopLatches(ends);
  return any_of(instruction.users(), [&](const User *user) {
    const BasicBlock *block = cast<Instruction>(user)->getParent();
    return loop.contains(block) && all_of(ends, [&](const BasicBlock *end) {
             return dominators.dominates(block, end);
           });
  });
}

/// Returns the scalar registers of `value`.
unsigned Sinker::countRegisters(const Value *value) const {
  Type *type = value->getType();
  bool isDivergent = uniformity.isDivergent(value);
  if (type->isIntOrIntVectorTy(1)) {
    auto *vector = dyn_cast<FixedVectorType>(type);
    return (isDivergent ? waveSize / 32 : 1) *
           (vector ? vector->getNumElements() : 1);
  }
  if (isDivergent || !(type->isIntegerTy() || type->isPointerTy()))
    return 0;
  return divideCeil(
      function.getDataLayout().getTypeSizeInBits(type).getFixedValue(), 32);
}

/// Returns the value from which `instruction` is computed by cheap instructions
/// in front of `loop`.
static Value *findRoot(Instruction &instruction, const Loop &loop) {
  Value *root = &instruction;
  while (auto *step = dyn_cast<Instruction>(root)) {
    if (loop.contains(step) || !isCheap(*step))
      break;
    root = *find_if(step->operands(),
                    [](const Use &use) { return !isa<Constant>(use); });
  }
  return root;
}

/// Computes `instruction` in the blocks of `loop` that use it, with the cheap
/// instructions in front of the loop that it is computed from.
void Sinker::sinkChain(Instruction &instruction, const Loop &loop) {
  SmallMapVector<BasicBlock *, Instruction *, 4> users;
  for (Use &use : instruction.uses()) {
    auto *user = cast<Instruction>(use.getUser());
    if (isa<PHINode>(user) || !loop.contains(user))
      continue;
    Instruction *&first = users[user->getParent()];
    if (!first || user->comesBefore(first))
      first = user;
  }
  for (auto [block, first] : users) {
    Instruction *copy = instruction.clone();
    copy->insertBefore(first->getIterator());
    instruction.replaceUsesWithIf(copy, [block = block](Use &use) {
      auto *user = cast<Instruction>(use.getUser());
      return user->getParent() == block && !isa<PHINode>(user);
    });
    // The copy computes what it uses again, too.
    for (Instruction *user = copy;;) {
      Use *operand = find_if(
          user->operands(), [](const Use &use) { return !isa<Constant>(use); });
      auto *step = dyn_cast<Instruction>(*operand);
      if (!step || loop.contains(step) || !isCheap(*step))
        break;
      Instruction *next = step->clone();
      next->insertBefore(user->getIterator());
      operand->set(next);
      user = next;
    }
  }
  if (instruction.use_empty())
    instruction.eraseFromParent();
}

/// Computes scalars and conditions in `loop`, not in front of it, if those that
/// it uses take too many registers.
void Sinker::relieve(Loop &loop) {
  SetVector<Value *> used;
  unsigned registers = 0;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block)
      for (Value *operand : instruction.operands()) {
        auto *step = dyn_cast<Instruction>(operand);
        if ((step ? !loop.contains(step) : isa<Argument>(operand)) &&
            used.insert(operand))
          registers += countRegisters(operand);
      }
  MapVector<Value *, SmallVector<Instruction *>> groups;
  for (Value *value : used)
    if (auto *instruction = dyn_cast<Instruction>(value);
        instruction && isCheap(*instruction) &&
        countRegisters(instruction) != 0)
      groups[findRoot(*instruction, loop)].push_back(instruction);
  auto isNeeded = [&](const Instruction *member) {
    return isAlwaysUsed(*member, loop);
  };
  // Scalar instructions cost less than those of conditions of lanes, which cost
  // least in blocks that iterations skip.
  enum Cost { Scalar, Skipped, Always };
  for (Cost cost : {Scalar, Skipped, Always})
    for (auto &[root, members] : groups) {
      if (registers <= kMostRegisters)
        return;
      bool isDivergent = uniformity.isDivergent(root);
      if (cost != (!isDivergent                ? Scalar
                   : any_of(members, isNeeded) ? Always
                                               : Skipped))
        continue;
      unsigned removed = 0, added = 0;
      for (Instruction *member : members)
        removed += countRegisters(member);
      if (!used.contains(root))
        added = isDivergent ? kVectorRegister : countRegisters(root);
      if (removed <= added)
        continue;
      for (Instruction *member : members)
        sinkChain(*member, loop);
      members.clear();
      registers -= isDivergent ? removed : removed - added;
      used.insert(root);
    }
}

void Sinker::run() {
  // Inner loops first.
  SmallVector<Loop *> outerFirst = loops.getLoopsInPreorder();
  for (Loop *loop : reverse(outerFirst))
    relieve(*loop);
}

void tile::sinkScalars(Module &module, FunctionAnalysisManager &analyses,
                       unsigned waveSize) {
  for (Function &function : module)
    if (!function.isDeclaration())
      Sinker(function, analyses.getResult<UniformityInfoAnalysis>(function),
             waveSize)
          .run();
}
