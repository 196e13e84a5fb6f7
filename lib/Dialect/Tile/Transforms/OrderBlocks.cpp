//===- OrderBlocks.cpp - The order in which blocks walk a grid ------------===//
//
// Multiprocessors start blocks in the order of their numbers. Blocks that run
// at the same time read the same tiles from the second-level cache if they form
// a rectangle of the grid that is about as high as it is wide.
//
//===----------------------------------------------------------------------===//

#include "LaunchValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/GridDimensions.h"
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

namespace {
struct OrderBlocks : tile::impl::TileOrderBlocksBase<OrderBlocks> {
  using TileOrderBlocksBase::TileOrderBlocksBase;
  void runOnOperation() override;

private:
  int64_t chooseGroup(const Chip &chip);
  void walkGroups(GridOp grid, int64_t group);
};
} // namespace

static remark::RemarkOpts remarkName(StringRef name) {
  return remark::RemarkOpts::name(name).category("tile-order-blocks");
}

/// Returns the bytes of a tile.
static int64_t countBytes(RankedTensorType tile) {
  return tile.getNumElements() * tile.getElementTypeBitWidth() / 8;
}

/// Returns the number of blocks along x that share the tiles that depend on y;
/// 0 if no loop reads tiles of both kinds, which blocks could share. A
/// value that is read from memory, such as the number of a group of rows,
/// counts as equal in neighbouring blocks: blocks in which it differs share no
/// tiles, whatever their order is.
int64_t OrderBlocks::chooseGroup(const Chip &chip) {
  struct Shared {
    /// The bytes of the tiles that depend on x alone, and on y alone.
    int64_t x = 0, y = 0;
  };
  llvm::MapVector<Operation *, Shared> loops;
  GridDimensions dimensions;
  getOperation().walk([&](LoadOp load) {
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
  Shared most;
  for (auto &[loop, shared] : loops)
    if (shared.x != 0 && shared.y != 0 && shared.x + shared.y > most.x + most.y)
      most = shared;
  if (most.x == 0)
    return 0;
  // The bytes that the blocks read which run at the same time, one on each
  // multiprocessor, in groups of `group` blocks along x.
  auto count = [&](int64_t group) {
    return group * most.x +
           int64_t(llvm::divideCeil(chip.processors, group)) * most.y;
  };
  // Of groups with as many bytes, the largest: each group reads the tiles of y
  // again.
  int64_t group = 1;
  for (int64_t other = 2; other <= kMostBlocks; other *= 2)
    if (count(other) <= count(group))
      group = other;
  return group;
}

/// Replaces the first two dimensions of the grid by one. Its blocks walk over
/// `group` blocks along x, then along y, then over the next blocks along x. The
/// last group may be smaller.
void OrderBlocks::walkGroups(GridOp grid, int64_t group) {
  KernelOp kernel = getOperation();
  SmallVector<ProgramIdOp> ids[2];
  kernel.walk([&](ProgramIdOp id) {
    if (id.getAxis() != Dimension::z)
      ids[unsigned(id.getAxis())].push_back(id);
  });
  ImplicitLocOpBuilder b(grid.getLoc(), grid);
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value extents[] = {grid.getX(), grid.getY()};
  grid.getXMutable().assign(arith::MulIOp::create(b, extents[0], extents[1]));
  grid.getYMutable().assign(one);

  // A launch has fewer than 2^31 blocks along x, so 32 bits hold all numbers.
  b.setInsertionPointToStart(&kernel.getBody().front());
  auto toInteger = [&](Value value) {
    return arith::IndexCastOp::create(b, b.getI32Type(), value).getResult();
  };
  IRMapping mapping;
  Value rows = toInteger(cloneLaunchValue(b, extents[0], mapping));
  Value columns = toInteger(cloneLaunchValue(b, extents[1], mapping));
  Value id = toInteger(ProgramIdOp::create(b, Dimension::x));
  Value size = arith::ConstantIntOp::create(b, group, 32);
  Value height = arith::MinUIOp::create(b, rows, size);
  Value blocks = arith::MulIOp::create(b, height, columns);
  Value number = arith::DivUIOp::create(b, id, blocks);
  Value inGroup = arith::RemUIOp::create(b, id, blocks);
  Value first = arith::MulIOp::create(b, number, size);
  Value left = arith::SubIOp::create(b, rows, first);
  height = arith::MinUIOp::create(b, left, size);
  Value row = arith::AddIOp::create(b, first,
                                    arith::RemUIOp::create(b, inGroup, height));
  Value column = arith::DivUIOp::create(b, inGroup, height);
  // Zeros in front say that the numbers are not negative. The insertion point
  // may be one of the operations that are erased.
  Value results[] = {arith::IndexCastUIOp::create(b, b.getIndexType(), row),
                     arith::IndexCastUIOp::create(b, b.getIndexType(), column)};
  for (auto [old, index] : llvm::zip_equal(ids, results)) {
    for (ProgramIdOp op : old) {
      op.replaceAllUsesWith(index);
      op.erase();
    }
  }
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
  if (reader || matchPattern(grid.getX(), m_One()) ||
      matchPattern(grid.getY(), m_One()))
    return;
  int64_t group = given ? given->group : chooseGroup(*chip);
  if (group == 0)
    return;
  walkGroups(grid, group);
  remark::passed(kernel.getLoc(), remarkName("blocks-ordered"))
      << remark::metric("group", group);
}
