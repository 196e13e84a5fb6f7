//===- ProductUse.cpp - What becomes of matrix products -------------------===//

#include "tile/Analysis/ProductUse.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

bool tile::isOnlyStored(Value value) {
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i)
    for (OpOperand &use : values[i].getUses()) {
      Operation *user = use.getOwner();
      auto dot = dyn_cast<DotOp>(user);
      auto loop = dyn_cast<scf::ForOp>(user->getParentOp());
      if (user->hasTrait<OpTrait::Elementwise>()) {
        values.insert_range(user->getResults());
      } else if (dot && &use == &dot.getAccMutable()) {
        values.insert(dot.getResult());
      } else if (loop && isa<scf::YieldOp>(user)) {
        values.insert(loop.getResult(use.getOperandNumber()));
        values.insert(loop.getRegionIterArg(use.getOperandNumber()));
      } else if (!isa<StoreOp, AtomicRMWOp>(user) ||
                 user->getNumResults() != 0) {
        return false;
      }
    }
  return true;
}

bool tile::isAlternative(const Mma &mma, const Mma &first) {
  return mma.operation == first.operation && !first.isAsync;
}
