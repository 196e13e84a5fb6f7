//===- OverlapDots.cpp - Matrix products that are waited for late ---------===//
//
// In a block, a dot is started where it stands and waited for before the first
// operation that needs it to be over. Products end in the order in which they
// were started.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "tile/Analysis/SharedMemory.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILEOVERLAPDOTS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Whether only this role writes `root`, and in `block`.
static bool isScratchOf(AllocOp root, Block *block) {
  return llvm::all_of(getBufferUsers(root), [&](Operation *user) {
    bool writes =
        llvm::any_of(getSharedAccesses(user),
                     [](const SharedAccess &access) { return access.isWrite; });
    return !writes || (isa<StoreOp>(user) && user->getBlock() == block);
  });
}

/// Whether `dot` may read its operands after later operations have run: nobody
/// overwrites them without a word from this role, or only this block does.
static bool canOverlap(DotOp dot) {
  auto mma = dyn_cast_or_null<MmaAttr>(getLayoutAttr(dot.getType()));
  if (!mma || !mma.getMma().isAsync || dot.getAsync())
    return false;
  return llvm::all_of(dot->getOperands(), [&](Value operand) {
    if (!isa<BufferType>(operand.getType()))
      return true;
    AllocOp root = getRootAlloc(operand);
    return root && (isFilledInBulk(root) || isScratchOf(root, dot->getBlock()));
  });
}

/// Whether the barriers are those that the copies into `root` end.
static bool fills(Value barriers, AllocOp root) {
  return llvm::any_of(getBufferUsers(root), [&](Operation *user) {
    auto copy = dyn_cast<BulkCopyOp>(user);
    return copy && copy.getBarriers() == barriers;
  });
}

static bool reads(DotOp dot, AllocOp root) {
  return llvm::any_of(getSharedAccesses(dot), [&](const SharedAccess &access) {
    return access.root == root;
  });
}

namespace {
/// One block, from its first operation to its last.
class BlockScheduler {
public:
  explicit BlockScheduler(Block &block)
      : block(block), builder(block.getParentOp()->getContext()) {}
  void run();

private:
  /// A dot that has been started, and releases of its buffers.
  struct Started {
    DotOp dot;
    SmallVector<ArriveBarrierOp, 1> releases;
  };

  bool needs(Operation *op, Started &started);
  Value findHazard(Operation *op);
  bool followsAccess(ArriveBarrierOp release);
  void complete(size_t count, Operation *before, Value alongside = {});

  Block &block;
  OpBuilder builder;
  SmallVector<Started> started;
};
} // namespace

/// The value that a dot reads from registers while it runs, as the block of a
/// loop knows it: what the next iteration passes in the same place is written
/// to the same registers.
static BlockArgument carriedOperand(DotOp dot) {
  Value a = dot.getA();
  while (auto convert = a.getDefiningOp<ConvertLayoutOp>())
    a = convert.getSource();
  auto argument = dyn_cast<BlockArgument>(a);
  if (!argument || argument.getOwner() != dot->getBlock() ||
      !isa<scf::ForOp>(dot->getBlock()->getParentOp()))
    return {};
  return argument;
}

/// What `op` computes from and may not before a running product is over, since
/// it overwrites an operand of that product; or null.
Value BlockScheduler::findHazard(Operation *op) {
  for (Started &each : started) {
    BlockArgument carried = carriedOperand(each.dot);
    if (!carried)
      continue;
    Value next = block.getTerminator()->getOperand(carried.getArgNumber() - 1);
    // Conversions are none here, and what a loop starts from is in the
    // registers of what it ends with.
    while (Operation *source = next.getDefiningOp()) {
      if (auto convert = dyn_cast<ConvertLayoutOp>(source))
        next = convert.getSource();
      else if (auto loop = dyn_cast<scf::ForOp>(source))
        next = loop.getInitArgs()[cast<OpResult>(next).getResultNumber()];
      else
        break;
    }
    if (next.getDefiningOp() == op && op->getNumOperands() == 1 &&
        isa<RankedTensorType>(op->getOperand(0).getType()) &&
        getElementTypeOrSelf(op->getOperand(0)).isF32())
      return op->getOperand(0);
  }
  return {};
}

/// Whether `op` must not run before the product is over.
bool BlockScheduler::needs(Operation *op, Started &each) {
  DotOp dot = each.dot;
  if (op->hasTrait<OpTrait::IsTerminator>() || isa<BarrierOp>(op))
    return true;
  for (Operation *user : dot->getUsers())
    if (op == user || op->isProperAncestor(user))
      return true;
  if (op->getNumRegions() != 0)
    return true;
  for (const SharedAccess &access : getSharedAccesses(op))
    if (access.isWrite && reads(dot, access.root))
      return true;
  // The producer may wait for what this product still holds.
  auto wait = dyn_cast<WaitBarrierOp>(op);
  if (!wait)
    return false;
  return !each.releases.empty() &&
         llvm::any_of(dot->getOperands(), [&](Value operand) {
           return isa<BufferType>(operand.getType()) &&
                  fills(wait.getBarriers(), getRootAlloc(operand));
         });
}

/// Whether `op` computes nothing but from what lies in shared memory and from
/// what comes from outside of its block.
static bool isRead(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getBuffer().getType().isShared();
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           Operation *source = operand.getDefiningOp();
           return source
                      ? source->getBlock() != op->getBlock() || isRead(source)
                      : !isa<RankedTensorType>(operand.getType());
         });
}

/// The first of the operations right before `op` that only bring it what lies
/// in shared memory: after the wait, that takes no registers beside the product
/// in flight.
static Operation *firstOfReads(Operation *op) {
  Operation *first = op;
  for (Operation *each = op->getPrevNode(); each; each = each->getPrevNode()) {
    if (!isRead(each) &&
        !isa<WaitBarrierOp, ArriveBarrierOp, FenceAsyncOp>(each))
      break;
    if (isa<WaitBarrierOp, LoadOp>(each))
      first = each;
  }
  return first;
}

/// Waits for the oldest `count` products before `before`. `alongside`, if any,
/// is handed on by the wait, too, for `before`.
void BlockScheduler::complete(size_t count, Operation *before,
                              Value alongside) {
  if (count == 0)
    return;
  if (before)
    builder.setInsertionPoint(alongside ? before : firstOfReads(before));
  else
    builder.setInsertionPointToEnd(&block);
  SmallVector<Value> values;
  for (Started &each : MutableArrayRef(started).take_front(count))
    values.push_back(each.dot.getResult());
  if (alongside)
    values.push_back(alongside);
  auto wait = WaitDotsOp::create(
      builder, started.front().dot.getLoc(), TypeRange(ValueRange(values)),
      builder.getI32IntegerAttr(started.size() - count), values);
  for (size_t i = 0; i < count; ++i) {
    started[i].dot.getResult().replaceAllUsesExcept(wait.getResult(i), wait);
    for (ArriveBarrierOp release : started[i].releases)
      release->moveBefore(&block, builder.getInsertionPoint());
  }
  if (alongside)
    before->replaceUsesOfWith(alongside, wait.getResults().back());
  started.erase(started.begin(), started.begin() + count);
}

/// Whether this hands on what threads have stored, or threads have read what it
/// releases, and no product in flight.
bool BlockScheduler::followsAccess(ArriveBarrierOp release) {
  Operation *op = release->getPrevNode();
  while (isa_and_nonnull<FenceAsyncOp>(op))
    op = op->getPrevNode();
  if (isa_and_nonnull<StoreOp>(op))
    return true;
  auto load = dyn_cast_or_null<LoadOp>(op);
  AllocOp root = load ? getRootAlloc(load.getBuffer()) : AllocOp();
  return root && llvm::none_of(started, [&](const Started &each) {
           return reads(each.dot, root);
         });
}

void BlockScheduler::run() {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto release = dyn_cast<ArriveBarrierOp>(op)) {
      // Belongs to the last product that has read the buffer, if one has.
      if (!started.empty() && !followsAccess(release))
        started.back().releases.push_back(release);
      continue;
    }
    size_t count = 0;
    for (size_t i = 0; i < started.size(); ++i)
      if (needs(&op, started[i]))
        count = i + 1;
    Value hazard = findHazard(&op);
    if (hazard)
      count = started.size();
    complete(count, &op, hazard);
    if (auto dot = dyn_cast<DotOp>(op); dot && canOverlap(dot)) {
      dot.setAsync(true);
      started.push_back({dot, {}});
    }
  }
  // A role ends without a terminator.
  complete(started.size(), nullptr);
}

/// Dots of a block of which several are started before one is waited for are
/// started in one turn.
static void takeTurns(Block &block) {
  DotOp first, last;
  auto finish = [&] {
    if (first != last) {
      OpBuilder builder(first);
      AwaitTurnOp::create(builder, first.getLoc());
      builder.setInsertionPointAfter(last);
      PassTurnOp::create(builder, last.getLoc());
    }
    first = last = {};
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto dot = dyn_cast<DotOp>(op); dot && dot.getAsync()) {
      first = first ? first : dot;
      last = dot;
    } else if (isa<WaitDotsOp>(op)) {
      finish();
    }
  }
  finish();
}

namespace {
struct OverlapDots : tile::impl::TileOverlapDotsBase<OverlapDots> {
  using TileOverlapDotsBase::TileOverlapDotsBase;

  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation().walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          if (!block.getOps<DotOp>().empty())
            blocks.push_back(&block);
    });
    for (Block *block : blocks)
      BlockScheduler(*block).run();
    Schedule schedule = getSchedule(getOperation());
    bool turns = schedule.takesTurns();
    schedule.turns.reset();
    setSchedule(getOperation(), schedule);
    if (!turns)
      return;
    // The first role is the one that multiplies.
    for (auto roles : getOperation().getBody().front().getOps<WarpRolesOp>())
      if (int32_t warps = roles.getWarps().front(); warps % 4 == 0 && warps > 4)
        for (Block *block : blocks)
          if (roles->isAncestor(block->getParentOp()))
            takeTurns(*block);
  }
};
} // namespace
