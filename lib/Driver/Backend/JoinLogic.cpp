//===- JoinLogic.cpp - Two logical operations in one ----------------------===//
//
// Source: PTX ISA, "Logic and Shift Instructions: lop3". The immediate of lop3
// is the table of the function: the function of three bytes that stand for its
// operands.
//
//===----------------------------------------------------------------------===//

#include "JoinLogic.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

/// The bytes that stand for the operands of lop3.
static constexpr uint8_t kX = 0xF0, kC1 = 0xCC, kC2 = 0xAA;

/// Returns the constant operand of a logical operation on words, or null.
static ConstantInt *getConstant(const BinaryOperator *op) {
  if (!op || !op->isBitwiseLogicOp() || !op->getType()->isIntegerTy(32))
    return nullptr;
  return dyn_cast<ConstantInt>(op->getOperand(1));
}

static BinaryOperator *getInner(const BinaryOperator &outer) {
  return dyn_cast<BinaryOperator>(outer.getOperand(0));
}

/// Returns true if `user` takes the bits of a word as data, and makes no
/// address, descriptor or number of a barrier of them.
static bool takesBits(const User *user) {
  auto *shift = dyn_cast<BinaryOperator>(user);
  return isa<BitCastInst, TruncInst, InsertElementInst, StoreInst>(user) ||
         (shift && shift->getOpcode() == Instruction::LShr);
}

static bool isJoined(const BinaryOperator &outer) {
  const BinaryOperator *inner = getInner(outer);
  return getConstant(&outer) && getConstant(inner) && inner->hasOneUse() &&
         all_of(outer.users(), takesBits);
}

static uint8_t apply(const BinaryOperator &op, uint8_t x, uint8_t y) {
  if (op.getOpcode() == Instruction::And)
    return x & y;
  return op.getOpcode() == Instruction::Or ? x | y : x ^ y;
}

static void joinLogicOf(Function &function) {
  MapVector<ConstantInt *, SmallVector<BinaryOperator *>> found;
  for (Instruction &instruction : instructions(function))
    if (auto *outer = dyn_cast<BinaryOperator>(&instruction);
        outer && isJoined(*outer))
      found[getConstant(outer)].push_back(outer);
  IRBuilder<> builder(function.getContext());
  Type *word = builder.getInt32Ty();
  InlineAsm *lop3 = InlineAsm::get(
      FunctionType::get(word, {word, word, word, word}, /*isVarArg=*/false),
      "lop3.b32 $0, $1, $2, $3, $4;", "=r,r,n,n,n", /*hasSideEffects=*/false);
  for (auto &[constant, outers] : found) {
    if (outers.size() == 1)
      continue;
    for (BinaryOperator *outer : outers) {
      BinaryOperator *inner = getInner(*outer);
      builder.SetInsertPoint(outer);
      uint8_t table = apply(*outer, apply(*inner, kX, kC1), kC2);
      outer->replaceAllUsesWith(
          builder.CreateCall(lop3, {inner->getOperand(0), getConstant(inner),
                                    constant, builder.getInt32(table)}));
      outer->eraseFromParent();
      inner->eraseFromParent();
    }
  }
}

void tile::joinLogic(Module &module) {
  for (Function &function : module)
    if (!function.isDeclaration())
      joinLogicOf(function);
}
