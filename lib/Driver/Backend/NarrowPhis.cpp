//===- NarrowPhis.cpp - Phis of the elements that are read ----------------===//
//
// A guarded load of a few elements of a tile arrives as a phi of these
// elements, with zeros as the other value. A shuffle behind it widens them to
// the whole tile. InstCombine moves this shuffle in front of the phi, since it
// folds the zeros. LLVM's back end makes a phi of each element of a wide
// vector: 959 checks of a tile of 961 elements would give 921,599 of them. This
// pass moves the shuffles back.
//
//===----------------------------------------------------------------------===//

#include "NarrowPhis.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

/// Returns the number of the leading elements of `phi` that are read, or 0 if a
/// use reads it as a whole.
static unsigned countReadElements(PHINode &phi, unsigned size) {
  int count = 0;
  for (User *user : phi.users()) {
    auto *shuffle = dyn_cast<ShuffleVectorInst>(user);
    if (!shuffle)
      return 0;
    for (int element : shuffle->getShuffleMask()) {
      bool isSecond = element >= int(size);
      if (element >= 0 && shuffle->getOperand(isSecond) == &phi)
        count = std::max(count, element - (isSecond ? int(size) : 0) + 1);
    }
  }
  return count;
}

/// Returns the vector whose elements are the first ones of `value`: of a
/// shuffle that widens it, or of a constant. Returns null for other values.
static Value *getNarrow(Value *value, FixedVectorType *type) {
  unsigned size = type->getNumElements();
  if (auto *constant = dyn_cast<Constant>(value)) {
    SmallVector<Constant *> elements;
    for (unsigned i = 0; i < size; ++i)
      elements.push_back(constant->getAggregateElement(i));
    return is_contained(elements, nullptr) ? nullptr
                                           : ConstantVector::get(elements);
  }
  auto *shuffle = dyn_cast<ShuffleVectorInst>(value);
  if (!shuffle || shuffle->getOperand(0)->getType() != type)
    return nullptr;
  ArrayRef<int> mask = shuffle->getShuffleMask().take_front(size);
  for (unsigned i = 0; i < size; ++i)
    if (mask[i] != int(i))
      return nullptr;
  return shuffle->getOperand(0);
}

/// Returns the incoming values of `phi` with the elements that are read only.
/// Returns none if one of them would have to be computed.
static SmallVector<Value *> getNarrowValues(PHINode &phi,
                                            FixedVectorType *type) {
  SmallVector<Value *> values;
  for (Value *value : phi.incoming_values()) {
    values.push_back(getNarrow(value, type));
    if (!values.back())
      return {};
  }
  return values;
}

/// Replaces `phi` by a phi of the elements that are read, if its values are
/// widened from that many.
static void narrow(PHINode &phi) {
  auto *wide = dyn_cast<FixedVectorType>(phi.getType());
  if (!wide)
    return;
  unsigned size = wide->getNumElements();
  unsigned count = countReadElements(phi, size);
  if (count == 0 || count == size)
    return;
  auto *type = FixedVectorType::get(wide->getElementType(), count);
  SmallVector<Value *> values = getNarrowValues(phi, type);
  if (values.empty())
    return;
  PHINode *narrowed =
      PHINode::Create(type, values.size(), "", phi.getIterator());
  for (const auto &[value, block] : zip_equal(values, phi.blocks()))
    narrowed->addIncoming(value, block);
  SmallVector<int> mask(size, PoisonMaskElem);
  for (unsigned i = 0; i < count; ++i)
    mask[i] = i;
  IRBuilder<> builder(phi.getParent(), phi.getParent()->getFirstInsertionPt());
  phi.replaceAllUsesWith(builder.CreateShuffleVector(narrowed, mask));
  SmallSetVector<Value *, 4> old(phi.incoming_values().begin(),
                                 phi.incoming_values().end());
  phi.eraseFromParent();
  for (Value *value : old)
    if (auto *inst = dyn_cast<Instruction>(value); inst && inst->use_empty())
      inst->eraseFromParent();
}

void tile::narrowPhis(Module &module) {
  for (Function &function : module)
    for (BasicBlock &block : function)
      for (PHINode &phi : make_early_inc_range(block.phis()))
        narrow(phi);
}
