//===- RoundPairs.cpp - Pairs of f16 --------------------------------------===//
//
// The instruction is v_fma_mixlo_f16 and v_fma_mixhi_f16 (AMD's RDNA4 ISA
// guide, "VOP3P Instructions"). It rounds once, to the nearest, as the
// conversion does. The fence keeps LLVM from removing the product.
//
//===----------------------------------------------------------------------===//

#include "RoundPairs.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

/// Returns true if `instruction` rounds pairs, and no multiplication that the
/// same instruction could do comes before it.
static bool roundsPairs(const Instruction &instruction) {
  auto *round = dyn_cast<FPTruncInst>(&instruction);
  if (!round)
    return false;
  auto *type = dyn_cast<FixedVectorType>(round->getType());
  if (!type || !type->getElementType()->isHalfTy() ||
      type->getNumElements() < 2 ||
      !round->getSrcTy()->getScalarType()->isFloatTy())
    return false;
  auto *operation = dyn_cast<BinaryOperator>(round->getOperand(0));
  return !operation || operation->getOpcode() != Instruction::FMul;
}

static void roundPairsOf(Function &function) {
  SmallVector<Instruction *> found;
  for (Instruction &instruction : instructions(function))
    if (roundsPairs(instruction))
      found.push_back(&instruction);
  if (found.empty())
    return;
  IRBuilder<> builder(&*function.getEntryBlock().getFirstNonPHIOrDbg());
  Type *f32 = builder.getFloatTy();
  Value *one = builder.CreateIntrinsic(Intrinsic::arithmetic_fence, {f32},
                                       {ConstantFP::get(f32, 1)});
  for (Instruction *round : found) {
    builder.SetInsertPoint(round);
    Value *source = round->getOperand(0);
    Value *ones = builder.CreateVectorSplat(
        cast<FixedVectorType>(source->getType())->getElementCount(), one);
    round->setOperand(0, builder.CreateFMul(source, ones));
  }
}

void tile::roundPairs(Module &module) {
  for (Function &function : module)
    if (!function.isDeclaration())
      roundPairsOf(function);
}
