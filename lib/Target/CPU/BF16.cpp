//===- BF16.cpp - Conversions of bf16 on hosts without them ---------------===//

#include "BF16.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

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
