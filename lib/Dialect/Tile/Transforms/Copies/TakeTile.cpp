//===- TakeTile.cpp - Tiles of copies out of rings ------------------------===//

#include "TakeTile.h"

using namespace mlir;
using namespace tile;

/// Moves the views of `buffer` that are defined before `place` there.
static void sinkViews(Value buffer, Operation *place) {
  for (Operation *user : llvm::to_vector(buffer.getUsers())) {
    if (!isa<SliceOp, TransposeOp>(user))
      continue;
    Operation *here = place->getBlock()->findAncestorOpInBlock(*user);
    if (here && !here->isBeforeInBlock(place))
      continue;
    user->moveBefore(place);
    sinkViews(user->getResult(0), place);
  }
}

RingTakeOp tile::takeTile(RewriterBase &rewriter, const BufferCopy &copy,
                          Value ring, Operation *place) {
  CopyOp filling = copy.copy;
  AllocOp buffer = copy.buffer;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(place);
  auto slot = RingTakeOp::create(rewriter, filling.getLoc(), ring);
  rewriter.eraseOp(filling);
  sinkViews(buffer, place);
  rewriter.replaceAllUsesExcept(buffer, slot.getBuffer(), ring.getDefiningOp());
  if (buffer.use_empty())
    rewriter.eraseOp(buffer);
  return slot;
}
