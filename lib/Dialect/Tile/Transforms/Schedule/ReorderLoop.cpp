//===- ReorderLoop.cpp - The order of a loop's operations -----------------===//

#include "ReorderLoop.h"

using namespace mlir;
using namespace tile;

void tile::reorderLoop(const LoopBody &body, ArrayRef<unsigned> order) {
  scf::ForOp loop = body.loop;
  Operation *yield = loop.getBody()->getTerminator();
  SmallVector<Operation *> onDemand;
  llvm::DenseMap<Operation *, size_t> written;
  for (Operation &op : loop.getBody()->without_terminator())
    if (body.isOnDemand(&op)) {
      written[&op] = onDemand.size();
      onDemand.push_back(&op);
    }
  llvm::DenseSet<Operation *> isPlaced;
  auto place = [&](auto &self, Operation *op) -> void {
    if (!isPlaced.insert(op).second)
      return;
    // Loads keep their order: that in which copies start.
    if (isa<LoadOp>(op))
      for (Operation *other : onDemand)
        if (isa<LoadOp>(other) && written.at(other) < written.at(op))
          self(self, other);
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp(); body.isOnDemand(source))
        self(self, source);
    op->moveBefore(yield);
  };
  for (unsigned node : order)
    for (Operation *op : body.nodes[node])
      place(place, op);
  // Nobody uses the others, or the terminator does.
  for (Operation *op : onDemand)
    place(place, op);
}
