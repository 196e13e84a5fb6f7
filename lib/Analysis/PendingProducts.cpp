//===- PendingProducts.cpp - Matrix products in flight --------------------===//

#include "tile/Analysis/PendingProducts.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <limits>

using namespace mlir;
using namespace tile;

/// Returns the number of products that the block of `to` itself starts before
/// `to`, after `from` unless that is null. Products in regions may not be
/// started at all.
static int64_t countStarted(Operation *from, Operation *to) {
  int64_t count = 0;
  for (Operation *op = to->getPrevNode(); op != from; op = op->getPrevNode())
    if (auto dot = dyn_cast<DotOp>(op); dot && dot.getAsync())
      ++count;
  return count;
}

/// Counts for countYoungerProducts. `visited` has the terminators of loops
/// whose yielded value is being counted: a further iteration only adds
/// products.
static int64_t count(Value product, Operation *op,
                     llvm::SmallPtrSetImpl<Operation *> &visited) {
  int64_t inner = 0;
  for (; op->getBlock() != product.getParentBlock(); op = op->getParentOp())
    inner += countStarted(nullptr, op);
  if (auto dot = product.getDefiningOp<DotOp>())
    return inner + countStarted(dot, op);
  // A loop carries it: it starts with one value, and iterations yield others.
  auto argument = dyn_cast<BlockArgument>(product);
  auto loop = dyn_cast_or_null<scf::ForOp>(
      argument ? argument.getOwner()->getParentOp() : product.getDefiningOp());
  if (!loop)
    return 0;
  unsigned number = argument ? argument.getArgNumber() - 1
                             : cast<OpResult>(product).getResultNumber();
  Operation *yield = loop.getBody()->getTerminator();
  int64_t before = count(loop.getInitArgs()[number], loop, visited);
  if (visited.insert(yield).second) {
    before = std::min(before, count(yield->getOperand(number), yield, visited));
    visited.erase(yield);
  }
  return before + inner +
         countStarted(argument ? nullptr : loop.getOperation(), op);
}

int64_t tile::countYoungerProducts(Value product, Operation *op) {
  llvm::SmallPtrSet<Operation *, 4> visited;
  return count(product, op, visited);
}

PendingProducts::PendingProducts(Operation *root) {
  root->walk([&](AwaitOp await) {
    Wait wait{std::numeric_limits<int64_t>::max(),
              llvm::BitVector(await.getProducts().size())};
    for (auto [i, product] : llvm::enumerate(await.getProducts())) {
      wait.younger =
          std::min(wait.younger, countYoungerProducts(product, await));
      if (!llvm::all_of(product.getUsers(), llvm::IsaPred<AwaitOp>))
        wait.continued.set(i);
    }
    waits.insert({await, std::move(wait)});
  });
}
