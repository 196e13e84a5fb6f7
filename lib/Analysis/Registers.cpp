//===- Registers.cpp - Registers of a thread ------------------------------===//

#include "tile/Analysis/Registers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "tile/Dialect/Tile/IR/Contains.h"
#include "tile/Layout/Queries.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

int64_t tile::countRegisters(RankedTensorType tile) {
  if (isSharedTile(tile))
    return 0;
  int64_t bits = tile.getElementTypeBitWidth();
  return llvm::divideCeil(getCanonicalLayout(tile).axisSize(kRegister) *
                              (bits < 8 ? 32 : bits),
                          32);
}

bool tile::combinesWarps(ReduceOp reduce) {
  auto tile = cast<RankedTensorType>(reduce.getSource().getType());
  return getLayoutAttr(tile) &&
         getCanonicalLayout(tile).runInWarps(reduce.getDim()) !=
             tile.getDimSize(reduce.getDim());
}

bool tile::feedsOnlyProducts(Value value) {
  SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i)
    for (OpOperand &use : values[i].getUses()) {
      Operation *user = use.getOwner();
      if (auto dot = dyn_cast<DotOp>(user)) {
        if (&use == &dot.getAccMutable())
          return false;
      } else if (user->hasTrait<OpTrait::Elementwise>() ||
                 isa<TransposeOp>(user)) {
        values.insert_range(user->getResults());
      } else {
        return false;
      }
    }
  return true;
}

bool tile::isFunctionOfCoordinates(Value value) {
  SetVector<Value> tiles;
  tiles.insert(value);
  for (size_t i = 0; i < tiles.size(); ++i) {
    Operation *op = tiles[i].getDefiningOp();
    if (!op || op->getNumRegions() != 0 || !isMemoryEffectFree(op) ||
        isa<AssociativeScanOp, DotOp, ReduceOp, ScanOp>(op))
      return false;
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType, PendingType>(operand.getType()))
        tiles.insert(operand);
  }
  return true;
}

bool tile::isMaskOfCoordinates(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  Value mask = op->getResult(0);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    mask = select.getCondition();
  return isa<RankedTensorType>(mask.getType()) &&
         getElementTypeOrSelf(mask).isSignlessInteger() &&
         isFunctionOfCoordinates(mask);
}

/// Returns true if the elements of all results of `op` are computed where they
/// are used, or are scalars.
static bool needsNoTile(Operation *op) {
  if (op->getNumRegions() != 0 || !isMemoryEffectFree(op) ||
      isa<AssociativeScanOp, DotOp, ReduceOp, ScanOp>(op))
    return false;
  return llvm::all_of(op->getResults(), [&](Value result) {
    return isa<IndexType, IntegerType, FloatType>(result.getType()) ||
           isa<BroadcastInWarpsOp, BroadcastOp>(op) ||
           (isa<RankedTensorType>(result.getType()) &&
            isFunctionOfCoordinates(result));
  });
}

ElementwiseRuns::ElementwiseRuns(Block &block, bool addsUp) {
  RankedTensorType run;
  // The operations since the last one of the run.
  SmallVector<Operation *> passed;
  auto join = [&](Operation *op) {
    before.insert(op);
    behind.insert(passed.front());
    for (Operation *between : ArrayRef(passed).drop_front()) {
      before.insert(between);
      behind.insert(between);
    }
  };
  for (Operation &op : block) {
    if (addsUp && isa<ReduceOp, ReduceInWarpsOp, ReduceInThreadsOp>(op) &&
        run && run == op.getOperand(0).getType() &&
        op.getOperand(0).getDefiningOp() == passed.front() &&
        op.getOperand(0).hasOneUse()) {
      join(&op);
      run = {};
      continue;
    }
    auto tile = op.getNumResults() == 1
                    ? dyn_cast<RankedTensorType>(op.getResult(0).getType())
                    : RankedTensorType();
    if (tile && op.hasTrait<OpTrait::Elementwise>() &&
        op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
        !isSharedTile(tile)) {
      if (run && run.getShape() == tile.getShape() &&
          run.getEncoding() == tile.getEncoding())
        join(&op);
      run = tile;
      passed = {&op};
    } else if (run && needsNoTile(&op)) {
      passed.push_back(&op);
    } else {
      run = {};
    }
  }
}

/// Returns the tile that `value` is in registers, or will be when a product in
/// flight is finished; null for other values.
static RankedTensorType getRegisterTile(Value value) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  if (auto pending = dyn_cast<PendingType>(value.getType()))
    tile = pending.getTile();
  return tile && getLayoutAttr(tile) && !isSharedTile(tile)
             ? tile
             : RankedTensorType();
}

namespace {
using ValueSet = llvm::SetVector<Value>;

class Estimator {
public:
  Estimator(Operation *within, bool addsUp) : within(within), addsUp(addsUp) {}

  void visit(Block &block, ValueSet &live);

  RegisterPeak peak;

private:
  const SmallVector<Value> &getRoots(Value value);
  SmallVector<Value> computeRoots(Value value);
  int64_t count(Value value);
  int64_t computeCount(Value value);
  void addUse(Value value, ValueSet &live);
  void addReads(Value product, ValueSet &live);
  void visitRegions(Operation *op, ValueSet &live);
  void record(Operation *op, const ValueSet &live);

  Operation *within;
  /// Whether reductions add up elements as they are computed.
  bool addsUp;
  DenseMap<Value, SmallVector<Value>> roots;
  DenseMap<Value, int64_t> counts;
};
} // namespace

/// Returns the elements of a tile that a thread holds.
static int64_t countElements(RankedTensorType tile) {
  return getCanonicalLayout(tile).axisSize(kRegister);
}

/// Returns true if `value` is a tile that a loop carries and that
/// tile-copy-ahead moves to shared memory, because tile-load-ahead has set
/// `stages` and `keep_loops` of the loop, or what the loop carries next. Its
/// elements are read where they are used, also behind barriers.
static bool isCopied(Value value) {
  auto isCarried = [](scf::ForOp loop, unsigned number) {
    Schedule schedule = getSchedule(loop);
    return schedule.stages && schedule.keepsLoops() &&
           loop.getInitArgs()[number].getDefiningOp<scf::IfOp>();
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument.getArgNumber() > 0 &&
           isCarried(loop, argument.getArgNumber() - 1);
  }
  if (!value.getDefiningOp<scf::IfOp>() || !value.hasOneUse())
    return false;
  OpOperand &use = *value.getUses().begin();
  if (auto loop = dyn_cast<scf::ForOp>(use.getOwner()))
    return use.getOperandNumber() >= loop.getNumControlOperands() &&
           isCarried(loop,
                     use.getOperandNumber() - loop.getNumControlOperands());
  auto loop = dyn_cast<scf::ForOp>(use.getOwner()->getParentOp());
  return loop && isa<scf::YieldOp>(use.getOwner()) &&
         isCarried(loop, use.getOperandNumber());
}

/// Returns the tiles whose registers `value` needs: itself if it has registers
/// of its own. The elements of other tiles are computed where they are used.
SmallVector<Value> Estimator::computeRoots(Value value) {
  RankedTensorType tile = getRegisterTile(value);
  if (!tile || isCopied(value))
    return {};
  Operation *op = value.getDefiningOp();
  if (!op)
    return {value};
  bool isView = isa<BroadcastInWarpsOp, BroadcastOp, TransposeOp>(op);
  bool isComputed =
      isView || op->hasTrait<OpTrait::Elementwise>() ||
      (op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
       llvm::none_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>));
  if (!isComputed)
    return {value};
  ValueSet sources;
  int64_t elements = 0;
  for (Value operand : op->getOperands())
    for (Value root : getRoots(operand))
      if (sources.insert(root))
        elements += countElements(getRegisterTile(root));
  // Predicates are used up one by one. Elements that are repeated along a
  // dimension are computed once.
  if (isView || tile.getElementType().isInteger(1) ||
      elements < countElements(tile))
    return llvm::to_vector(sources);
  return {value};
}

const SmallVector<Value> &Estimator::getRoots(Value value) {
  auto it = roots.find(value);
  if (it == roots.end()) {
    SmallVector<Value> found = computeRoots(value);
    it = roots.try_emplace(value, std::move(found)).first;
  }
  return it->second;
}

/// Returns the registers of a tile that has its own.
int64_t Estimator::count(Value value) {
  auto it = counts.find(value);
  if (it == counts.end())
    it = counts.try_emplace(value, computeCount(value)).first;
  return it->second;
}

int64_t Estimator::computeCount(Value value) {
  RankedTensorType tile = getRegisterTile(value);
  int64_t registers = countRegisters(tile);
  Operation *op = value.getDefiningOp();
  auto load = dyn_cast_or_null<LoadOp>(op);
  auto convert = dyn_cast_or_null<ConvertLayoutOp>(op);
  bool isShared = (load && load.getBuffer().getType().isShared()) ||
                  (convert && isSharedTile(convert.getSource().getType()));
  // The fragments of one step along the contracted dimension are loaded right
  // before its MMAs.
  auto operand = dyn_cast<DotOperandAttr>(getLayoutAttr(tile));
  if (isShared && operand && feedsOnlyProducts(value) &&
      llvm::all_of(value.getUsers(), [&](Operation *user) {
        return user->getBlock() == op->getBlock();
      })) {
    int64_t step = operand.getParent().getMma().k;
    int64_t steps = tile.getDimSize(operand.getIndex() == 0 ? 1 : 0) / step;
    registers = llvm::divideCeil(registers, std::max<int64_t>(steps, 1));
  }
  return registers;
}

void Estimator::addUse(Value value, ValueSet &live) {
  for (Value root : getRoots(value))
    live.insert(root);
}

/// Adds the operand that `product` reads from registers while it is in flight.
void Estimator::addReads(Value product, ValueSet &live) {
  if (auto dot = product.getDefiningOp<DotOp>())
    addUse(dot.getA(), live);
}

void Estimator::record(Operation *op, const ValueSet &live) {
  int64_t registers = 0;
  for (Value value : live)
    registers += count(value);
  if (registers <= peak.tiles || (within && !within->isAncestor(op)))
    return;
  peak.tiles = registers;
  peak.op = op;
  peak.live.clear();
  for (Value value : live) {
    LiveTile tile = {getRegisterTile(value), count(value)};
    auto smaller = llvm::find_if(peak.live, [&](const LiveTile &other) {
      return other.registers < tile.registers;
    });
    peak.live.insert(smaller, tile);
  }
}

/// Visits the regions of `op`. `live` are the values that are live after the
/// operation, and becomes those before it.
void Estimator::visitRegions(Operation *op, ValueSet &live) {
  ValueSet outside = live;
  visitUsedValuesDefinedAbove(op->getRegions(), [&](OpOperand *use) {
    for (Value root : getRoots(use->get()))
      if (!op->isAncestor(root.getParentBlock()->getParentOp()))
        outside.insert(root);
  });
  bool isLoop = isa<LoopLikeOpInterface>(op);
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      // Other branches do not need what this one reads.
      ValueSet inner = isLoop ? outside : live;
      visit(block, inner);
    }
  live = outside;
}

void Estimator::visit(Block &block, ValueSet &live) {
  ElementwiseRuns runs(block, addsUp);
  for (Operation &op : llvm::reverse(block)) {
    ValueSet after = live;
    for (Value result : op.getResults()) {
      addUse(result, after);
      live.remove(result);
    }
    if (op.getNumRegions() != 0)
      visitRegions(&op, live);
    for (Value operand : op.getOperands())
      addUse(operand, live);
    if (isa<AwaitOp, scf::YieldOp>(op))
      for (Value operand : op.getOperands())
        if (isa<PendingType>(operand.getType()))
          addReads(operand, live);
    if (op.getNumRegions() != 0)
      continue;
    // Results replace the operands that are not needed any more, but a product
    // reads its operands a and b to the end.
    if (auto dot = dyn_cast<DotOp>(op)) {
      addUse(dot.getA(), after);
      addUse(dot.getB(), after);
    }
    if (!runs.isInsideBefore(&op))
      record(&op, live);
    if (!runs.isInsideBehind(&op))
      record(&op, after);
  }
}

RegisterPeak tile::estimateRegisters(KernelOp kernel, Operation *within) {
  // Beside products, the order of instructions is that of the program.
  Estimator estimator(within, !containsOp(kernel, llvm::IsaPred<DotOp>));
  ValueSet live;
  estimator.visit(kernel.getBody().front(), live);
  RegisterPeak peak = std::move(estimator.peak);
  peak.total = peak.tiles + kRegisterAllowance;
  return peak;
}

int64_t tile::countPlannedWarps(KernelOp kernel) {
  for (auto roles : kernel.getBody().front().getOps<WarpRolesOp>())
    return roles.countWarps();
  Schedule schedule = getSchedule(kernel);
  if (!schedule.hasRoles())
    return kernel.getNumWarps();
  return kernel.getNumWarps() * schedule.countConsumerGroups() +
         *schedule.producers + schedule.storers.value_or(0);
}

int64_t tile::getRegisterLimit(KernelOp kernel, const Chip &chip) {
  Schedule schedule = getSchedule(kernel);
  std::optional<int64_t> registers;
  if (schedule.registers)
    registers = schedule.registers->front();
  bool hasRoles = schedule.hasRoles();
  for (auto roles : kernel.getBody().front().getOps<WarpRolesOp>()) {
    hasRoles = true;
    if (roles.getRegisters())
      registers = roles.getRegisters()->front();
  }
  int64_t warps = countPlannedWarps(kernel);
  int64_t threads = chip.warpSize * warps / countClusterBlocks(chip, warps);
  if (!hasRoles)
    return std::min(chip.maxRegisters, chip.throughput.registers / threads);
  return std::min(registers.value_or(getRegisterShare(threads)),
                  chip.maxRegisters);
}
