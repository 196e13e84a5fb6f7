//===- HostCode.cpp - What the host does unlike a GPU ---------------------===//

#include "HostCode.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

void tile::cpu::expandBF16Conversions(Function &function) {
  for (llvm::Instruction &inst : make_early_inc_range(instructions(function))) {
    auto *cast = dyn_cast<CastInst>(&inst);
    if (!cast)
      continue;
    Type *from = cast->getSrcTy(), *to = cast->getDestTy();
    bool narrows = isa<FPTruncInst>(cast) &&
                   to->getScalarType()->isBFloatTy() &&
                   from->getScalarType()->isFloatTy();
    bool widens = isa<FPExtInst>(cast) && from->getScalarType()->isBFloatTy() &&
                  to->getScalarType()->isFloatTy();
    if (!narrows && !widens)
      continue;
    IRBuilder<> builder(cast);
    Type *i32 = from->getWithNewType(builder.getInt32Ty());
    Type *i16 = from->getWithNewType(builder.getInt16Ty());
    auto constant = [&](uint32_t value) {
      return ConstantInt::get(i32, value);
    };
    Value *value;
    if (widens) {
      value = builder.CreateZExt(
          builder.CreateBitCast(cast->getOperand(0), i16), i32);
      value = builder.CreateBitCast(builder.CreateShl(value, constant(16)), to);
    } else {
      Value *bits = builder.CreateBitCast(cast->getOperand(0), i32);
      Value *odd = builder.CreateAnd(builder.CreateLShr(bits, constant(16)),
                                     constant(1));
      Value *rounded =
          builder.CreateAdd(bits, builder.CreateAdd(odd, constant(0x7fff)));
      // Rounding could make an infinity of a NaN.
      Value *quiet = builder.CreateOr(bits, constant(0x00400000));
      Value *nan =
          builder.CreateFCmpUNO(cast->getOperand(0), cast->getOperand(0));
      Value *high = builder.CreateLShr(
          builder.CreateSelect(nan, quiet, rounded), constant(16));
      value = builder.CreateBitCast(builder.CreateTrunc(high, i16), to);
    }
    cast->replaceAllUsesWith(value);
    cast->eraseFromParent();
  }
}

Value *tile::cpu::guardDivision(BinaryOperator &division) {
  Value *divisor = division.getOperand(1);
  Type *type = divisor->getType();
  bool isSigned = division.getOpcode() == llvm::Instruction::SDiv ||
                  division.getOpcode() == llvm::Instruction::SRem;
  const APInt *known;
  if (PatternMatch::match(divisor, PatternMatch::m_APInt(known)) &&
      !known->isZero() && !(isSigned && known->isAllOnes()))
    return nullptr;
  IRBuilder<> builder(&division);
  Value *wrong = builder.CreateICmpEQ(divisor, Constant::getNullValue(type));
  if (isSigned) {
    Value *isLeast = builder.CreateICmpEQ(
        division.getOperand(0),
        ConstantInt::get(
            type, APInt::getSignedMinValue(type->getScalarSizeInBits())));
    Value *isMinusOne =
        builder.CreateICmpEQ(divisor, Constant::getAllOnesValue(type));
    wrong = builder.CreateOr(wrong, builder.CreateAnd(isLeast, isMinusOne));
  }
  division.setOperand(
      1, builder.CreateSelect(wrong, ConstantInt::get(type, 1), divisor));
  return type->isVectorTy() ? builder.CreateOrReduce(wrong) : wrong;
}

const Function *tile::cpu::findRecursion(Module &module) {
  CallGraph graph(module);
  for (auto cycle = scc_begin(&graph); !cycle.isAtEnd(); ++cycle)
    if (cycle.hasCycle())
      for (CallGraphNode *node : *cycle)
        if (const Function *function = node->getFunction();
            function && !function->isDeclaration())
          return function;
  return nullptr;
}
