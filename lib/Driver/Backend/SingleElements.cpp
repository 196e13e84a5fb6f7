//===- SingleElements.cpp - i64 in place of <1 x i64> ---------------------===//

#include "SingleElements.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

static bool isSingle(const Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  return vector && vector->getNumElements() == 1;
}

static bool isSingleI64(const Type *type) {
  return isSingle(type) && type->getScalarType()->isIntegerTy(64);
}

/// Replaces `inst`, whose operands or result have one element, by the operation
/// on scalars.
static void scalarize(Instruction &inst) {
  IRBuilder<> builder(&inst);
  Instruction *scalar = inst.clone();
  for (Use &operand : scalar->operands())
    if (isSingle(operand->getType()))
      operand = builder.CreateExtractElement(operand, uint64_t(0));
  bool isResultSingle = isSingle(inst.getType());
  scalar->mutateType(isResultSingle ? inst.getType()->getScalarType()
                                    : inst.getType());
  builder.Insert(scalar);
  Value *result = scalar;
  if (isResultSingle)
    result = builder.CreateInsertElement(inst.getType(), scalar, uint64_t(0));
  inst.replaceAllUsesWith(result);
  inst.eraseFromParent();
}

void tile::scalarizeSingleElements(Module &module) {
  for (Function &function : module)
    for (Instruction &inst : make_early_inc_range(instructions(function))) {
      bool isElementwise =
          isa<UnaryOperator, BinaryOperator, SelectInst, FreezeInst, CastInst>(
              inst) &&
          isSingleI64(inst.getType());
      bool isBitCast =
          isa<BitCastInst>(inst) && isSingleI64(inst.getOperand(0)->getType());
      if (isElementwise || isBitCast)
        scalarize(inst);
    }
}
