//===- OverlapWorks.cpp - Works of a persistent kernel overlap ------------===//
//
// A work has a head, loops with products, and an end. The rotated loop executes
// the end of a work in the next iteration:
//
//   for each work
//     head, to its first product
//     end of the work before, to its last product
//     rest of the head
//     if this is not the first work
//       rest of the end of the work before
//     loops
//   end of the last work
//
// In the first iteration the products of the end work on zeros.
//
//===----------------------------------------------------------------------===//

#include "OverlapWorks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "tile/Analysis/RunAhead.h"
#include "tile/Dialect/Tile/IR/Contains.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

namespace {
class WorkOverlapper {
public:
  WorkOverlapper(KernelOp kernel, scf::ForOp loop, ValueRange coordinates)
      : kernel(kernel), loop(loop), coordinates(coordinates),
        b(loop.getLoc(), loop) {}

  Refusal run();

private:
  Refusal findParts();
  Refusal checkEnd();
  Refusal findCarried();
  void makeLoop();
  void map(IRMapping &mapping, ValueRange values);
  Value materialize(Value value, IRMapping &mapping);
  void clone(Operation &op, IRMapping &mapping);
  void writeInLoop();
  void writeAfterLoop();

  KernelOp kernel;
  scf::ForOp loop;
  SmallVector<Value> coordinates;
  ImplicitLocOpBuilder b;

  /// The first product of the head, and the first loop with products.
  Operation *headProduct = nullptr, *firstLoop = nullptr;
  /// The operations of the end, and the number of those up to its last product.
  SmallVector<Operation *> end;
  size_t numToProduct = 0;
  /// The tiles and scalars that the end reads and cannot compute again. The
  /// loop carries them, followed by the coordinates.
  llvm::SetVector<Value> carried;
};
} // namespace

Refusal WorkOverlapper::findParts() {
  Operation *lastLoop = nullptr;
  auto isProduct = llvm::IsaPred<DotOp>;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (op.getNumRegions() != 0 && containsOp(&op, isProduct)) {
      firstLoop = firstLoop ? firstLoop : &op;
      lastLoop = &op;
    } else if (!firstLoop && !headProduct && isa<DotOp>(op)) {
      headProduct = &op;
    }
  }
  if (!headProduct || !lastLoop)
    return "no product comes before the loop of a work";
  for (Operation *op = lastLoop->getNextNode();
       op != loop.getBody()->getTerminator(); op = op->getNextNode()) {
    end.push_back(op);
    if (isa<DotOp>(op))
      numToProduct = end.size();
  }
  if (numToProduct == 0)
    return "no product comes after the loop of a work";
  return std::nullopt;
}

/// Returns true if `op` can move into the head of the next work: it writes to
/// buffers of its own work only.
static bool canMove(Operation *op) {
  if (auto store = dyn_cast<StoreOp>(op))
    return store.getBuffer().getType().isShared();
  return op->getNumRegions() == 0 &&
         (isMemoryEffectFree(op) || isa<DotOp, LoadOp, AllocOp>(op));
}

/// Refuses an end with operations that cannot move to where they are written.
Refusal WorkOverlapper::checkEnd() {
  RunAhead runAhead(kernel);
  for (auto [number, op] : llvm::enumerate(end)) {
    bool isBeforeProduct = number < numToProduct;
    if (auto copy = dyn_cast<CopyOp>(op); copy && isBeforeProduct) {
      BufferCopy result;
      if (Refusal refusal = runAhead.checkCopy(copy, loop, result))
        return "a copy at the end of a work cannot move: " + *refusal;
    } else if (containsOp(op, llvm::IsaPred<CopyOp, BarrierOp, CommitGroupOp,
                                            WaitGroupOp>)) {
      return "a copy or a barrier at the end of a work cannot move";
    } else if (isBeforeProduct && !canMove(op)) {
      return "'" + op->getName().getStringRef().str() +
             "' before the last product of a work cannot move";
    }
  }
  return std::nullopt;
}

Refusal WorkOverlapper::findCarried() {
  RunAhead runAhead(kernel);
  llvm::SetVector<Value> values;
  for (Operation *op : end)
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand.getParentBlock() == loop.getBody() &&
            !llvm::is_contained(end, operand.getDefiningOp()))
          values.insert(operand);
    });
  for (Value value : values) {
    Refusal refusal = runAhead.checkValue(value, loop);
    if (!refusal)
      continue;
    Type type = value.getType();
    if (!isa<RankedTensorType>(type) && !type.isIntOrIndexOrFloat())
      return "the end of a work reads what its beginning computed: " + *refusal;
    carried.insert(value);
  }
  return std::nullopt;
}

/// Adds the arguments of the loop for `carried` and `coordinates`.
void WorkOverlapper::makeLoop() {
  SmallVector<Value> inits;
  for (Value value :
       llvm::concat<const Value>(carried.getArrayRef(), coordinates))
    inits.push_back(
        arith::ConstantOp::create(b, b.getZeroAttr(value.getType())));
  Value number = loop.getInductionVar();
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  FailureOr<LoopLikeOpInterface> carrying = loop.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
        SmallVector<Value> yielded(carried.getArrayRef());
        llvm::append_range(yielded, coordinates);
        return yielded;
      });
  // A coordinate may be the number of the work itself.
  auto next = cast<scf::ForOp>(carrying->getOperation());
  llvm::replace(coordinates, number, next.getInductionVar());
  loop = next;
}

/// Maps what the loop carries to `values`.
void WorkOverlapper::map(IRMapping &mapping, ValueRange values) {
  mapping.map(ValueRange(carried.getArrayRef()),
              values.take_front(carried.size()));
  mapping.map(coordinates, values.drop_front(carried.size()));
}

/// Returns `value` of the work of `mapping`. Writes the operations that compute
/// it again.
Value WorkOverlapper::materialize(Value value, IRMapping &mapping) {
  if (Value mapped = mapping.lookupOrNull(value))
    return mapped;
  if (value.getParentBlock() != loop.getBody())
    return value;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    mapping.map(operand, materialize(operand, mapping));
  b.clone(*op, mapping);
  return mapping.lookup(value);
}

/// Writes `op`, of the end, for the work of `mapping`.
void WorkOverlapper::clone(Operation &op, IRMapping &mapping) {
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (operand.getParentBlock() == loop.getBody())
        mapping.map(operand, materialize(operand, mapping));
  });
  b.clone(op, mapping);
}

/// Writes the end of the work before beside the head.
void WorkOverlapper::writeInLoop() {
  IRMapping before;
  map(before, loop.getRegionIterArgs());
  b.setInsertionPointAfter(headProduct);
  for (Operation *op : ArrayRef(end).take_front(numToProduct))
    clone(*op, before);
  b.setInsertionPoint(firstLoop);
  Value isNext =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, loop.getInductionVar(),
                            loop.getLowerBound());
  auto branch = scf::IfOp::create(b, isNext, /*withElseRegion=*/false);
  b.setInsertionPoint(branch.thenYield());
  for (Operation *op : ArrayRef(end).drop_front(numToProduct))
    clone(*op, before);
}

/// Writes the end of the last work.
void WorkOverlapper::writeAfterLoop() {
  IRMapping last;
  map(last, loop.getResults());
  b.setInsertionPointAfter(loop);
  for (Operation *op : end)
    clone(*op, last);
}

Refusal WorkOverlapper::run() {
  if (Refusal refusal = findParts())
    return refusal;
  if (Refusal refusal = checkEnd())
    return refusal;
  if (Refusal refusal = findCarried())
    return refusal;
  makeLoop();
  writeAfterLoop();
  writeInLoop();
  for (Operation *op : llvm::reverse(end))
    op->erase();
  return std::nullopt;
}

Refusal tile::overlapWorks(KernelOp kernel, scf::ForOp loop,
                           ValueRange coordinates) {
  return WorkOverlapper(kernel, loop, coordinates).run();
}
