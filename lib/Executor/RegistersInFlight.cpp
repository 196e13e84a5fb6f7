//===- RegistersInFlight.cpp - Uses of registers in flight ----------------===//

#include "RegistersInFlight.h"
#include "Redirect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace tile::cpu;
using namespace llvm;
namespace cpu = tile::cpu;

/// Returns whether this instruction may take registers in flight, and return
/// them.
static bool handsOn(const llvm::Instruction &inst) {
  const auto *call = dyn_cast<CallBase>(&inst);
  const cpu::Instruction *row = call ? findInstruction(nameOf(*call)) : nullptr;
  return row && row->handsOn;
}

/// Returns whether the instruction only passes on its operands.
static bool moves(const llvm::Instruction &inst) {
  return isa<PHINode, SelectInst, FreezeInst, ExtractValueInst, InsertValueInst,
             ExtractElementInst, InsertElementInst, ShuffleVectorInst>(inst);
}

std::vector<RegisterUse> tile::cpu::findRegisterUses(Function &function) {
  SetVector<llvm::Instruction *> inFlight;
  for (llvm::Instruction &inst : instructions(function))
    if (handsOn(inst))
      inFlight.insert(&inst);
  for (size_t i = 0; i < inFlight.size(); ++i)
    for (User *user : inFlight[i]->users())
      if (auto *inst = cast<llvm::Instruction>(user); moves(*inst))
        inFlight.insert(inst);

  MapVector<std::pair<Value *, BasicBlock *>, llvm::Instruction *> first;
  for (llvm::Instruction *value : inFlight) {
    if (!value->getType()->getScalarType()->isFloatTy())
      continue;
    for (User *user : value->users()) {
      auto *inst = cast<llvm::Instruction>(user);
      if (inFlight.contains(inst))
        continue;
      auto &known = first[{value, inst->getParent()}];
      if (!known || inst->comesBefore(known))
        known = inst;
    }
  }
  std::vector<RegisterUse> uses;
  for (auto &[place, user] : first)
    uses.push_back({user, place.first});
  return uses;
}
