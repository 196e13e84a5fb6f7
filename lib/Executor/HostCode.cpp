//===- HostCode.cpp - LLVM IR that the host supports ----------------------===//

#include "HostCode.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

/// Rounds a float, or a vector of floats, to the nearest bf16, ties to even.
static Value *narrowToBF16(IRBuilder<> &builder, Value *value) {
  Type *type = value->getType();
  Type *i32 = type->getWithNewType(builder.getInt32Ty());
  Type *i16 = type->getWithNewType(builder.getInt16Ty());
  auto constant = [&](uint32_t value) { return ConstantInt::get(i32, value); };
  Value *bits = builder.CreateBitCast(value, i32);
  Value *odd =
      builder.CreateAnd(builder.CreateLShr(bits, constant(16)), constant(1));
  Value *rounded =
      builder.CreateAdd(bits, builder.CreateAdd(odd, constant(0x7fff)));
  // Rounding could turn a NaN into an infinity.
  Value *quiet = builder.CreateOr(bits, constant(0x00400000));
  Value *nan = builder.CreateFCmpUNO(value, value);
  Value *high = builder.CreateLShr(builder.CreateSelect(nan, quiet, rounded),
                                   constant(16));
  return builder.CreateBitCast(builder.CreateTrunc(high, i16),
                               type->getWithNewType(builder.getBFloatTy()));
}

/// Rounds a double to a float such that rounding the float gives the same as
/// rounding the double: an inexact result becomes the neighbour with an odd
/// significand ("round to odd").
static Value *narrowToOddFloat(IRBuilder<> &builder, Value *value) {
  Value *nearest = builder.CreateFPTrunc(value, builder.getFloatTy());
  Value *back = builder.CreateFPExt(nearest, builder.getDoubleTy());
  Value *bits = builder.CreateBitCast(nearest, builder.getInt32Ty());
  auto magnitude = [&](Value *number) {
    return builder.CreateUnaryIntrinsic(Intrinsic::fabs, number);
  };
  Value *isBelow = builder.CreateFCmpOLT(magnitude(back), magnitude(value));
  Value *neighbour = builder.CreateSelect(
      isBelow, builder.CreateAdd(bits, builder.getInt32(1)),
      builder.CreateSub(bits, builder.getInt32(1)));
  Value *isOdd = builder.CreateTrunc(bits, builder.getInt1Ty());
  Value *stays = builder.CreateOr(isOdd, builder.CreateFCmpUEQ(back, value));
  return builder.CreateBitCast(builder.CreateSelect(stays, bits, neighbour),
                               builder.getFloatTy());
}

void tile::cpu::defineNarrowingFunctions(Module &module) {
  LLVMContext &context = module.getContext();
  Type *f64 = Type::getDoubleTy(context), *f32 = Type::getFloatTy(context);
  Type *bf16 = Type::getBFloatTy(context), *f16 = Type::getHalfTy(context);
  struct Narrowing {
    StringRef name;
    Type *from, *to;
  };
  for (Narrowing row : {Narrowing{"__truncsfbf2", f32, bf16},
                        {"__truncdfbf2", f64, bf16},
                        {"__truncdfhf2", f64, f16}}) {
    auto *function =
        Function::Create(FunctionType::get(row.to, {row.from}, false),
                         GlobalValue::ExternalLinkage, row.name, module);
    IRBuilder<> builder(BasicBlock::Create(context, "", function));
    Value *value = function->getArg(0);
    if (row.from == f64)
      value = narrowToOddFloat(builder, value);
    builder.CreateRet(row.to == bf16 ? narrowToBF16(builder, value)
                                     : builder.CreateFPTrunc(value, f16));
  }
}

void tile::cpu::expandPairConversions(Function &function) {
  for (llvm::Instruction &inst : make_early_inc_range(instructions(function))) {
    auto *call = dyn_cast<IntrinsicInst>(&inst);
    if (!call || call->getIntrinsicID() != Intrinsic::nvvm_ff2bf16x2_rn)
      continue;
    IRBuilder<> builder(call);
    Value *pair = PoisonValue::get(call->getType());
    // The first operand is the upper element.
    for (unsigned i : {0, 1})
      pair = builder.CreateInsertElement(
          pair,
          builder.CreateFPTrunc(call->getArgOperand(1 - i),
                                builder.getBFloatTy()),
          i);
    call->replaceAllUsesWith(pair);
    call->eraseFromParent();
  }
}

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
    Value *value;
    if (widens) {
      Type *i32 = from->getWithNewType(builder.getInt32Ty());
      Type *i16 = from->getWithNewType(builder.getInt16Ty());
      value = builder.CreateZExt(
          builder.CreateBitCast(cast->getOperand(0), i16), i32);
      value = builder.CreateBitCast(
          builder.CreateShl(value, ConstantInt::get(i32, 16)), to);
    } else {
      value = narrowToBF16(builder, cast->getOperand(0));
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
