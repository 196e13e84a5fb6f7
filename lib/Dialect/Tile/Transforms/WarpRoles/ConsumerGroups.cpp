//===- ConsumerGroups.cpp - Groups of consumers take works in turn --------===//
//
// One group computes the results of a work and stores them while the other has
// the matrix unit. The producers fill the rings for all works in order. A group
// passes over the tiles of the works between its own, whose number is computed
// from the bounds of their loops.
//
//===----------------------------------------------------------------------===//

#include "ConsumerGroups.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tile/Dialect/Tile/IR/Contains.h"

using namespace mlir;
using namespace tile;

/// The number of groups, which is the most that the schedule allows.
static constexpr int64_t kGroups = 2;

/// Adds the operations of `works` that compute the bounds of the loops around
/// `op` to `slice`. Refuses bounds that differ between the iterations of a loop
/// of a work.
static Refusal findBounds(Operation *op, scf::ForOp works, RunAhead &runAhead,
                          llvm::SetVector<Operation *> &slice) {
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop != works;
       loop = loop->getParentOfType<scf::ForOp>()) {
    if (!loop)
      return "it copies tiles outside of its works";
    for (Value bound :
         {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}) {
      if (Refusal refusal = runAhead.checkValue(bound, works, &slice))
        return refusal;
      Region *region = bound.getParentRegion();
      if (works.getRegion().isProperAncestor(region))
        return "the bounds of a loop change within a work";
    }
  }
  if (llvm::any_of(slice, [&](Operation *op) {
        return op->getBlock() != works.getBody();
      }))
    return "the bounds of a loop change within a work";
  return std::nullopt;
}

Refusal tile::findAlternatingWorks(KernelOp kernel, const WarpPlan &plan,
                                   scf::ForOp &works) {
  works = {};
  for (auto loop : kernel.getBody().front().getOps<scf::ForOp>()) {
    if (works)
      return "it is not persistent";
    works = loop;
  }
  if (!works)
    return "it is not persistent";
  if (works.getNumRegionIterArgs() != 0)
    return "its works depend on each other";
  if (!plan.sums.empty())
    return "storer warps add its tiles";
  RunAhead runAhead(kernel);
  llvm::SetVector<Operation *> slice;
  for (auto &[copy, planned] : plan.copies)
    if (Refusal refusal = findBounds(copy, works, runAhead, slice))
      return refusal;
  return std::nullopt;
}

namespace {
class Alternator {
public:
  explicit Alternator(scf::ForOp works)
      : works(works), b(works.getLoc(), works) {}

  void run();

private:
  Value emitTrips(scf::ForOp loop, IRMapping &mapping);
  void skipWork(Value number, Value times);

  scf::ForOp works;
  ImplicitLocOpBuilder b;
  SmallVector<RingTakeOp> takes;
  /// The operations that compute the bounds of loops of a work.
  llvm::SetVector<Operation *> slice;
};
} // namespace

/// Emits the iterations of `loop`, an index.
Value Alternator::emitTrips(scf::ForOp loop, IRMapping &mapping) {
  auto at = [&](Value value) { return mapping.lookupOrDefault(value); };
  Value step = at(loop.getStep());
  Value zero =
      arith::ConstantOp::create(b, b.getIntegerAttr(step.getType(), 0));
  Value one = arith::ConstantOp::create(b, b.getIntegerAttr(step.getType(), 1));
  Value extent = b.createOrFold<arith::SubIOp>(at(loop.getUpperBound()),
                                               at(loop.getLowerBound()));
  extent = b.createOrFold<arith::MaxSIOp>(extent, zero);
  Value last = b.createOrFold<arith::SubIOp>(step, one);
  Value trips = b.createOrFold<arith::DivUIOp>(
      b.createOrFold<arith::AddIOp>(extent, last), step);
  if (trips.getType().isIndex())
    return trips;
  return arith::IndexCastUIOp::create(b, b.getIndexType(), trips);
}

/// Passes over the tiles of work `number`, `times` times. `times` may be null,
/// which stands for 1.
void Alternator::skipWork(Value number, Value times) {
  IRMapping mapping;
  mapping.map(works.getInductionVar(), number);
  SmallVector<Operation *> bounds;
  for (Operation &op : *works.getBody())
    if (slice.contains(&op))
      bounds.push_back(&op);
  for (Operation *op : bounds)
    b.clone(*op, mapping);
  llvm::MapVector<Value, Value> tiles;
  // How often each block with takes runs, and each loop.
  DenseMap<Block *, Value> runs;
  DenseMap<Operation *, Value> trips;
  for (RingTakeOp take : takes) {
    Value &count = runs[take->getBlock()];
    if (!count) {
      count = times ? times : arith::ConstantIndexOp::create(b, 1);
      for (auto loop = take->getParentOfType<scf::ForOp>(); loop != works;
           loop = loop->getParentOfType<scf::ForOp>()) {
        Value &each = trips[loop];
        if (!each)
          each = emitTrips(loop, mapping);
        count = b.createOrFold<arith::MulIOp>(count, each);
      }
    }
    Value &all = tiles[take.getRing()];
    all = all ? b.createOrFold<arith::AddIOp>(all, count) : count;
  }
  // Rings with as many tiles share one count (tile-lower-rings).
  for (auto [ring, count] : tiles)
    RingSkipOp::create(b, ring, count);
}

void Alternator::run() {
  works.walk([&](RingTakeOp take) { takes.push_back(take); });
  RunAhead runAhead(works->getParentOfType<KernelOp>());
  for (RingTakeOp take : takes) {
    [[maybe_unused]] Refusal refusal = findBounds(take, works, runAhead, slice);
    assert(!refusal && "findAlternatingWorks() has checked the loops");
  }
  Type type = works.getInductionVar().getType();
  Value group = ConsumerGroupOp::create(b);
  Value first = works.getLowerBound(), step = works.getStep();
  skipWork(first, group);
  Value number = group;
  if (!type.isIndex())
    number = arith::IndexCastUIOp::create(b, type, group);
  works.setLowerBound(
      arith::AddIOp::create(b, first, arith::MulIOp::create(b, number, step)));
  works.setStep(arith::MulIOp::create(
      b, step, arith::ConstantOp::create(b, b.getIntegerAttr(type, kGroups))));

  b.setInsertionPointToStart(works.getBody());
  AwaitTurnOp::create(b);
  Operation *last = works.getBody()->findAncestorOpInBlock(*takes.back());
  b.setInsertionPointAfter(last);
  PassTurnOp::create(b);
  b.setInsertionPoint(works.getBody()->getTerminator());
  Value next = arith::AddIOp::create(b, works.getInductionVar(), step);
  // After the last work, this one stands for the next, which does not exist.
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, next,
                                       works.getUpperBound());
  skipWork(arith::SelectOp::create(b, exists, next, works.getInductionVar()),
           Value());
}

void tile::alternateWorks(scf::ForOp works) { Alternator(works).run(); }
