//===- LoadAhead.cpp - Loads of later iterations --------------------------===//
//
// In a loop without products, a thread issues its loads at the start of an
// iteration and waits for them. Loads of a later iteration that are issued
// there instead arrive while this iteration computes.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/CostModel.h"
#include "tile/Analysis/Registers.h"
#include "tile/Analysis/RolePlan.h"
#include "tile/Analysis/RowRuns.h"
#include "tile/Analysis/RunAhead.h"
#include "tile/Dialect/Tile/IR/Contains.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include <cmath>

namespace tile {
#define GEN_PASS_DEF_TILELOADAHEAD
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// The most iterations by which a load is ahead. More add copies of registers.
static constexpr int64_t kMostDistance = 4;

/// The most blocks of a multiprocessor that copy to shared memory although
/// their threads do not wait for each other. More of them wait at different
/// times.
static constexpr int64_t kMostCopyingBlocks = 2;

/// Words that a thread copies in an iteration in little time (H100: 8 are
/// faster in shared memory than in registers, 16 are slower).
static constexpr int64_t kSmallCopy = 8;

/// The share of the blocks of a multiprocessor that must still have room.
static constexpr double kLeastBlockShare = 0.8;

namespace {
/// A load of a loop, and the operations in the loop that its place depends on.
struct AheadLoad {
  Operation *load;
  llvm::SetVector<Operation *> slice;
};

struct LoadAhead : tile::impl::TileLoadAheadBase<LoadAhead> {
  using TileLoadAheadBase::TileLoadAheadBase;

  void runOnOperation() override;

private:
  SmallVector<AheadLoad> findLoads(scf::ForOp loop, RunAhead &runAhead);
};
} // namespace

/// Returns true if a thread loads each element of the tile alone.
static bool isSingle(LoadOp load) {
  return hasSingleAccesses(load.getBuffer().getType());
}

/// Returns true if an iteration uses the result of `load`, and does not only
/// yield it.
static bool isAwaited(Operation *load) {
  return llvm::any_of(load->getUsers(), [](Operation *user) {
    return !user->hasTrait<OpTrait::IsTerminator>();
  });
}

/// Returns the loads of the body of `loop` whose places in later iterations are
/// known in this one.
SmallVector<AheadLoad> LoadAhead::findLoads(scf::ForOp loop,
                                            RunAhead &runAhead) {
  SmallVector<AheadLoad> found;
  for (Operation &op : loop.getBody()->without_terminator()) {
    AheadLoad ahead{&op, {}};
    if (!isAwaited(&op))
      continue;
    if (auto load = dyn_cast<LoadOp>(op)) {
      // Copies to shared memory run ahead in tile-pipeline.
      if (load.getBuffer().getType().isShared() ||
          isSharedTile(load.getType()) || runAhead.checkLoad(load, loop))
        continue;
    } else if (auto scalar = dyn_cast<LoadScalarOp>(op)) {
      if (!runAhead.isRepeatable(scalar))
        continue;
    } else {
      continue;
    }
    if (llvm::any_of(op.getOperands(), [&](Value operand) {
          return runAhead.checkValue(operand, loop, &ahead.slice).has_value();
        }))
      continue;
    // A load that is the same in all iterations stands in front of the loop.
    bool depends = llvm::is_contained(op.getOperands(), loop.getInductionVar());
    for (Operation *inner : ahead.slice)
      depends |=
          llvm::is_contained(inner->getOperands(), loop.getInductionVar());
    bool isFlat = llvm::all_of(ahead.slice, [&](Operation *inner) {
      return inner->getBlock() == loop.getBody();
    });
    if (depends && isFlat)
      found.push_back(std::move(ahead));
  }
  return found;
}

/// Returns the results of `loads` in the iteration `distance` after the one
/// with `iv`, or zeros if the loop ends before.
static ValueRange createLoads(ImplicitLocOpBuilder &b, scf::ForOp loop,
                              ArrayRef<AheadLoad> loads, Value iv,
                              int64_t distance) {
  auto factor = b.getIntegerAttr(iv.getType(), distance);
  Value offset = arith::MulIOp::create(b, loop.getStep(),
                                       arith::ConstantOp::create(b, factor));
  Value left = arith::SubIOp::create(b, loop.getUpperBound(), iv);
  Value exists =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, left, offset);
  auto load = [&](OpBuilder &nested, Location loc) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(),
                arith::AddIOp::create(nested, loc, iv, offset));
    SmallVector<Value> results;
    for (Operation &op : *loop.getBody()) {
      if (llvm::any_of(loads, [&](const AheadLoad &ahead) {
            return ahead.slice.contains(&op);
          }))
        nested.clone(op, mapping);
    }
    for (const AheadLoad &ahead : loads)
      results.push_back(nested.clone(*ahead.load, mapping)->getResult(0));
    scf::YieldOp::create(nested, loc, results);
  };
  auto fill = [&](OpBuilder &nested, Location loc) {
    SmallVector<Value> zeros;
    for (const AheadLoad &ahead : loads)
      zeros.push_back(arith::ConstantOp::create(
          nested, loc, nested.getZeroAttr(ahead.load->getResult(0).getType())));
    scf::YieldOp::create(nested, loc, zeros);
  };
  return scf::IfOp::create(b, exists, load, fill).getResults();
}

/// Lets `loop` carry the results of `loads` for `distance` iterations, in
/// shared memory or in registers.
static void carryLoads(scf::ForOp loop, ArrayRef<AheadLoad> loads,
                       int64_t distance, bool isShared) {
  IRRewriter rewriter(loop.getContext());
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  SmallVector<Value> first;
  for (int64_t i = 0; i < distance; ++i)
    llvm::append_range(first,
                       createLoads(b, loop, loads, loop.getLowerBound(), i));
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next(
      createLoads(b, loop, loads, loop.getInductionVar(), distance));

  // An iteration uses the oldest loads, yields the others, and adds its own.
  auto carried = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, first, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
        SmallVector<Value> yielded(arguments.drop_front(loads.size()));
        yielded.append(next);
        return yielded;
      }));
  auto arguments = carried.getRegionIterArgs().take_back(first.size());
  for (auto [ahead, argument] :
       llvm::zip_equal(loads, arguments.take_front(loads.size()))) {
    rewriter.replaceAllUsesWith(ahead.load->getResult(0), argument);
    rewriter.eraseOp(ahead.load);
  }
  if (!isShared) {
    if (llvm::any_of(loads, [](const AheadLoad &ahead) {
          return isa<LoadScalarOp>(ahead.load);
        }))
      next.front().getDefiningOp()->setAttr(kNumbersAheadAttr,
                                            b.getI64IntegerAttr(distance));
    return;
  }
  Schedule schedule = getSchedule(carried);
  schedule.stages = distance;
  schedule.keepLoops = true;
  setSchedule(carried, schedule);
}

/// Returns the warps of a block, of which a cluster may run a program.
static int64_t countBlockWarps(KernelOp kernel, const Chip &chip) {
  int64_t warps = kernel.getNumWarps();
  return warps / countClusterBlocks(chip, warps);
}

/// Returns the iterations by which loads must be ahead so that those of a
/// multiprocessor use the rate of global memory, or come close to it. Each
/// iteration adds `each` registers to the `before` that a thread takes; nearly
/// as many blocks must have room as without them.
static int64_t getDistance(KernelOp kernel, const Chip &chip, int64_t each,
                           int64_t before) {
  int64_t warps = countBlockWarps(kernel, chip);
  double needed = (kCopyLatency + kMemoryLatency) * chip.throughput.memoryBytes;
  // The limit of the blocks does not matter: registers that it leaves free are
  // those that the back end takes beyond the estimate.
  auto countBlocks = [&](int64_t distance) {
    int64_t threads = warps * chip.warpSize;
    int64_t registers = before + distance * each + kLeastRegisterMargin;
    return std::max<int64_t>(
        std::min(chip.throughput.registers / (registers * threads),
                 chip.throughput.threads / threads),
        1);
  };
  int64_t best = 0;
  double most = 0;
  // With fewer blocks, other loops have fewer loads in flight. Blocks that the
  // grid does not have need no room.
  int64_t blocks = countBlocks(0);
  blocks = std::min<int64_t>(kernel.getGridBlocks().value_or(blocks), blocks);
  while (best < kMostDistance && most < needed &&
         countBlocks(best + 1) >= kLeastBlockShare * blocks) {
    ++best;
    most = double(countBlocks(best) * warps * chip.warpSize) * best * each * 4;
  }
  return best;
}

/// Returns the iterations by which copies to shared memory must be ahead, so
/// that those of a multiprocessor use the rate of global memory; more take
/// memory from the first-level cache. Returns 0 if copies do not fit beside the
/// `used` bytes of a block, or if the `before` registers of a thread leave room
/// for several blocks. With `isTogether`, the threads of a block wait for each
/// other.
static int64_t getCopyDistance(KernelOp kernel, const Chip &chip, int64_t each,
                               int64_t before, int64_t used, bool isTogether) {
  int64_t warps = countBlockWarps(kernel, chip);
  double needed = (kCopyLatency + kMemoryLatency) * chip.throughput.memoryBytes;
  int64_t registers = before + kLeastRegisterMargin;
  int64_t blocks = countResidentBlocks(chip, warps, registers);
  if (!chip.asyncCopy.isDefault || (!isTogether && blocks > kMostCopyingBlocks))
    return 0;
  if (isTogether && blocks <= 1)
    blocks = countResidentBlocks(chip, warps,
                                 registers - int64_t(kSparedRegisters * each));
  int64_t bytes = warps * chip.warpSize * each * 4;
  // The slots of the iterations ahead and that of this one.
  auto countSlots = [&] {
    return (getSharedLimit(chip, blocks) - used) / bytes - 1;
  };
  while (isTogether && blocks > 1 && countSlots() < 1)
    --blocks;
  int64_t most = countSlots();
  // Of many blocks, some compute while others wait: a little less on the way
  // costs less than a further slot.
  double spared = blocks > kMostCopyingBlocks ? 0.5 : 0;
  int64_t wanted = std::ceil(needed / double(blocks * bytes) - spared);
  wanted = std::max<int64_t>(wanted, 1);
  return std::max<int64_t>(std::min({wanted, most, kMostDistance}), 0);
}

/// Returns true if the warps of a block exchange elements in `loop`.
static bool waitsForOthers(scf::ForOp loop) {
  return containsOp<ReduceOp>(loop, combinesWarps);
}

/// Returns true if a thread waits at `op` for the load of a scalar.
static bool awaitsScalar(Operation *op) {
  return llvm::any_of(op->getOperands(), [](Value operand) {
    return operand.getDefiningOp<LoadScalarOp>() != nullptr;
  });
}

/// Returns true if a load may stand in front of `op`, where its registers cost
/// nothing: `op` computes or loads scalars, or tiles that take no registers.
static bool mayFollow(Operation *op) {
  if (op->getNumRegions() != 0 || !(isPure(op) || isa<LoadScalarOp>(op)))
    return false;
  auto takesRegisters = [](Value value) {
    return isa<RankedTensorType>(value.getType()) &&
           !isFunctionOfCoordinates(value);
  };
  return llvm::none_of(op->getOperands(), takesRegisters) &&
         llvm::none_of(op->getResults(), takesRegisters);
}

/// Moves `load` in front of the operations before it that wait for scalars
/// which it does not need, together with the operations that compute its
/// operands.
static void hoist(LoadOp load) {
  SmallVector<Operation *> moved{load};
  llvm::SmallPtrSet<Operation *, 8> needed;
  auto need = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *definition = operand.getDefiningOp())
        needed.insert(definition);
  };
  need(load);
  // The moved operations follow each other in front of `place`.
  Operation *place = nullptr;
  size_t count = 0;
  for (Operation *op = load->getPrevNode(); op && mayFollow(op);
       op = op->getPrevNode()) {
    if (needed.contains(op)) {
      if (!isPure(op) || awaitsScalar(op))
        break;
      moved.push_back(op);
      need(op);
    } else if (awaitsScalar(op)) {
      place = op;
      count = moved.size();
    }
  }
  if (!place)
    return;
  for (Operation *op : llvm::reverse(ArrayRef(moved).take_front(count)))
    op->moveBefore(place);
}

void LoadAhead::runOnOperation() {
  KernelOp kernel = getOperation();
  const Chip *chip = getTargetChip(kernel);
  if (!chip)
    return signalPassFailure();
  if (getSchedule(kernel).keepsLoops())
    return;
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) {
    bool isSimple =
        !loop.getBody()
             ->walk([](Operation *op) {
               return WalkResult(success(!isa<DotOp, LoopLikeOpInterface>(op)));
             })
             .wasInterrupted();
    if (isSimple && !getSchedule(loop).keepsLoops())
      loops.push_back(loop);
  });
  int64_t limit = getRegisterLimit(kernel, *chip);
  RunAhead runAhead(kernel);
  // Bytes of shared memory of a block for copies.
  int64_t copied = 0;
  for (scf::ForOp loop : loops) {
    SmallVector<AheadLoad> loads = findLoads(loop, runAhead);
    // Rows that begin anywhere are copied to shared memory in aligned words,
    // where the barrier for that is one of several.
    bool copiesRows =
        waitsForOthers(loop) && !loop->getParentOfType<WarpRolesOp>();
    auto isAlone = [&](const AheadLoad &ahead) {
      auto load = dyn_cast<LoadOp>(ahead.load);
      return load && isSingle(load) &&
             !(copiesRows &&
               findRowRun(load, *chip, kernel.getNumWarps()).has_value());
    };
    bool hasAlone = llvm::any_of(loads, isAlone);
    // An element that is loaded alone has a register of its own.
    int64_t each = 0, unpacked = 0;
    bool hasSingle = false;
    for (const AheadLoad &ahead : loads) {
      auto load = dyn_cast<LoadOp>(ahead.load);
      if (!load)
        continue;
      int64_t registers = countRegisters(load.getType());
      each += registers;
      hasSingle |= isSingle(load);
      if (isSingle(load) && load.getType().getElementTypeBitWidth() == 16)
        unpacked += registers;
    }
    // Those of rows in shared memory are not.
    copiesRows = hasSingle && !hasAlone;
    if (!copiesRows)
      each += unpacked;
    // Scalars alone are not worth the copies of the loads.
    if (each == 0)
      continue;
    auto name =
        remark::RemarkOpts::name("loads-ahead").category("tile-load-ahead");
    int64_t estimate = estimateRegisters(kernel).total;
    int64_t before = estimate + unpacked;
    // A thread that carries results in registers waits for them at the end of
    // the iteration that loads them, where it moves them to those of the next
    // one. Where threads wait for each other, all of them wait with it.
    // Of several blocks, others run then, unless they are blocks of a cluster,
    // which wait for each other, too; small copies pay nevertheless.
    int64_t blockWarps = countBlockWarps(kernel, *chip);
    int64_t blocks =
        countResidentBlocks(*chip, blockWarps, before + kLeastRegisterMargin);
    bool isTogether = (blocks == 1 || kernel.getNumWarps() > blockWarps ||
                       each <= kSmallCopy) &&
                      waitsForOthers(loop);
    int64_t chosen = distance ? distance
                     : isTogether || copiesRows
                         ? 0
                         : getDistance(kernel, *chip, each, before);
    // Their addresses take registers, too.
    int64_t most = (limit - kLeastRegisterMargin - before) / each;
    chosen = std::min(chosen, most);
    // Asynchronous copies have a word at least. Another path of the kernel may
    // be the one that takes the registers.
    if (chosen <= 0 && !distance && !hasAlone &&
        estimateRegisters(kernel, loop).total == estimate) {
      chosen = getCopyDistance(kernel, *chip, each, before, copied, isTogether);
      if (chosen > 0) {
        int64_t bytes = (chosen + 1) * blockWarps * chip->warpSize * each * 4;
        copied += bytes;
        remark::passed(loop.getLoc(), name)
            << remark::metric("loads", loads.size())
            << remark::metric("iterations", chosen)
            << remark::metric("shared bytes", bytes);
        carryLoads(loop, loads, chosen, /*isShared=*/true);
        continue;
      }
    }
    // Elements that are loaded alone take so many registers that a block less
    // fits: of two blocks, one loads while the other one computes.
    bool isSpread = waitsForOthers(loop) && (hasAlone || copiesRows);
    if (isSpread && !distance)
      chosen = 0;
    else if (chosen <= 0 && isTogether)
      chosen = std::min(getDistance(kernel, *chip, each, before), most);
    if (chosen <= 0) {
      auto remark = remark::missed(loop.getLoc(), name);
      if (isSpread)
        remark << remark::reason(
            "elements are loaded alone: {0} registers more would take the "
            "place of a block that runs while the warps of another one wait "
            "for each other",
            each);
      else
        remark << remark::reason(
            "the loads of an iteration take {0} registers beside {1}", each,
            before);
      continue;
    }
    remark::passed(loop.getLoc(), name)
        << remark::metric("loads", loads.size())
        << remark::metric("iterations", chosen)
        << remark::metric("registers", chosen * each);
    carryLoads(loop, loads, chosen, /*isShared=*/false);
  }
  SmallVector<LoadOp> others;
  kernel.walk([&](LoadOp load) {
    if (!load.getBuffer().getType().isShared() &&
        !feedsOnlyProducts(load.getResult()))
      others.push_back(load);
  });
  for (LoadOp load : others)
    hoist(load);
}
