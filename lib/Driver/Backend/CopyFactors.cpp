//===- CopyFactors.cpp - Factors in two registers -------------------------===//
//
// Source: AMD's RDNA3 ISA guide, "Dual Issue VALU". Empty assembly keeps LLVM
// from joining the copy with the number. It names vector registers, because an
// arithmetic fence of a number that all lanes have is in scalar registers, and
// LLVM has no copy there from a vector register.
//
//===----------------------------------------------------------------------===//

#include "CopyFactors.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

/// Fewer operations do not pay for the two moves.
static constexpr unsigned kFewest = 8;

static bool isDualOperation(const User *user) {
  auto *operation = dyn_cast<BinaryOperator>(user);
  return operation && (operation->getOpcode() == Instruction::FMul ||
                       operation->getOpcode() == Instruction::FAdd ||
                       operation->getOpcode() == Instruction::FSub);
}

static void copyFactorsOf(ShuffleVectorInst &shuffle) {
  auto *source = cast<FixedVectorType>(shuffle.getOperand(0)->getType());
  int numElements = source->getNumElements();
  SmallVector<unsigned> uses(numElements);
  for (int element : shuffle.getShuffleMask()) {
    if (element >= numElements)
      return;
    if (element >= 0)
      ++uses[element];
  }
  IRBuilder<> builder(&shuffle);
  // A pair is in neighbouring registers, which are in different banks.
  auto *pair = FixedVectorType::get(source->getElementType(), 2);
  InlineAsm *copy = InlineAsm::get(FunctionType::get(pair, {pair}, false), "",
                                   "=v,0", /*hasSideEffects=*/false);
  Value *numbers[2] = {shuffle.getOperand(0), shuffle.getOperand(0)};
  for (int i = 0; i < numElements; ++i)
    if (uses[i] >= kFewest) {
      Value *number = builder.CreateExtractElement(shuffle.getOperand(0), i);
      Value *copied =
          builder.CreateCall(copy, {builder.CreateVectorSplat(2, number)});
      for (unsigned half : {0, 1})
        numbers[half] = builder.CreateInsertElement(
            numbers[half], builder.CreateExtractElement(copied, half), i);
    }
  if (numbers[0] == shuffle.getOperand(0))
    return;
  SmallVector<int> mask(shuffle.getShuffleMask());
  SmallVector<unsigned> seen(numElements);
  for (int &element : mask)
    if (element >= 0 && uses[element] >= kFewest && seen[element]++ % 2 == 1)
      element += numElements;
  shuffle.replaceAllUsesWith(
      builder.CreateShuffleVector(numbers[0], numbers[1], mask));
  shuffle.eraseFromParent();
}

void tile::copyFactors(Module &module, FunctionAnalysisManager &analyses) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    // Numbers that all lanes have are in scalar registers, which have no banks.
    const UniformityInfo &uniformity =
        analyses.getResult<UniformityInfoAnalysis>(function);
    SmallVector<ShuffleVectorInst *> shuffles;
    for (Instruction &instruction : instructions(function))
      if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&instruction))
        if (shuffle->getType()->getElementType()->isFloatTy() &&
            isa<FixedVectorType>(shuffle->getType()) && !shuffle->use_empty() &&
            all_of(shuffle->users(), isDualOperation) &&
            uniformity.isDivergent(shuffle->getOperand(0)))
          shuffles.push_back(shuffle);
    for (ShuffleVectorInst *shuffle : shuffles)
      copyFactorsOf(*shuffle);
  }
}
