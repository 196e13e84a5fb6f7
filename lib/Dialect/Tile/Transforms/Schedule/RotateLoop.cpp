//===- RotateLoop.cpp - Loops whose iterations overlap --------------------===//

#include "RotateLoop.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace tile;

namespace {
/// One iteration of the loop as written, whose operations are written anew.
struct Frame {
  IRMapping values;
  /// The frame of the iteration before, if that one is executed beside it.
  Frame *before = nullptr;
};

class Rotator {
public:
  Rotator(const LoopBody &body, const LoopSchedule &schedule)
      : body(body), schedule(schedule), loop(body.loop),
        b(loop.getLoc(), loop) {}

  void run();

private:
  unsigned stageOf(Value value);
  void findCarried();
  Value find(Frame &frame, Value value);
  void write(Frame &frame, unsigned node);
  void enter(Frame &early, Frame &late, ValueRange carried);
  Value getLast(Value isEmpty);

  const LoopBody &body;
  const LoopSchedule &schedule;
  scf::ForOp loop;
  ImplicitLocOpBuilder b;
  /// The values that the rotated loop carries: those of stage 0 after it, and
  /// arguments of stage 1 before it.
  llvm::SetVector<Value> early, late;
};
} // namespace

/// Returns the stage that computes `value`; for a value that the loop carries,
/// the stage that computes the next one.
unsigned Rotator::stageOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == loop.getBody() &&
      argument != loop.getInductionVar())
    value = loop.getTiedLoopYieldedValue(argument)->get();
  auto it = body.nodeOf.find(value.getDefiningOp());
  return it == body.nodeOf.end() ? 0 : schedule.stages[it->second];
}

void Rotator::findCarried() {
  // The values that stage 1 reads.
  for (auto [node, operations] : llvm::enumerate(body.nodes)) {
    if (schedule.stages[node] == 0)
      continue;
    for (Operation *op : operations)
      for (Value source : body.findSources(op)) {
        if (stageOf(source) == 0)
          early.insert(source);
        else if (isa<BlockArgument>(source))
          late.insert(source);
      }
  }
  // The values that stage 0 reads from the iteration before, and results.
  for (Value yielded : loop.getYieldedValues())
    if (body.nodeOf.contains(yielded.getDefiningOp()) && stageOf(yielded) == 0)
      early.insert(yielded);
}

/// Returns `value` of the iteration. Writes the operations on demand that
/// compute it.
Value Rotator::find(Frame &frame, Value value) {
  if (value.getParentBlock() != loop.getBody())
    return value;
  if (Value found = frame.values.lookupOrNull(value))
    return found;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return find(*frame.before, loop.getTiedLoopYieldedValue(argument)->get());
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    frame.values.map(operand, find(frame, operand));
  b.clone(*op, frame.values);
  return frame.values.lookup(value);
}

void Rotator::write(Frame &frame, unsigned node) {
  for (Operation *op : body.nodes[node]) {
    for (Value operand : op->getOperands())
      frame.values.map(operand, find(frame, operand));
    b.clone(*op, frame.values);
  }
}

/// Gives the frames of an iteration and of the one before it the values that
/// the rotated loop carries.
void Rotator::enter(Frame &current, Frame &previous, ValueRange carried) {
  for (auto [value, is] : llvm::zip(early, carried))
    previous.values.map(value, is);
  for (auto [argument, is] :
       llvm::zip_equal(late, carried.drop_front(early.size())))
    previous.values.map(argument, is);
  current.before = &previous;
}

/// Returns the induction variable of the last iteration, or of the first if
/// there is none.
Value Rotator::getLast(Value isEmpty) {
  Value lower = loop.getLowerBound(), step = loop.getStep();
  Value one =
      arith::ConstantOp::create(b, b.getIntegerAttr(lower.getType(), 1));
  Value distance = b.createOrFold<arith::SubIOp>(loop.getUpperBound(), lower);
  Value steps = b.createOrFold<arith::DivUIOp>(
      b.createOrFold<arith::SubIOp>(distance, one), step);
  Value last = b.createOrFold<arith::AddIOp>(
      lower, b.createOrFold<arith::MulIOp>(steps, step));
  return isEmpty ? arith::SelectOp::create(b, isEmpty, lower, last) : last;
}

void Rotator::run() {
  findCarried();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  Value step = loop.getStep();

  Frame first;
  first.values.map(loop.getInductionVar(), lower);
  first.values.map(loop.getRegionIterArgs(), loop.getInitArgs());
  for (unsigned node : schedule.order)
    if (schedule.stages[node] == 0)
      write(first, node);

  SmallVector<Value> inits;
  for (Value value : early)
    inits.push_back(find(first, value));
  for (Value argument : late)
    inits.push_back(loop.getTiedLoopInit(cast<BlockArgument>(argument))->get());
  Value second = b.createOrFold<arith::AddIOp>(lower, step);
  auto rotated = scf::ForOp::create(
      b, second, upper, step, inits,
      [&](OpBuilder &nested, Location loc, Value current, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(nested.getInsertionBlock(),
                            nested.getInsertionPoint());
        Frame frames[2];
        frames[0].values.map(loop.getInductionVar(), current);
        frames[1].values.map(loop.getInductionVar(),
                             arith::SubIOp::create(b, current, step));
        enter(frames[0], frames[1], carried);
        for (unsigned node : schedule.order)
          write(frames[schedule.stages[node]], node);
        SmallVector<Value> next;
        for (Value value : early)
          next.push_back(find(frames[0], value));
        for (Value argument : late)
          next.push_back(find(frames[1], loop.getTiedLoopYieldedValue(
                                                 cast<BlockArgument>(argument))
                                             ->get()));
        scf::YieldOp::create(b, next);
      },
      loop.getUnsignedCmp());
  rotated->setDiscardableAttrs(loop->getDiscardableAttrDictionary());

  Value isEmpty;
  if (!hasIteration(loop))
    isEmpty =
        arith::CmpIOp::create(b,
                              loop.getUnsignedCmp() ? arith::CmpIPredicate::uge
                                                    : arith::CmpIPredicate::sge,
                              lower, upper);
  Frame none, last;
  enter(none, last, rotated.getResults());
  last.values.map(loop.getInductionVar(), getLast(isEmpty));
  for (unsigned node : schedule.order)
    if (schedule.stages[node] == 1)
      write(last, node);
  for (auto [result, init, yielded] : llvm::zip_equal(
           loop.getResults(), loop.getInitArgs(), loop.getYieldedValues())) {
    if (result.use_empty())
      continue;
    Value value = find(last, yielded);
    if (isEmpty && value != init)
      value = arith::SelectOp::create(b, isEmpty, init, value);
    result.replaceAllUsesWith(value);
  }
  loop.erase();
}

void tile::rotateLoop(const LoopBody &body, const LoopSchedule &schedule) {
  Rotator(body, schedule).run();
}
