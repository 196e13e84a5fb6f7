//===- OverlapDots.cpp - Matrix products that are awaited late ------------===//
//
// In a block, a dot is started where it stands and awaited before the first
// operation that needs it to be finished. Products end in the order in which
// they were started. Without warp roles, a dot that adds to one in flight does
// not wait for it.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "tile/Analysis/SharedMemory.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace tile {
#define GEN_PASS_DEF_TILEOVERLAPDOTS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Returns true if only this role writes `root`, and only in `block`.
static bool isScratchOf(AllocOp root, Block *block) {
  return llvm::all_of(getBufferUsers(root), [&](Operation *user) {
    bool writes =
        llvm::any_of(getSharedAccesses(user),
                     [](const SharedAccess &access) { return access.isWrite; });
    return !writes || (isa<StoreOp>(user) && user->getBlock() == block);
  });
}

/// Returns the slot that `buffer` is a view of; null if it is none.
static RingTakeOp getSlotOf(Value buffer) {
  Operation *op = buffer.getDefiningOp();
  while (isa_and_nonnull<SliceOp, TransposeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return dyn_cast_or_null<RingTakeOp>(op);
}

/// Returns true if `dot` may read its operands while later operations run:
/// slots are filled again only after this role has released them, or only this
/// block writes them.
static bool canOverlap(DotOp dot) {
  if (dot.getAsync())
    return false;
  auto mma = dyn_cast_or_null<MmaAttr>(getLayoutAttr(dot.getTile()));
  if (!mma || !mma.getMma().isAsync)
    return false;
  return llvm::all_of(dot->getOperands(), [&](Value operand) {
    if (!isa<BufferType>(operand.getType()))
      return true;
    AllocOp root = getRootAlloc(operand);
    return root && (getSlotOf(operand) || isFilledInBulk(root) ||
                    isScratchOf(root, dot->getBlock()));
  });
}

static bool reads(DotOp dot, AllocOp root) {
  return llvm::any_of(getSharedAccesses(dot), [&](const SharedAccess &access) {
    return access.root == root;
  });
}

/// Returns true if `dot` reads the slot of `take`.
static bool reads(DotOp dot, RingTakeOp take) {
  return llvm::any_of(dot->getOperands(), [&](Value operand) {
    return getSlotOf(operand) == take;
  });
}

namespace {
/// The values that share registers: an argument of a loop, its initial value,
/// the value that the loop yields for it, and the result; a value and its
/// conversions.
class SharedRegisters {
public:
  explicit SharedRegisters(Operation *root) {
    root->walk([&](scf::ForOp loop) {
      for (auto [argument, initial, yielded, result] :
           llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs(),
                           loop.getYieldedValues(), loop.getResults())) {
        classes.unionSets(argument, yielded);
        classes.unionSets(argument, result);
        // Each loop has its own copy of a constant.
        if (!matchPattern(initial, m_Constant()))
          classes.unionSets(argument, initial);
      }
    });
    root->walk([&](ConvertLayoutOp convert) {
      classes.unionSets(convert.getSource(), convert.getResult());
    });
  }

  bool share(Value a, Value b) const { return classes.isEquivalent(a, b); }

private:
  llvm::EquivalenceClasses<Value> classes;
};

/// Schedules the products of one block.
class BlockScheduler {
public:
  BlockScheduler(Block &block, const SharedRegisters &registers)
      : block(block), registers(registers),
        builder(block.getParentOp()->getContext()) {}
  void run();

private:
  /// A product in flight, the releases of slots that wait for its end, and
  /// whether another product in flight adds to it.
  struct Started {
    DotOp dot;
    SmallVector<RingReleaseOp, 1> releases;
    bool isContinued = false;
  };

  bool needs(Operation *op, Started &started);
  bool continues(DotOp next, const Started &each) const;
  bool overwrites(Operation *op) const;
  void hold(RingReleaseOp release);
  void complete(size_t count, Operation *before, ValueRange values = {});

  Block &block;
  const SharedRegisters &registers;
  OpBuilder builder;
  SmallVector<Started> started;
};
} // namespace

/// Returns true if a product in flight reads registers that `op` writes: the
/// result of `op` is carried to the argument that the product reads.
bool BlockScheduler::overwrites(Operation *op) const {
  // Conversions move nothing here. All products end before a region.
  if (isa<ConvertLayoutOp>(op) || op->getNumRegions() != 0)
    return false;
  return llvm::any_of(started, [&](const Started &each) {
    DotOp dot = each.dot;
    return llvm::any_of(op->getResults(), [&](Value result) {
      return registers.share(dot.getA(), result) ||
             registers.share(dot.getB(), result);
    });
  });
}

/// Returns the operands of `op` that an await can hand on, which are tiles of
/// f32 or i32. Results of the await keep `op` after it.
static SmallVector<Value> getAwaitable(Operation *op) {
  return llvm::filter_to_vector(op->getOperands(), [](Value operand) {
    Type element = getElementTypeOrSelf(operand);
    return isa<RankedTensorType>(operand.getType()) &&
           (element.isF32() || element.isInteger(32));
  });
}

/// Returns true if `op` must not run before the product is finished.
bool BlockScheduler::needs(Operation *op, Started &each) {
  DotOp dot = each.dot;
  // The author's mbarriers may release what the product reads.
  if (op->hasTrait<OpTrait::IsTerminator>() ||
      isa<BarrierOp, ArriveBarrierOp>(op))
    return true;
  for (Operation *user : dot->getUsers())
    if (!each.isContinued && (op == user || op->isProperAncestor(user)))
      return true;
  if (op->getNumRegions() != 0)
    return true;
  for (const SharedAccess &access : getSharedAccesses(op))
    if (access.isWrite && reads(dot, access.root))
      return true;
  // The ring may not advance until the product releases a slot.
  return isa<RingTakeOp, RingAcquireOp>(op) &&
         llvm::any_of(each.releases, [&](RingReleaseOp release) {
           return getRing(release.getSlot()).getRing() == op->getOperand(0);
         });
}

/// Returns true if `next` may add to the product while that is in flight. With
/// warp roles, other warpgroups use the matrix unit in between, and are slower
/// if they cannot (docs/notes/hopper-backward.md).
bool BlockScheduler::continues(DotOp next, const Started &each) const {
  Value sum = each.dot->getResult(0);
  return next.getAcc() == sum && sum.hasOneUse() && canOverlap(next) &&
         !next->getParentOfType<WarpRolesOp>();
}

/// Returns true if `op` reads shared memory or computes only from values that
/// do so or come from outside of its block.
static bool isRead(Operation *op) {
  if (isa<RingTakeOp>(op))
    return true;
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

/// Returns the first of the operations right before `op` that only wait for
/// slots and read shared memory for it. After the await, their results take no
/// registers beside those of the product in flight.
static Operation *firstOfReads(Operation *op) {
  Operation *first = op;
  for (Operation *each = op->getPrevNode(); each; each = each->getPrevNode()) {
    if (!isRead(each) && !isa<RingAcquireOp, RingReleaseOp>(each))
      break;
    if (isa<RingTakeOp, RingAcquireOp, LoadOp>(each))
      first = each;
  }
  return first;
}

/// Inserts an await of the oldest `count` products before `before`, or at the
/// end of the block if `before` is null. `before` takes `values` from the
/// results of the await, so that it cannot move ahead of it.
void BlockScheduler::complete(size_t count, Operation *before,
                              ValueRange values) {
  if (count == 0)
    return;
  if (before)
    builder.setInsertionPoint(values.empty() ? firstOfReads(before) : before);
  else
    builder.setInsertionPointToEnd(&block);
  SmallVector<Value> products;
  for (const Started &each : ArrayRef(started).take_front(count))
    if (!each.isContinued)
      products.push_back(each.dot->getResult(0));
  auto await =
      AwaitOp::create(builder, started.front().dot.getLoc(), products, values);
  for (auto [i, product] : llvm::enumerate(products))
    product.replaceAllUsesExcept(await.getResult(i), await);
  for (const Started &each : ArrayRef(started).take_front(count))
    for (RingReleaseOp release : each.releases)
      release->moveBefore(&block, builder.getInsertionPoint());
  for (auto [value, handed] :
       llvm::zip_equal(values, await.getResults().drop_front(products.size())))
    before->replaceUsesOfWith(value, handed);
  started.erase(started.begin(), started.begin() + count);
}

/// Makes `release` wait for the last product in flight that reads its slot.
void BlockScheduler::hold(RingReleaseOp release) {
  auto take = release.getSlot().getDefiningOp<RingTakeOp>();
  for (Started &each : llvm::reverse(started))
    if (take && reads(each.dot, take)) {
      each.releases.push_back(release);
      return;
    }
}

void BlockScheduler::run() {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto release = dyn_cast<RingReleaseOp>(op)) {
      hold(release);
      continue;
    }
    auto dot = dyn_cast<DotOp>(op);
    size_t count = 0;
    for (size_t i = 0; i < started.size(); ++i)
      if (!(dot && continues(dot, started[i])) && needs(&op, started[i]))
        count = i + 1;
    SmallVector<Value> values;
    if (overwrites(&op)) {
      count = started.size();
      values = getAwaitable(&op);
    }
    // A product ends with those that add to it.
    while (count > 0 && started[count - 1].isContinued)
      ++count;
    complete(count, &op, values);
    if (dot && canOverlap(dot)) {
      for (Started &each : started)
        each.isContinued |= continues(dot, each);
      dot.setAsync(true);
      dot.getResult().setType(
          PendingType::get(dot.getContext(), dot.getTile()));
      started.push_back({dot, {}, /*isContinued=*/false});
    }
  }
  // A role ends without a terminator.
  complete(started.size(), nullptr);
}

/// Moves scalar operations in front of the first products of `block` behind
/// their start if nothing needs the results before: they run beside the
/// products.
static void delayScalars(Block &block) {
  auto awaits = block.getOps<AwaitOp>();
  if (awaits.empty())
    return;
  Operation *place = *awaits.begin();
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  for (Operation *op = place->getPrevNode(), *before; op; op = before) {
    before = op->getPrevNode();
    if (op->getNumRegions() != 0 || op->getNumResults() == 0 ||
        !isMemoryEffectFree(op) ||
        !llvm::all_of(op->getResultTypes(), isScalar))
      continue;
    bool isNeeded = llvm::any_of(op->getUsers(), [&](Operation *user) {
      return block.findAncestorOpInBlock(*user)->isBeforeInBlock(place);
    });
    if (isNeeded)
      continue;
    op->moveBefore(place);
    place = op;
  }
}

/// Makes warpgroups take turns at each group of dots of `block` that are
/// started before one of them is awaited.
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
    } else if (isa<AwaitOp>(op)) {
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
    SharedRegisters registers(getOperation());
    for (Block *block : blocks) {
      BlockScheduler(*block, registers).run();
      delayScalars(*block);
    }
    Schedule schedule = getSchedule(getOperation());
    bool turns = schedule.takesTurns();
    schedule.turns.reset();
    setSchedule(getOperation(), schedule);
    if (!turns)
      return;
    // The first role has the consumer warps.
    for (auto roles : getOperation().getBody().front().getOps<WarpRolesOp>())
      if (int64_t warps = roles.getWarps().front();
          warps % kWarpgroupWarps == 0 && warps > kWarpgroupWarps)
        for (Block *block : blocks)
          if (roles->isAncestor(block->getParentOp()))
            takeTurns(*block);
  }
};
} // namespace
