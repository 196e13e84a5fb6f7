//===- OrderBlocks.cpp - The order in which blocks walk a grid ------------===//
//
// Multiprocessors start blocks in the order of their numbers. Blocks that run
// at the same time read the same tiles from the second-level cache if they form
// a rectangle of the grid that is about as high as it is wide. Blocks with
// consecutive numbers share the way to that cache, too.
//
// On a chip of several dies, each of which has such a cache, block n runs on
// die n modulo the dies. So blocks that share tiles are those of one die.
//
// Source for the dies: Choudhary et al., "Optimizing Attention on GPUs by
// Exploiting GPU Architectural NUMA Effects", arXiv 2511.02132, which measures
// up to 1.5 times the speed on MI300X.
//
//===----------------------------------------------------------------------===//

#include "I32Emitter.h"
#include "LaunchValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/GridDimensions.h"
#include "tile/Chips/Mma.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILEORDERBLOCKS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// The largest group that the compiler chooses.
static constexpr int64_t kMostBlocks = 64;

/// The number of consecutive blocks whose reads of the same bytes reach the
/// second-level cache as one, on NVIDIA's chips. Fitted to an H100
/// (docs/notes/hopper-gemm.md).
static constexpr int64_t kNeighbors = 12;
/// The bytes in a clock cycle that each of these blocks can read if all read
/// different bytes. Fitted like kNeighbors.
static constexpr double kNeighborBytes = 20;

namespace {
struct OrderBlocks : tile::impl::TileOrderBlocksBase<OrderBlocks> {
  using TileOrderBlocksBase::TileOrderBlocksBase;
  void runOnOperation() override;

private:
  void walkGroups(GridOp grid, BlockOrder order, int64_t leastHeight,
                  int64_t dies);
  void walkRowsByDie(GridOp grid, int64_t dies);
};
} // namespace

namespace {
/// The tiles that several blocks of a grid read in an iteration of a loop.
struct SharedTiles {
  /// The bytes of the tiles that depend on x alone, and on y alone.
  int64_t x = 0, y = 0;
  /// The cycles of the matrix products.
  double matrixCycles = 0;
};
} // namespace

static remark::RemarkOpts remarkName(StringRef name) {
  return remark::RemarkOpts::name(name).category("tile-order-blocks");
}

/// Returns the bytes of a tile.
static int64_t countBytes(RankedTensorType tile) {
  return tile.getNumElements() * tile.getElementTypeBitWidth() / 8;
}

/// Returns the cycles of a product at the peak rate of the first instruction
/// that computes it; 0 if the chip has none.
static double countMatrixCycles(DotOp dot, const Chip &chip) {
  auto a = cast<ShapedType>(dot.getA().getType());
  double operations = 2.0 * dot.getTile().getNumElements() * a.getDimSize(1);
  for (StringRef name : chip.mma)
    if (const Mma *mma = findMma(name); dot.isComputedBy(*mma))
      return operations / getPeakRate(chip, *mma);
  return 0;
}

/// Returns the power of two up to `most` for which `count` is least, the
/// largest one of several.
static int64_t findLeast(int64_t most,
                         llvm::function_ref<double(int64_t)> count) {
  int64_t least = 1;
  for (int64_t other = 2; other <= most; other *= 2)
    if (count(other) <= count(least))
      least = other;
  return least;
}

/// Returns what the loop with the most shared bytes shares, of those that read
/// tiles of both kinds; 0 bytes if there is none. A value that is read from
/// memory, such as the number of a group of rows, counts as equal in
/// neighbouring blocks: blocks in which it differs share no tiles, whatever
/// their order is.
static SharedTiles findSharedTiles(KernelOp kernel, const Chip &chip) {
  llvm::MapVector<Operation *, SharedTiles> loops;
  GridDimensions dimensions;
  kernel.walk([&](LoadOp load) {
    auto loop = load->getParentOfType<scf::ForOp>();
    auto tile = dyn_cast<RankedTensorType>(load.getType());
    if (!loop || !tile || load.getBuffer().getType().isShared())
      return;
    unsigned found = dimensions.find(load->getOperands());
    bool dependsOnX = found & GridDimensions::X;
    bool dependsOnY = found & GridDimensions::Y;
    if (dependsOnX && !dependsOnY)
      loops[loop].x += countBytes(tile);
    if (dependsOnY && !dependsOnX)
      loops[loop].y += countBytes(tile);
  });
  kernel.walk([&](DotOp dot) {
    auto it = loops.find(dot->getParentOfType<scf::ForOp>());
    if (it != loops.end())
      it->second.matrixCycles += countMatrixCycles(dot, chip);
  });
  SharedTiles most;
  for (auto &[loop, shared] : loops)
    if (shared.x != 0 && shared.y != 0 && shared.x + shared.y > most.x + most.y)
      most = shared;
  return most;
}

/// Returns whether blocks that differ in x alone read the same tiles in loops,
/// or tiles in the same range, which others do not read.
static bool sharesAlongX(KernelOp kernel) {
  GridDimensions dimensions(/*ignoresConditions=*/false,
                            /*ignoresIterations=*/true);
  return kernel
      .walk([&](LoadOp load) {
        unsigned found = dimensions.find(load->getOperands());
        bool isShared = !(found & GridDimensions::X) &&
                        (found & (GridDimensions::Y | GridDimensions::Z));
        return isShared && load->getParentOfType<scf::ForOp>() &&
                       isa<RankedTensorType>(load.getType()) &&
                       !load.getBuffer().getType().isShared()
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns groups of blocks that share tiles; the plain order if there are no
/// such tiles.
static BlockOrder chooseOrder(KernelOp kernel, const Chip &chip) {
  SharedTiles most = findSharedTiles(kernel, chip);
  if (most.x == 0)
    return {};
  // The bytes that the blocks read which run at the same time on a die, one on
  // each multiprocessor, in groups of `group` blocks along x. Of groups with as
  // many bytes, the largest is best: each group reads the tiles of y again.
  BlockOrder order;
  order.group = findLeast(kMostBlocks, [&](int64_t group) {
    return group * most.x +
           int64_t(llvm::divideCeil(chip.processors / chip.dies, group)) *
               most.y;
  });
  if (chip.vendor != Vendor::NVIDIA)
    return order;
  // The bytes that neighbours read, a rectangle of `panel` blocks along y, in
  // an iteration. Products and the port of the multiprocessor bound its time.
  auto countNear = [&](int64_t panel) {
    double rows = std::min(double(kNeighbors) / panel, double(order.group));
    return rows * most.x + kNeighbors / rows * most.y;
  };
  double cycles = std::max(most.matrixCycles, double(most.x + most.y) /
                                                  chip.throughput.cacheBytes);
  if (countNear(1) > kNeighbors * kNeighborBytes * cycles)
    order.panel = findLeast(kNeighbors, countNear);
  return order;
}

namespace {
/// Emits the coordinates of a block from its number. All values are i32: a
/// launch has fewer than 2^31 blocks along x.
class Walk : I32Emitter {
public:
  /// A group of fewer blocks along x than `leastHeight` has panels of one
  /// block.
  Walk(ImplicitLocOpBuilder builder, BlockOrder order, int64_t leastHeight)
      : I32Emitter(builder), order(order), leastHeight(leastHeight) {}

  /// Returns the coordinates along x and y of block `id` of a grid of `rows` by
  /// `columns` blocks. The divisors depend on the launch only: a persistent
  /// kernel computes their reciprocals once, and no division waits for another.
  std::pair<Value, Value> emitPlace(Value id, Value rows, Value columns);

private:
  const BlockOrder order;
  const int64_t leastHeight;
};
} // namespace

std::pair<Value, Value> Walk::emitPlace(Value id, Value rows, Value columns) {
  Value size = constant(order.group), one = constant(1);
  Value groups = div(add(rows, constant(order.group - 1)), size);
  Value last = sub(groups, one);
  Divisor lastHeight = invert(sub(rows, mul(last, size)));
  Divisor blocks = invert(mul(min(rows, size), columns));

  auto [group, inGroup] = divide(id, blocks);
  Value isLast =
      b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, group, last);
  auto [columnOfLast, rowOfLast] = divide(inGroup, lastHeight);
  Value column = select(isLast, columnOfLast, div(inGroup, size));
  Value row = select(isLast, rowOfLast, rem(inGroup, size));
  if (order.panel > 1) {
    // A panel has the numbers of its blocks along x, in the same order.
    Value height = select(isLast, lastHeight.value, size);
    Value width = constant(order.panel);
    Value first = mul(div(column, width), width);
    Value inPanel = sub(inGroup, mul(first, height));
    Value isNarrow = isLess(columns, add(first, width));
    Value keeps = isNarrow;
    if (leastHeight > 1)
      keeps = b.createOrFold<arith::OrIOp>(
          isNarrow, isLess(height, constant(leastHeight)));
    row = select(keeps, row, div(inPanel, width));
    column = select(keeps, column, add(first, rem(inPanel, width)));
  }
  return {add(mul(group, size), row), column};
}

namespace {
/// Emits where blocks go on a chip of several dies, which it gives consecutive
/// blocks in turn. All values are i32.
class DieOrder : I32Emitter {
public:
  DieOrder(ImplicitLocOpBuilder builder, Value id, int64_t dies)
      : I32Emitter(builder), id(id), dies(constant(dies)) {}

  /// Returns the number that the block gets, of `count`, so that those of a die
  /// have consecutive numbers.
  Value emitNumber(Value count);
  /// Returns the coordinates of the block in rows of `length` blocks. Each die
  /// runs every dies-th row; all share the rows that are left.
  std::pair<Value, Value> emitPlace(Value length, Value rows);

private:
  const Value id, dies;
};
} // namespace

Value DieOrder::emitNumber(Value count) {
  Value die = rem(id, dies);
  // The first dies have one block more if the count is no multiple.
  Value longer = min(die, rem(count, dies));
  return add(add(mul(die, div(count, dies)), longer), div(id, dies));
}

std::pair<Value, Value> DieOrder::emitPlace(Value length, Value rows) {
  Value whole = mul(sub(rows, rem(rows, dies)), length);
  Value isWhole = isLess(id, whole);
  Value number = select(isWhole, div(id, dies), id);
  Value row = div(number, length);
  Value column = sub(number, mul(row, length));
  Value ofDie = add(mul(row, dies), rem(id, dies));
  return {column, select(isWhole, ofDie, row)};
}

/// Replaces the first `count` dimensions of the grid by one. `emit` returns the
/// coordinates of a block from its number and the extents; all are i32.
static void
flatten(KernelOp kernel, GridOp grid, unsigned count,
        llvm::function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value,
                                              ArrayRef<Value>)>
            emit) {
  SmallVector<SmallVector<ProgramIdOp>, 3> ids(count);
  kernel.walk([&](ProgramIdOp id) {
    if (unsigned(id.getAxis()) < count)
      ids[unsigned(id.getAxis())].push_back(id);
  });
  ImplicitLocOpBuilder b(grid.getLoc(), grid);
  Value one = arith::ConstantIndexOp::create(b, 1);
  SmallVector<Value> launched =
      llvm::to_vector(ValueRange(grid->getOperands()).take_front(count));
  Value all = launched.front();
  for (unsigned dim = 1; dim < count; ++dim) {
    all = arith::MulIOp::create(b, all, launched[dim]);
    grid->setOperand(dim, one);
  }
  grid.getXMutable().assign(all);

  b.setInsertionPointToStart(&kernel.getBody().front());
  auto toInteger = [&](Value value) {
    return arith::IndexCastOp::create(b, b.getI32Type(), value).getResult();
  };
  IRMapping mapping;
  SmallVector<Value> extents;
  for (Value extent : launched)
    extents.push_back(toInteger(cloneLaunchValue(b, extent, mapping)));
  Value id = toInteger(ProgramIdOp::create(b, Dimension::x));
  // Zeros in front say that the numbers are not negative. The insertion point
  // may be one of the operations that are erased.
  SmallVector<Value> results;
  for (Value coordinate : emit(b, id, extents))
    results.push_back(
        arith::IndexCastUIOp::create(b, b.getIndexType(), coordinate));
  for (auto [old, index] : llvm::zip_equal(ids, results))
    for (ProgramIdOp op : old) {
      op.replaceAllUsesWith(index);
      op.erase();
    }
}

/// Replaces the first two dimensions of the grid by one. Its blocks walk over
/// groups of blocks along x. A group consists of panels of blocks along y, in
/// which they walk along y, then along x. The last group may be smaller. In a
/// panel of fewer blocks along y, and in a group of fewer blocks along x than
/// `leastHeight`, they walk along x, then along y.
void OrderBlocks::walkGroups(GridOp grid, BlockOrder order, int64_t leastHeight,
                             int64_t dies) {
  flatten(
      getOperation(), grid, /*count=*/2,
      [&](ImplicitLocOpBuilder &b, Value id, ArrayRef<Value> extents) {
        if (dies > 1)
          id =
              DieOrder(b, id, dies)
                  .emitNumber(arith::MulIOp::create(b, extents[0], extents[1]));
        auto [row, column] =
            Walk(b, order, leastHeight).emitPlace(id, extents[0], extents[1]);
        return SmallVector<Value>{row, column};
      });
}

/// Replaces the three dimensions of the grid by one. The blocks along x for one
/// y and z run on one die.
void OrderBlocks::walkRowsByDie(GridOp grid, int64_t dies) {
  flatten(getOperation(), grid, /*count=*/3,
          [&](ImplicitLocOpBuilder &b, Value id, ArrayRef<Value> extents) {
            Value rows = arith::MulIOp::create(b, extents[1], extents[2]);
            auto [x, row] = DieOrder(b, id, dies).emitPlace(extents[0], rows);
            Value z = arith::DivUIOp::create(b, row, extents[1]);
            Value y = arith::RemUIOp::create(b, row, extents[1]);
            return SmallVector<Value>{x, y, z};
          });
}

void OrderBlocks::runOnOperation() {
  KernelOp kernel = getOperation();
  Schedule schedule = getSchedule(kernel);
  std::optional<BlockOrder> given = std::exchange(schedule.order, std::nullopt);
  const Chip *chip = given ? nullptr : getTargetChip(kernel);
  GridOp grid = kernel.getGrid();
  if (!given && !chip)
    return signalPassFailure();
  setSchedule(kernel, schedule);
  if (given && given->isPlain())
    return;
  Operation *reader = nullptr;
  kernel.walk([&](Operation *op) {
    if (isa<NumProgramsOp, MultiprocessorsOp>(op))
      reader = op;
  });
  if (reader && given) {
    kernel.emitOpError("cannot walk its blocks in groups: it reads the extents "
                       "of the launch")
            .attachNote(reader->getLoc())
        << "here";
    return signalPassFailure();
  }
  if (reader || matchPattern(grid.getX(), m_One()))
    return;
  bool isFlat = matchPattern(grid.getY(), m_One());
  BlockOrder order;
  if (!isFlat)
    order = given ? *given : chooseOrder(kernel, *chip);
  int64_t dies = given ? 1 : chip->dies;
  if (order.isPlain()) {
    if (dies == 1 || !sharesAlongX(kernel) ||
        (isFlat && matchPattern(grid.getZ(), m_One())))
      return;
    walkRowsByDie(grid, dies);
    remark::passed(kernel.getLoc(), remarkName("rows-on-dies"))
        << remark::metric("dies", dies);
    return;
  }
  // Panels of the compiler's choice are worth it where a group is twice as high
  // as the rectangle of neighbours.
  int64_t leastHeight =
      given ? 1 : llvm::divideCeil(2 * kNeighbors, order.panel);
  walkGroups(grid, order, leastHeight, dies);
  remark::passed(kernel.getLoc(), remarkName("blocks-ordered"))
      << remark::metric("group", order.group)
      << remark::metric("panel", order.panel);
}
