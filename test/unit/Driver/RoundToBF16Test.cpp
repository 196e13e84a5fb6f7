//===- RoundToBF16Test.cpp - f32 to bf16 by integer arithmetic ------------===//

#include "Driver/Backend/RoundToBF16.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "gtest/gtest.h"

using namespace llvm;

namespace {

/// Returns the bits of the bf16 numbers to which roundToBF16 rounds f32 numbers
/// with these bits. The operations are folded, since they are on constants.
std::vector<uint16_t> round(ArrayRef<uint32_t> bits, bool isNumber) {
  LLVMContext context;
  Module module("test", context);
  auto *type = FixedVectorType::get(Type::getBFloatTy(context), bits.size());
  auto *function = Function::Create(FunctionType::get(type, /*isVarArg=*/false),
                                    Function::ExternalLinkage, "f", module);
  IRBuilder<> builder(BasicBlock::Create(context, "", function));
  Value *source = ConstantDataVector::getFP(builder.getFloatTy(), bits);
  if (isNumber) {
    auto *fence = builder.CreateIntrinsic(Intrinsic::arithmetic_fence,
                                          {source->getType()}, {source});
    fence->setHasNoNaNs(true);
    source = fence;
  }
  auto *result = builder.Insert(new FPTruncInst(source, type));
  auto *end = builder.CreateRet(result);
  tile::roundToBF16(module, /*byIntegers=*/true);
  auto *numbers = dyn_cast<Constant>(end->getReturnValue());
  std::vector<uint16_t> rounded;
  for (unsigned i = 0; numbers && i < bits.size(); ++i)
    rounded.push_back(cast<ConstantFP>(numbers->getAggregateElement(i))
                          ->getValueAPF()
                          .bitcastToAPInt()
                          .getZExtValue());
  return rounded;
}

/// Every seventh upper half of f32 numbers, with the lower halves around a tie.
std::vector<uint32_t> getNumbers() {
  std::vector<uint32_t> bits;
  for (uint32_t upper = 0; upper < 0x10000; upper += 7)
    for (uint32_t lower : {0x0000, 0x0001, 0x7fff, 0x8000, 0x8001, 0xffff})
      bits.push_back(upper << 16 | lower);
  return bits;
}

APFloat getExact(uint32_t bits) {
  APFloat number(APFloat::IEEEsingle(), APInt(32, bits));
  bool isInexact;
  number.convert(APFloat::BFloat(), APFloat::rmNearestTiesToEven, &isInexact);
  return number;
}

TEST(RoundToBF16Test, RoundsToNearestEven) {
  std::vector<uint32_t> bits = getNumbers();
  for (bool isNumber : {false, true}) {
    std::vector<uint16_t> rounded = round(bits, isNumber);
    ASSERT_EQ(rounded.size(), bits.size());
    for (size_t i = 0; i < bits.size(); ++i) {
      APFloat exact = getExact(bits[i]);
      if (!exact.isNaN())
        ASSERT_EQ(rounded[i], exact.bitcastToAPInt().getZExtValue()) << bits[i];
      else if (!isNumber)
        ASSERT_TRUE(APFloat(APFloat::BFloat(), APInt(16, rounded[i])).isNaN())
            << bits[i];
    }
  }
}

/// Returns the numbers of elements of the conversions that roundToBF16 leaves
/// of one of 16 elements, of which users take parts of `size`.
std::vector<unsigned> getSizes(unsigned size) {
  LLVMContext context;
  Module module("test", context);
  auto *wide = FixedVectorType::get(Type::getFloatTy(context), 16);
  auto *function = Function::Create(
      FunctionType::get(Type::getVoidTy(context),
                        {wide, PointerType::getUnqual(context)},
                        /*isVarArg=*/false),
      Function::ExternalLinkage, "f", module);
  IRBuilder<> builder(BasicBlock::Create(context, "", function));
  Value *rounded = builder.CreateFPTrunc(
      function->getArg(0), FixedVectorType::get(builder.getBFloatTy(), 16));
  for (unsigned i = 0; i < 16; i += size)
    builder.CreateStore(
        builder.CreateShuffleVector(rounded, createSequentialMask(i, size, 0)),
        function->getArg(1));
  builder.CreateRetVoid();
  tile::roundToBF16(module, /*byIntegers=*/false);
  std::vector<unsigned> sizes;
  for (Instruction &instruction : instructions(*function))
    if (isa<FPTruncInst>(instruction))
      sizes.push_back(
          cast<FixedVectorType>(instruction.getType())->getNumElements());
  return sizes;
}

TEST(RoundToBF16Test, RoundsSmallPartsInPairs) {
  EXPECT_EQ(getSizes(4), std::vector<unsigned>(8, 2));
  EXPECT_EQ(getSizes(8), std::vector<unsigned>{16});
}

} // namespace
