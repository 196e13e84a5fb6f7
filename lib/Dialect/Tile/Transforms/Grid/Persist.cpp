//===- Persist.cpp - The grid as a loop over works ------------------------===//
//
// The block of a persistent kernel does several works, where a work is a block
// of the original launch. Its producer warps load the tiles of the next work
// while its consumers finish one. Without products, tile-load-ahead copies
// those of the next work while threads compute one.
//
//===----------------------------------------------------------------------===//

#include "OverlapWorks.h"
#include "RowWorks.h"
#include "WorkOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/GridDimensions.h"
#include "tile/Analysis/RolePlan.h"
#include "tile/Analysis/RunAhead.h"
#include "tile/Dialect/Tile/IR/Contains.h"
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

namespace {
/// The works along x take longer with their number, take less time with it, or
/// neither.
enum class Growth { None, Longer, Shorter };

class Persister : I32Emitter {
public:
  Persister(KernelOp kernel)
      : I32Emitter(
            ImplicitLocOpBuilder(kernel.getGrid().getLoc(), kernel.getGrid())),
        kernel(kernel), grid(kernel.getGrid()) {}

  /// Rewrites the kernel, of which `most` blocks are launched, or one for each
  /// multiprocessor. The loop over works asks for `stages`. Returns how the
  /// works grow; the longest come first.
  Growth run(Value most, std::optional<int64_t> stages);
  /// Moves what all works do alike in front of the loop.
  void hoist() { hoistFromWorks(loop, kernel); }
  /// Lets the end of a work run beside the next one.
  Refusal overlap() { return overlapWorks(kernel, loop, coordinates); }

private:
  Growth findGrowth();
  SmallVector<Operation *> findPerWork();
  std::pair<Value, Value> splitNumber(Value number, unsigned dim);

  KernelOp kernel;
  GridOp grid;
  Launch launch;
  /// The loop over works, and the coordinates of a work, as i32.
  scf::ForOp loop;
  SmallVector<Value> coordinates;
};
} // namespace

static Growth reverse(Growth growth) {
  if (growth == Growth::None)
    return growth;
  return growth == Growth::Longer ? Growth::Shorter : Growth::Longer;
}

/// Returns how `value` changes with x. Takes extents as positive, and unknown
/// operations as increasing.
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
/// repeats: all but scalars that do not depend on the block, or on a
/// tile.recompute, which is repeated to save registers.
SmallVector<Operation *> Persister::findPerWork() {
  llvm::DenseSet<Operation *> scalars = RunAhead(kernel).findBlockScalars();
  GridDimensions dimensions;
  llvm::SetVector<Operation *> perWork;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (isa<GridOp, RequireOp>(op))
      continue;
    bool isShared =
        scalars.contains(&op) && !isa<RecomputeOp>(op) &&
        llvm::none_of(op.getOperands(),
                      [&](Value operand) {
                        return perWork.contains(operand.getDefiningOp());
                      }) &&
        llvm::all_of(op.getResults(), [&](Value result) {
          return dimensions.find(result) == 0;
        });
    if (!isShared)
      perWork.insert(&op);
  }
  return perWork.takeVector();
}

/// Returns the number of a work in the dimensions behind `dim`, and its
/// coordinate in `dim`.
std::pair<Value, Value> Persister::splitNumber(Value number, unsigned dim) {
  auto behind = ArrayRef(launch.extents).drop_front(dim + 1);
  if (llvm::all_of(behind, [](const Divisor &extent) {
        return matchPattern(extent.value, m_One());
      }))
    return {constant(0), number};
  return divide(number, launch.extents[dim]);
}

Growth Persister::run(Value most, std::optional<int64_t> stages) {
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
  Value launched = arith::MinUIOp::create(
      b, all, most ? most : Value(MultiprocessorsOp::create(b)));
  Value one = arith::ConstantIndexOp::create(b, 1);
  for (auto [extent, operand] :
       llvm::zip_equal(launch.extents, grid->getOpOperands())) {
    extent.value = narrow(operand.get());
    operand.set(one);
  }
  grid.getXMutable().assign(launched);
  launch.works = narrow(all);
  b.setInsertionPoint(perWork.empty() ? kernel.getBody().front().getTerminator()
                                      : perWork.front());
  launch.block = narrow(ProgramIdOp::create(b, Dimension::x));
  launch.blocks = narrow(NumProgramsOp::create(b, Dimension::x));

  for (Divisor &extent : launch.extents)
    extent = invert(extent.value);
  std::optional<LongestFirst> order;
  if (growth != Growth::None)
    order.emplace(b, launch);
  loop =
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
      x = sub(sub(launch.extents[0].value, constant(1)), x);
  } else {
    std::tie(row, x) = splitNumber(number, 0);
  }
  auto [z, y] = splitNumber(row, 1);
  coordinates = {x, y, z};
  SmallVector<Value, 3> indices;
  for (Value coordinate : {x, y, z})
    indices.push_back(
        arith::IndexCastUIOp::create(b, b.getIndexType(), coordinate));
  loop.walk([&](ProgramIdOp id) {
    id.replaceAllUsesWith(indices[unsigned(id.getAxis())]);
    id.erase();
  });
  return growth;
}

namespace {
struct Persist : tile::impl::TilePersistBase<Persist> {
  using TilePersistBase::TilePersistBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (withoutProducts && containsOp(kernel, llvm::IsaPred<DotOp>))
      return;
    bool hasTarget =
        kernel->getParentOfType<ModuleOp>()->hasAttr(TileDialect::kTargetAttr);
    const Chip *chip =
        withoutProducts || hasTarget ? getTargetChip(kernel) : nullptr;
    if (withoutProducts && !chip)
      return signalPassFailure();
    Schedule schedule = getSchedule(kernel);
    std::optional<int64_t> given =
        std::exchange(schedule.workStages, std::nullopt);
    setSchedule(kernel, schedule);
    int64_t stages =
        given ? *given : withoutProducts && paysAsWorks(kernel, *chip);
    if (stages == 0)
      return;
    if (Refusal refusal = checkPersistence(kernel, chip)) {
      if (given)
        remark::missed(kernel.getLoc(), remarkName("kernel-not-persistent"))
            << remark::reason("{0}", *refusal);
      return;
    }
    // Without roles, no copy runs ahead of the work before.
    bool hasRoles = schedule.hasRoles();
    Persister persister(kernel);
    Growth growth =
        persister.run(withoutProducts ? countPlaces(kernel, *chip) : Value(),
                      hasRoles ? std::optional(stages) : std::nullopt);
    remark::passed(kernel.getLoc(), remarkName("kernel-persistent"))
        << remark::metric("work-stages", stages)
        << remark::metric("longest-works", growth == Growth::None ? "none"
                                           : growth == Growth::Longer
                                               ? "largest x"
                                               : "smallest x");
    if (withoutProducts)
      return persister.hoist();
    // With one stage, the tiles of the next work arrive after the end of this
    // one.
    if (!hasRoles || stages < 2)
      return;
    // Groups of consumers overlap their works by taking turns.
    if (schedule.countConsumerGroups() > 1)
      return;
    if (Refusal refusal = persister.overlap())
      remark::missed(kernel.getLoc(), remarkName("works-not-overlapped"))
          << remark::reason("{0}", *refusal);
    else
      remark::passed(kernel.getLoc(), remarkName("works-overlapped"));
  }
};
} // namespace
