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

namespace {
/// The works along x take longer with their number, take less time with it, or
/// neither.
enum class Growth { None, Longer, Shorter };

class Persister {
public:
  Persister(KernelOp kernel)
      : kernel(kernel), grid(kernel.getGrid()), b(grid.getLoc(), grid) {}

  /// Rewrites the kernel. The loop over works asks for `stages`. Returns true
  /// if works are paired.
  bool run(std::optional<int64_t> stages);

private:
  Growth findGrowth();
  SmallVector<Operation *> findPerWork();
  scf::ForOp emitLoop(bool isPaired);
  Value emitPaired(Value number);
  void emitCoordinates(Value work, Growth growth, Value (&coordinates)[3]);

  // Operations on i32, where divisions are short. The pass's description gives
  // the limit that follows.
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

  KernelOp kernel;
  GridOp grid;
  ImplicitLocOpBuilder b;
  /// Extents of the original grid, the number of works, the number of this
  /// block and the number of blocks, as i32.
  Value extents[3], works, block, blocks;
  /// In paired order: the works in whole rounds of pairs, and the other works.
  Value paired, others;
};
} // namespace

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
        growth = isUpper ? Growth::Longer : Growth::Shorter;
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

/// Emits the number of the `number`-th work of this block in paired order: a
/// long work, then a short one. Blocks do pairs in whole rounds first. Of the
/// other works, fewer than two for each block, the long ones go to the first
/// blocks, and the short ones to the blocks after these and on the way back.
Value Persister::emitPaired(Value number) {
  Value one = constant(1), two = constant(2);
  Value rounds = div(paired, blocks); // of works, two for each pair
  Value pair = add(block, mul(div(number, two), blocks));
  Value inPair = add(mul(pair, two), rem(number, two));
  Value back = sub(sub(mul(blocks, two), one), block);
  Value isFirst =
      b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, number, rounds);
  Value slot = select(isFirst, block, back);
  Value firsts = div(add(others, one), two);
  Value isLong = isLess(slot, firsts);
  Value second = add(mul(sub(slot, firsts), two), one);
  Value inRest = add(paired, select(isLong, mul(slot, two), second));
  return select(isLess(number, rounds), inPair, inRest);
}

/// Emits the loop over the works of this block, whose body begins with the
/// number of the work.
scf::ForOp Persister::emitLoop(bool isPaired) {
  if (!isPaired)
    return scf::ForOp::create(b, block, works, blocks);
  Value two = constant(2), zero = constant(0), one = constant(1);
  Value round = mul(blocks, two);
  Value rounds = div(works, round);
  paired = mul(rounds, round);
  others = sub(works, paired);
  Value back = sub(sub(round, one), block);
  Value count = mul(rounds, two);
  for (Value slot : {block, back})
    count = add(count, b.createOrFold<arith::ExtUIOp>(b.getI32Type(),
                                                      isLess(slot, others)));
  return scf::ForOp::create(b, zero, count, one);
}

/// Emits the coordinates of a work in the original grid. In paired order, the
/// longest work along x comes first, then the shortest one, and so on; if their
/// number is odd, every other row walks back, so that pairs across rows are as
/// long as the others.
void Persister::emitCoordinates(Value work, Growth growth,
                                Value (&coordinates)[3]) {
  Value x = rem(work, extents[0]), row = div(work, extents[0]);
  if (growth != Growth::None) {
    Value one = constant(1), two = constant(2);
    Value last = sub(extents[0], one);
    Value isBack = isOdd(b.createOrFold<arith::AndIOp>(extents[0], row));
    Value place = select(isBack, sub(last, x), x);
    Value half = div(place, two), opposite = sub(last, half);
    Value isShort = isOdd(place);
    x = growth == Growth::Shorter ? select(isShort, opposite, half)
                                  : select(isShort, half, opposite);
  }
  coordinates[0] = x;
  coordinates[1] = rem(row, extents[1]);
  coordinates[2] = div(row, extents[1]);
}

bool Persister::run(std::optional<int64_t> stages) {
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
       llvm::zip_equal(extents, grid->getOpOperands())) {
    extent = narrow(operand.get());
    operand.set(one);
  }
  grid.getXMutable().assign(launched);
  works = narrow(all);
  b.setInsertionPoint(perWork.empty() ? kernel.getBody().front().getTerminator()
                                      : perWork.front());
  block = narrow(ProgramIdOp::create(b, Dimension::x));
  blocks = narrow(NumProgramsOp::create(b, Dimension::x));

  scf::ForOp loop = emitLoop(growth != Growth::None);
  Schedule schedule;
  schedule.stages = stages;
  setSchedule(loop, schedule);
  Operation *end = loop.getBody()->getTerminator();
  for (Operation *op : perWork)
    op->moveBefore(end);
  b.setInsertionPointToStart(loop.getBody());
  Value work = loop.getInductionVar();
  if (growth != Growth::None)
    work = emitPaired(work);
  Value coordinates[3];
  emitCoordinates(work, growth, coordinates);
  for (Value &coordinate : coordinates)
    coordinate = arith::IndexCastOp::create(b, b.getIndexType(), coordinate);
  loop.walk([&](ProgramIdOp id) {
    id.replaceAllUsesWith(coordinates[unsigned(id.getAxis())]);
    id.erase();
  });
  return growth != Growth::None;
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
    bool isPaired = Persister(kernel).run(
        schedule.hasRoles() ? std::optional(stages) : std::nullopt);
    remark::passed(kernel.getLoc(), remarkName("kernel-persistent"))
        << remark::metric("work-stages", stages)
        << remark::metric("pairs", isPaired);
  }
};
} // namespace
