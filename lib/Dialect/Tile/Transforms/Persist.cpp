//===- Persist.cpp - The grid as a loop over works ------------------------===//
//
// The block of a persistent kernel does several works, where a work is a block
// of the original launch. Its producer warps load the tiles of the next work
// while its consumers finish one.
//
//===----------------------------------------------------------------------===//

#include "Persist.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/GridDimensions.h"
#include "tile/Analysis/RunAhead.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILEPERSIST
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

static remark::RemarkOpts remarkName(StringRef name) {
  return remark::RemarkOpts::name(name).category("tile-persist");
}

Refusal tile::checkPersistence(KernelOp kernel) {
  Refusal refusal;
  kernel.walk([&](Operation *op) {
    if (isa<NumProgramsOp, MultiprocessorsOp>(op))
      refusal = "it reads the extents of the launch";
    else if (isa<WaitPrerequisitesOp, LaunchDependentsOp>(op))
      refusal = "it waits for another launch, or starts one";
    else if (isa<WarpRolesOp>(op))
      refusal = "its author has divided it into roles";
    return refusal ? WalkResult::interrupt() : WalkResult::advance();
  });
  return refusal;
}

/// The rounds of works, one for each block, that a group of rows has at least:
/// with fewer the blocks differ in the sums of their lengths.
static constexpr int64_t kRoundsOfGroup = 2;
/// The blocks that do works of one row at the same time, at least, in groups of
/// more rounds. They read the same memory.
static constexpr int64_t kBlocksOfRow = 16;

namespace {
/// The works along x take longer with their number, take less time with it, or
/// neither.
enum class Growth { None, Longer, Shorter };

/// Emits operations on i32, where divisions are short. The description of the
/// pass gives the limit that follows.
class Emitter {
protected:
  Emitter(ImplicitLocOpBuilder builder) : b(builder) {}

  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(b, value, 32);
  }
  Value narrow(Value index) {
    return b.createOrFold<arith::IndexCastOp>(b.getI32Type(), index);
  }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(x, y); }
  Value sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(x, y); }
  Value mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(x, y); }
  Value div(Value x, Value y) { return b.createOrFold<arith::DivUIOp>(x, y); }
  Value rem(Value x, Value y) { return b.createOrFold<arith::RemUIOp>(x, y); }
  Value isLess(Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, x, y);
  }
  Value isOdd(Value x) {
    return b.createOrFold<arith::TruncIOp>(b.getI1Type(), x);
  }
  Value select(Value condition, Value x, Value y) {
    return b.createOrFold<arith::SelectOp>(condition, x, y);
  }
  /// Returns `x` plus 1 if the condition holds.
  Value addIf(Value x, Value condition) {
    return add(x, b.createOrFold<arith::ExtUIOp>(b.getI32Type(), condition));
  }

  ImplicitLocOpBuilder b;
};

/// The numbers of a launch, as i32.
struct Launch {
  /// The extents of the original grid, and its product: the number of works.
  Value extents[3], works;
  /// The number of this block, and the number of blocks.
  Value block, blocks;
};

/// The order of works whose length depends on x. A row has the works of one y
/// and z. Rows form groups, which follow each other. The works of a group are
/// in order of their length, the longest first, and dealt to the blocks in
/// rounds. Every other round walks back over the blocks, and so do the rounds
/// of every other group, so that the sums of lengths are about equal.
class LongestFirst : Emitter {
public:
  /// Emits the numbers that all works need.
  LongestFirst(ImplicitLocOpBuilder builder, const Launch &launch);

  /// The number of works of this block.
  Value getCount() const { return count; }
  /// Returns the row of the `number`-th work of this block, and the number of
  /// its length, of which 0 is the longest.
  std::pair<Value, Value> emitWork(ImplicitLocOpBuilder builder, Value number);

private:
  /// The numbers of works that one block has: in an even group before the last
  /// one, in an even and an odd one, in all groups before the last one.
  struct Counts {
    Value inEven, inTwo, beforeLast;
  };
  Value emitPlace(Value round, Value block);
  Value emitCount(Value worksOfGroup, Value group, Value block);
  Counts emitCounts(Value rowsOfGroup, Value block);

  const Launch &launch;
  /// The number of the last group, the rows of each group before it, and the
  /// works of this block.
  Value last, rowsOfGroup, count;
};

class Persister : Emitter {
public:
  Persister(KernelOp kernel)
      : Emitter(
            ImplicitLocOpBuilder(kernel.getGrid().getLoc(), kernel.getGrid())),
        kernel(kernel), grid(kernel.getGrid()) {}

  /// Rewrites the kernel. The loop over works asks for `stages`. Returns how
  /// the works grow; the longest come first.
  Growth run(std::optional<int64_t> stages);

private:
  Growth findGrowth();
  SmallVector<Operation *> findPerWork();

  KernelOp kernel;
  GridOp grid;
  Launch launch;
};
} // namespace

static Growth reverse(Growth growth) {
  if (growth == Growth::None)
    return growth;
  return growth == Growth::Longer ? Growth::Shorter : Growth::Longer;
}

/// Returns how `value`, which depends on x, changes with x. Extents are taken
/// as positive, and operations that are not known as monotonic.
static Growth findDirection(Value value, GridDimensions &dimensions) {
  if (!(dimensions.find(value) & GridDimensions::X))
    return Growth::None;
  Operation *op = value.getDefiningOp();
  if (!op || isa<ProgramIdOp>(op))
    return Growth::Longer;
  bool flips = false;
  if (isa<arith::MulIOp>(op))
    flips = llvm::any_of(op->getOperands(), [](Value factor) {
      APInt constant;
      return matchPattern(factor, m_ConstantInt(&constant)) &&
             constant.isNegative();
    });
  for (OpOperand &operand : op->getOpOperands()) {
    bool isCondition =
        isa<arith::SelectOp>(op) && operand.getOperandNumber() == 0;
    if (isCondition)
      continue;
    Growth growth = findDirection(operand.get(), dimensions);
    if (growth == Growth::None)
      continue;
    bool isSubtracted = isa<arith::SubIOp>(op) && operand.getOperandNumber();
    return flips || isSubtracted ? reverse(growth) : growth;
  }
  return Growth::None;
}

/// Returns how the time of a work changes along x: a loop with products has one
/// bound that depends on x. A condition on x, such as whether a tile is
/// complete, is no growth.
Growth Persister::findGrowth() {
  GridDimensions dimensions(/*ignoresConditions=*/true);
  Growth growth = Growth::None;
  kernel.walk([&](DotOp dot) {
    for (auto loop = dot->getParentOfType<scf::ForOp>(); loop;
         loop = loop->getParentOfType<scf::ForOp>()) {
      unsigned lower = dimensions.find(loop.getLowerBound());
      unsigned upper = dimensions.find(loop.getUpperBound());
      if ((lower | upper) & GridDimensions::Unknown)
        continue;
      bool isLower = lower & GridDimensions::X,
           isUpper = upper & GridDimensions::X;
      if (isLower != isUpper)
        growth = isUpper
                     ? findDirection(loop.getUpperBound(), dimensions)
                     : reverse(findDirection(loop.getLowerBound(), dimensions));
    }
    return growth == Growth::None ? WalkResult::advance()
                                  : WalkResult::interrupt();
  });
  return growth;
}

/// Returns the operations at the top level of the kernel that each work
/// repeats: all but scalars that do not depend on the block.
SmallVector<Operation *> Persister::findPerWork() {
  llvm::DenseSet<Operation *> scalars = RunAhead(kernel).findBlockScalars();
  GridDimensions dimensions;
  SmallVector<Operation *> perWork;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (isa<GridOp, RequireOp>(op))
      continue;
    bool isShared = scalars.contains(&op) &&
                    llvm::all_of(op.getResults(), [&](Value result) {
                      return dimensions.find(result) == 0;
                    });
    if (!isShared)
      perWork.push_back(&op);
  }
  return perWork;
}

LongestFirst::LongestFirst(ImplicitLocOpBuilder builder, const Launch &launch)
    : Emitter(builder), launch(launch) {
  Value one = constant(1), two = constant(2);
  Value rows = mul(launch.extents[1], launch.extents[2]);
  Value wanted = b.createOrFold<arith::MaxUIOp>(
      b.createOrFold<arith::CeilDivUIOp>(
          mul(launch.blocks, constant(kRoundsOfGroup)), launch.extents[0]),
      div(launch.blocks, constant(kBlocksOfRow)));
  Value groups = b.createOrFold<arith::MaxUIOp>(
      div(add(rows, div(wanted, two)), wanted), one);
  last = sub(groups, one);
  rowsOfGroup = div(rows, groups);
  Value worksOfLast =
      sub(launch.works, mul(mul(last, rowsOfGroup), launch.extents[0]));
  count = add(emitCounts(rowsOfGroup, launch.block).beforeLast,
              emitCount(worksOfLast, last, launch.block));
}

/// Returns the place in a round of `block`, the number of this block: the
/// number itself, or that from the end in an odd round.
Value LongestFirst::emitPlace(Value round, Value block) {
  Value fromEnd = sub(sub(launch.blocks, constant(1)), block);
  return select(isOdd(round), fromEnd, block);
}

/// Returns how many works of a group `block` has.
Value LongestFirst::emitCount(Value worksOfGroup, Value group, Value block) {
  Value rounds = div(worksOfGroup, launch.blocks);
  Value rest = sub(worksOfGroup, mul(rounds, launch.blocks));
  return addIf(rounds, isLess(emitPlace(add(rounds, group), block), rest));
}

LongestFirst::Counts LongestFirst::emitCounts(Value rowsOfGroup, Value block) {
  Counts counts;
  Value worksOfGroup = mul(rowsOfGroup, launch.extents[0]);
  counts.inEven = emitCount(worksOfGroup, constant(0), block);
  counts.inTwo =
      add(counts.inEven, emitCount(worksOfGroup, constant(1), block));
  Value inPairs = mul(div(last, constant(2)), counts.inTwo);
  counts.beforeLast = select(isOdd(last), add(inPairs, counts.inEven), inPairs);
  return counts;
}

std::pair<Value, Value> LongestFirst::emitWork(ImplicitLocOpBuilder builder,
                                               Value number) {
  b = builder;
  // Computed again for each work, the counts take no registers in between.
  Value block = RecomputeOp::create(b, launch.block);
  Value rowsBeforeLast = RecomputeOp::create(b, rowsOfGroup);
  Counts counts = emitCounts(rowsBeforeLast, block);
  Value isBeforeLast = isLess(number, counts.beforeLast);
  Value two = div(number, counts.inTwo);
  Value inThese = sub(number, mul(two, counts.inTwo));
  Value isEven = isLess(inThese, counts.inEven);
  Value even = mul(two, constant(2));
  Value group =
      select(isBeforeLast, select(isEven, even, add(even, constant(1))), last);
  Value round =
      select(isBeforeLast, select(isEven, inThese, sub(inThese, counts.inEven)),
             sub(number, counts.beforeLast));
  Value position =
      add(mul(round, launch.blocks), emitPlace(add(round, group), block));
  Value firstRow = mul(group, rowsBeforeLast);
  Value allRows = mul(launch.extents[1], launch.extents[2]);
  Value rows = select(isBeforeLast, rowsBeforeLast, sub(allRows, firstRow));
  return {add(firstRow, rem(position, rows)), div(position, rows)};
}

Growth Persister::run(std::optional<int64_t> stages) {
  Growth growth = findGrowth();
  SmallVector<Operation *> perWork = findPerWork();
  // Scalars of the launch may stand behind the first operation of a work.
  for (Operation &op : llvm::make_early_inc_range(
           kernel.getBody().front().without_terminator()))
    if (!llvm::is_contained(perWork, &op) && !perWork.empty() &&
        perWork.front()->isBeforeInBlock(&op))
      op.moveBefore(perWork.front());

  b.setInsertionPoint(grid);
  Value all = b.createOrFold<arith::MulIOp>(
      b.createOrFold<arith::MulIOp>(grid.getX(), grid.getY()), grid.getZ());
  Value launched = arith::MinUIOp::create(b, all, MultiprocessorsOp::create(b));
  Value one = arith::ConstantIndexOp::create(b, 1);
  for (auto [extent, operand] :
       llvm::zip_equal(launch.extents, grid->getOpOperands())) {
    extent = narrow(operand.get());
    operand.set(one);
  }
  grid.getXMutable().assign(launched);
  launch.works = narrow(all);
  b.setInsertionPoint(perWork.empty() ? kernel.getBody().front().getTerminator()
                                      : perWork.front());
  launch.block = narrow(ProgramIdOp::create(b, Dimension::x));
  launch.blocks = narrow(NumProgramsOp::create(b, Dimension::x));

  std::optional<LongestFirst> order;
  if (growth != Growth::None)
    order.emplace(b, launch);
  auto loop =
      order ? scf::ForOp::create(b, constant(0), order->getCount(), constant(1))
            : scf::ForOp::create(b, launch.block, launch.works, launch.blocks);
  Schedule schedule;
  schedule.stages = stages;
  setSchedule(loop, schedule);
  Operation *end = loop.getBody()->getTerminator();
  for (Operation *op : perWork)
    op->moveBefore(end);
  b.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar(), x, row;
  if (order) {
    std::tie(row, x) = order->emitWork(b, number);
    if (growth == Growth::Longer)
      x = sub(sub(launch.extents[0], constant(1)), x);
  } else {
    x = rem(number, launch.extents[0]);
    row = div(number, launch.extents[0]);
  }
  Value coordinates[] = {x, rem(row, launch.extents[1]),
                         div(row, launch.extents[1])};
  for (Value &coordinate : coordinates)
    coordinate = arith::IndexCastOp::create(b, b.getIndexType(), coordinate);
  loop.walk([&](ProgramIdOp id) {
    id.replaceAllUsesWith(coordinates[unsigned(id.getAxis())]);
    id.erase();
  });
  return growth;
}

namespace {
struct Persist : tile::impl::TilePersistBase<Persist> {
  using TilePersistBase::TilePersistBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    Schedule schedule = getSchedule(kernel);
    int64_t stages =
        std::exchange(schedule.workStages, std::nullopt).value_or(0);
    setSchedule(kernel, schedule);
    if (stages == 0)
      return;
    if (Refusal refusal = checkPersistence(kernel)) {
      remark::missed(kernel.getLoc(), remarkName("kernel-not-persistent"))
          << remark::reason("{0}", *refusal);
      return;
    }
    // Without roles, no copy runs ahead of the work before.
    Growth growth = Persister(kernel).run(
        schedule.hasRoles() ? std::optional(stages) : std::nullopt);
    remark::passed(kernel.getLoc(), remarkName("kernel-persistent"))
        << remark::metric("work-stages", stages)
        << remark::metric("longest-works", growth == Growth::None ? "none"
                                           : growth == Growth::Longer
                                               ? "largest x"
                                               : "smallest x");
  }
};
} // namespace
