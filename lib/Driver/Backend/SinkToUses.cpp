//===- SinkToUses.cpp - Values computed where they are used ---------------===//
//
// An instruction that has to stay pulls the ones that it uses behind those in
// front of it. Reads of shared memory stay in front of the next instruction
// that may change it.
//
//===----------------------------------------------------------------------===//

#include "SinkToUses.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"

using namespace llvm;

/// The address spaces of both vendors, and those of AMD's buffers.
static constexpr unsigned kGlobal = 1, kShared = 3, kPrivate = 5, kBuffer = 8;

/// Returns true if `instruction` reads shared memory only.
static bool isSharedRead(const Instruction &instruction) {
  auto *load = dyn_cast<LoadInst>(&instruction);
  return load && load->isSimple() && load->getPointerAddressSpace() == kShared;
}

/// Returns true if `pointer` cannot point to shared memory.
static bool isElsewhere(const Value *pointer) {
  unsigned space = pointer->getType()->getPointerAddressSpace();
  return space == kGlobal || space == kPrivate || space == kBuffer;
}

/// Returns true if `instruction` may write shared memory, or wait for a thread
/// that does.
static bool mayChangeShared(const Instruction &instruction) {
  if (!instruction.mayHaveSideEffects())
    return false;
  if (auto *store = dyn_cast<StoreInst>(&instruction))
    return !store->isSimple() || !isElsewhere(store->getPointerOperand());
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return !call || !call->onlyAccessesArgMemory() ||
         any_of(call->args(), [](const Use &argument) {
           return argument->getType()->isPointerTy() && !isElsewhere(argument);
         });
}

/// Returns true if `instruction` is a step of a product of several steps. Those
/// of other fragments read the same operands: the steps stay side by side.
static bool isProductStep(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  if (!call || !call->isConvergent())
    return false;
  auto isSame = [&](const Value *value) {
    auto *other = dyn_cast<IntrinsicInst>(value);
    return other && other->getIntrinsicID() == call->getIntrinsicID();
  };
  return any_of(call->args(), isSame) || any_of(call->users(), isSame);
}

namespace {
class Orderer {
public:
  explicit Orderer(BasicBlock &block) : block(block) {}
  void run();

private:
  bool isMovable(const Instruction &instruction) const;
  void place(Instruction *root);

  BasicBlock &block;
  /// The instructions in their new order.
  SmallVector<Instruction *> order;
  DenseSet<Instruction *> placed;
};
} // namespace

/// Returns true if `instruction` may be anywhere between its operands and its
/// uses in this block.
bool Orderer::isMovable(const Instruction &instruction) const {
  if (isa<PHINode, AllocaInst>(instruction) || instruction.isTerminator() ||
      instruction.use_empty() || instruction.mayHaveSideEffects() ||
      isProductStep(instruction))
    return false;
  if (instruction.mayReadFromMemory() && !isSharedRead(instruction))
    return false;
  return all_of(instruction.users(), [&](const User *user) {
    auto *step = cast<Instruction>(user);
    return step->getParent() == &block && !isa<PHINode>(step);
  });
}

/// Places `root` behind the operands that are not placed yet.
void Orderer::place(Instruction *root) {
  SmallVector<std::pair<Instruction *, unsigned>> stack;
  auto push = [&](Instruction *instruction) {
    if (placed.insert(instruction).second)
      stack.push_back({instruction, 0});
  };
  push(root);
  while (!stack.empty()) {
    auto &[instruction, next] = stack.back();
    if (next == instruction->getNumOperands()) {
      order.push_back(instruction);
      stack.pop_back();
      continue;
    }
    auto *operand = dyn_cast<Instruction>(instruction->getOperand(next++));
    if (operand && operand->getParent() == &block && !isa<PHINode>(operand))
      push(operand);
  }
}

void Orderer::run() {
  SmallVector<Instruction *> reads;
  for (Instruction &instruction : block) {
    if (isa<PHINode>(instruction))
      continue;
    if (mayChangeShared(instruction)) {
      for (Instruction *read : reads)
        place(read);
      reads.clear();
    }
    if (!isMovable(instruction))
      place(&instruction);
    else if (instruction.mayReadFromMemory())
      reads.push_back(&instruction);
  }
  for (Instruction *instruction : order)
    instruction->moveBefore(block, block.end());
}

/// Replaces operations on vectors by those on their elements. Pairs of numbers
/// of 16 bits stay together.
static void scalarize(Function &function, TargetMachine &machine) {
  PassBuilder builder(&machine);
  FunctionAnalysisManager analyses;
  builder.registerFunctionAnalyses(analyses);
  ScalarizerPassOptions options;
  options.ScalarizeMinBits = 32;
  ScalarizerPass(options).run(function, analyses);
}

void tile::sinkToUses(Function &function, TargetMachine &machine) {
  if (function.isDeclaration())
    return;
  scalarize(function, machine);
  for (BasicBlock &block : function)
    Orderer(block).run();
}
