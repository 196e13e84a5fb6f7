//===- RoundToBF16.cpp - f32 to bf16 on AMD -------------------------------===//
//
// By integer arithmetic, an element takes four instructions, and two if it is
// not NaN. LLVM's own sequence has five, since it keeps the bits of a NaN, and
// never leaves out the check. In front of InstCombine, this would be no
// shorter: the shift would move to each side of the choice.
//
//===----------------------------------------------------------------------===//

#include "RoundToBF16.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

/// Returns true if `instruction` rounds f32 to bf16.
static bool roundsToBF16(const Instruction &instruction) {
  auto *round = dyn_cast<FPTruncInst>(&instruction);
  return round && round->getDestTy()->getScalarType()->isBFloatTy() &&
         round->getSrcTy()->getScalarType()->isFloatTy();
}

/// Returns the operand of a fence with `nnan`; null if `value` is none.
static Value *getNumber(Value *value) {
  auto *fence = dyn_cast<IntrinsicInst>(value);
  if (!fence || fence->getIntrinsicID() != Intrinsic::arithmetic_fence ||
      !fence->hasNoNaNs())
    return nullptr;
  return fence->getArgOperand(0);
}

/// Emits `source` rounded to `type` by integer arithmetic.
static Value *roundByIntegers(IRBuilder<> &builder, Value *source,
                              bool mayBeNaN, Type *type) {
  auto withElement = [&](Type *element) -> Type * {
    auto *vector = dyn_cast<FixedVectorType>(type);
    return vector ? FixedVectorType::get(element, vector->getNumElements())
                  : element;
  };
  Type *words = withElement(builder.getInt32Ty());
  // Half of a unit in the last place carries into the upper half, from a tie
  // only if the last bit is set.
  Value *bits = builder.CreateBitCast(source, words);
  Value *odd = builder.CreateAnd(builder.CreateLShr(bits, 16), 1);
  Value *sum = builder.CreateAdd(builder.CreateAdd(bits, odd),
                                 ConstantInt::get(words, 0x7fff));
  // The sum may carry a NaN to zero. All ones are an operand that takes no
  // register.
  if (mayBeNaN)
    sum = builder.CreateSelect(builder.CreateFCmpUNO(source, source),
                               ConstantInt::getAllOnesValue(words), sum);
  Value *upper = builder.CreateTrunc(builder.CreateLShr(sum, 16),
                                     withElement(builder.getInt16Ty()));
  return builder.CreateBitCast(upper, type);
}

/// LLVM 22 rounds vectors of that many elements in pairs, and the elements of
/// smaller parts one by one (docs/notes/amd-attention.md).
static constexpr unsigned kPairedElements = 8;

/// Returns true if `vector` has few elements, or each user takes few.
static bool isTakenInSmallParts(const Instruction &vector) {
  auto isSmall = [](const Value *value) {
    return cast<FixedVectorType>(value->getType())->getNumElements() <
           kPairedElements;
  };
  return isSmall(&vector) || all_of(vector.users(), [&](const User *user) {
           auto *part = dyn_cast<ShuffleVectorInst>(user);
           int first;
           return part && part->isExtractSubvectorMask(first) && isSmall(part);
         });
}

/// Emits `source` rounded as by `round`, by instructions that LLVM selects.
static Value *roundInPairs(IRBuilder<> &builder, Value *source,
                           const Instruction &round) {
  auto *type = dyn_cast<FixedVectorType>(round.getType());
  if (!type || type->getNumElements() % 2 != 0 || !isTakenInSmallParts(round))
    return builder.CreateFPTrunc(source, round.getType());
  Type *pair = FixedVectorType::get(type->getElementType(), 2);
  SmallVector<Value *> pairs;
  for (int i = 0, e = type->getNumElements(); i < e; i += 2)
    pairs.push_back(builder.CreateFPTrunc(
        builder.CreateShuffleVector(source, {i, i + 1}), pair));
  return concatenateVectors(builder, pairs);
}

void tile::roundToBF16(Module &module, bool byIntegers) {
  SmallVector<Instruction *> found;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (roundsToBF16(instruction))
        found.push_back(&instruction);
  for (Instruction *instruction : found) {
    Value *source = instruction->getOperand(0), *number = getNumber(source);
    if (number)
      source = number;
    IRBuilder<> builder(instruction);
    instruction->replaceAllUsesWith(
        byIntegers ? roundByIntegers(builder, source, /*mayBeNaN=*/!number,
                                     instruction->getType())
                   : roundInPairs(builder, source, *instruction));
    RecursivelyDeleteTriviallyDeadInstructions(instruction);
  }
}
