//===- RepeatReads.cpp - Reads of one fragment for several products -------===//

#include "tile/Dialect/Tile/Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILEREPEATREADS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Returns true if `op` or an operation inside of it writes a tile to shared
/// memory.
static bool writesSharedMemory(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return llvm::any_of(inner->getResultTypes(),
                            [](Type type) {
                              auto tile = dyn_cast<RankedTensorType>(type);
                              return tile && isSharedTile(tile);
                            })
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns true if a tile is written to shared memory between `first` and
/// `second`, which are in one block.
static bool writesBetween(Operation *first, Operation *second) {
  for (Operation *op = first->getNextNode(); op != second;
       op = op->getNextNode())
    if (writesSharedMemory(op))
      return true;
  return false;
}

/// Gives products that read `fragments` behind a write to shared memory a read
/// of their own.
static void repeatReads(ConvertLayoutOp fragments) {
  if (!isSharedTile(fragments.getSource().getType()) ||
      !isa_and_nonnull<DotOperandAttr>(getLayoutAttr(fragments.getType())))
    return;
  SmallVector<Operation *> products(fragments->getUsers());
  if (llvm::any_of(products, [&](Operation *user) {
        return !isa<DotOp>(user) || user->getBlock() != fragments->getBlock();
      }))
    return;
  llvm::sort(products, [](Operation *left, Operation *right) {
    return left->isBeforeInBlock(right);
  });
  Value read = fragments.getResult();
  for (size_t i = 1; i < products.size(); ++i) {
    Operation *product = products[i];
    if (product != products[i - 1] && writesBetween(products[i - 1], product))
      read = OpBuilder(product).clone(*fragments)->getResult(0);
    product->replaceUsesOfWith(fragments.getResult(), read);
  }
}

namespace {
struct RepeatReads : tile::impl::TileRepeatReadsBase<RepeatReads> {
  void runOnOperation() override { getOperation().walk(repeatReads); }
};
} // namespace
