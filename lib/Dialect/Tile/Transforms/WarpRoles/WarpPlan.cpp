//===- WarpPlan.cpp - What warps can copy for warps that compute ----------===//

#include "WarpPlan.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Analysis/BulkRuns.h"
#include "tile/Dialect/Tile/Transforms/GlobalMemory.h"
#include "tile/Dialect/Tile/Transforms/SharedMemory.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tile;

const PlannedCopy *WarpPlan::findCopy(Operation *op) const {
  auto copy = dyn_cast<CopyOp>(op);
  auto it = copy ? copies.find(copy) : copies.end();
  return it == copies.end() ? nullptr : &it->second;
}

std::optional<unsigned> WarpPlan::ringOf(Operation *op) const {
  if (const PlannedCopy *planned = findCopy(op))
    return planned->ring;
  // Others may lie where one lay that has been replaced.
  auto sum = isa<AtomicRMWOp>(op) ? sums.find(op) : sums.end();
  return sum == sums.end() ? std::nullopt : std::optional(sum->second.ring);
}

namespace {
class Planner {
public:
  Planner(KernelOp kernel, bool takesSums, WarpPlan &plan)
      : kernel(kernel), takesSums(takesSums), plan(plan) {}

  std::string run();

private:
  std::string planCopy(CopyOp copy);
  std::string planSum(AtomicRMWOp sum);
  std::string findRuns(AtomicRMWOp sum, BufferType &tile);
  std::string checkSlice(Value value);
  std::string checkLoops(Operation *op, int64_t &stages, bool &repeats);
  std::string checkRing(const PlannedCopy &planned);
  bool isOutside(Operation *op);

  KernelOp kernel;
  bool takesSums;
  WarpPlan &plan;
};
} // namespace

/// Scalars that all roles may compute for themselves, or read from arguments
/// that nobody writes.
bool Planner::isOutside(Operation *op) {
  auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
  auto readsConstant = [&](LoadScalarOp load) {
    auto argument = dyn_cast<BlockArgument>(load.getBuffer());
    return argument && llvm::all_of(argument.getUsers(), [](Operation *user) {
             return isa<LoadScalarOp, DimOp, RequireOp>(user);
           });
  };
  auto load = dyn_cast<LoadScalarOp>(op);
  return isa<GridOp, RequireOp>(op) ||
         (op->getNumRegions() == 0 &&
          (isMemoryEffectFree(op) || (load && readsConstant(load))) &&
          !op->hasTrait<OpTrait::IsTerminator>() &&
          llvm::none_of(op->getResultTypes(), isTile) &&
          llvm::all_of(op->getOperands(), [&](Value operand) {
            Operation *source = operand.getDefiningOp();
            return !source || plan.outside.contains(source);
          }));
}

/// What other roles depend on must be known without waiting for anything.
std::string Planner::checkSlice(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (parent == kernel || (loop && value == loop.getInductionVar()))
      return "";
    return "its place depends on a value that a loop carries";
  }
  Operation *op = value.getDefiningOp();
  if (plan.outside.contains(op))
    return "";
  if (op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return "its place depends on '" + op->getName().getStringRef().str() + "'";
  for (Value operand : op->getOperands())
    if (std::string reason = checkSlice(operand); !reason.empty())
      return reason;
  return "";
}

/// The loops around `op` must be known, too. `stages` is what their authors ask
/// for.
std::string Planner::checkLoops(Operation *op, int64_t &stages, bool &repeats) {
  for (Operation *parent = op->getParentOp(); parent != kernel;
       parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return "it is inside '" + parent->getName().getStringRef().str() + "'";
    for (Value bound :
         {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (std::string reason = checkSlice(bound); !reason.empty())
        return "a loop around it: " + reason;
    repeats = true;
    if (auto pinned =
            loop->getAttrOfType<IntegerAttr>(TileDialect::kStagesAttr))
      stages = std::max(stages, pinned.getInt());
  }
  return "";
}

std::string Planner::planCopy(CopyOp copy) {
  PlannedCopy planned;
  planned.copy = copy;
  planned.buffer = copy.getDest().getDefiningOp<AllocOp>();
  if (copy.getAsync())
    return "it is asynchronous already";
  if (!planned.buffer || planned.buffer->getBlock() != copy->getBlock())
    return "its buffer is not allocated beside it";
  if (planned.buffer.getOffset())
    return "the offset of its buffer is pinned";
  std::string reason =
      findReaders(copy, planned.buffer, planned.first, planned.last);
  if (!reason.empty())
    return reason;

  if (planned.buffer.getType().getRank() > 2)
    return "its tile has more than two dimensions";
  reason = findArgumentTile(copy.getSource(), copy.getIndices(),
                            planned.buffer.getType(), planned);
  if (!reason.empty())
    return reason;
  if (isAccessedIn(kernel, planned.argument, /*isWrite=*/true))
    return "the kernel writes its argument";
  SmallVector<Value> place = planned.indices;
  if (planned.isRagged())
    place.append({planned.start, planned.length});
  for (Value value : place)
    if (reason = checkSlice(value); !reason.empty())
      return reason;
  bool repeats = false;
  int64_t stages = 0;
  reason = checkLoops(copy, stages, repeats);
  if (!reason.empty())
    return reason;
  auto ring = llvm::find_if(plan.rings, [&](const Ring &ring) {
    return ring.argument == planned.argument &&
           ring.tile == planned.buffer.getType();
  });
  bool isNew = ring == plan.rings.end();
  if (isNew) {
    Ring fresh;
    fresh.argument = planned.argument;
    fresh.tile = planned.buffer.getType();
    plan.rings.push_back(fresh);
    ring = std::prev(plan.rings.end());
  }
  if (repeats || !isNew) {
    ring->counted = true;
    ring->stages = std::max(ring->stages, stages ? stages : 2);
  }
  planned.ring = ring - plan.rings.begin();
  plan.copies.insert({copy, planned});
  return "";
}

/// Bytes that are worth an instruction of the copy engine.
static constexpr int64_t kWorthwhileBytes = 512;

/// The tile as it lies in the buffer, in pieces that are worth an instruction.
std::string Planner::findRuns(AtomicRMWOp sum, BufferType &tile) {
  auto value = cast<RankedTensorType>(sum.getValue().getType());
  BufferType buffer = sum.getBuffer().getType();
  // Where elements have one order in both memories, it is that of the buffer.
  LayoutAttrInterface layout = buffer.getLayout();
  if (isa<StridedAttr>(layout)) {
    SmallVector<int64_t> order(
        llvm::reverse(llvm::seq<int64_t>(0, buffer.getRank())));
    layout = PaddedAttr::get(kernel.getContext(), 0, order);
  }
  auto quiet = [&] {
    InFlightDiagnostic diag = emitError(UnknownLoc::get(kernel.getContext()));
    diag.abandon();
    return diag;
  };
  tile = BufferType::getChecked(quiet, kernel.getContext(), value.getShape(),
                                value.getElementType(), layout,
                                MemorySpace::Shared);
  if (!tile)
    return "its tile cannot lie in shared memory as it does in its buffer";
  BulkRuns runs =
      findBulkRuns(tile, {buffer, ValueRange(sum.getIndices()), "its buffer"});
  if (!runs.obstacle.empty())
    return runs.obstacle;
  for (const BulkRun &run : runs.runs)
    if (int64_t bytes = run.count * tile.getElementBits() / 8;
        bytes < kWorthwhileBytes)
      return "only " + std::to_string(bytes) +
             " bytes at a time are neighbours in its buffer";
  return "";
}

/// Returns true if an operation that is not atomic reads the argument of `sum`.
static bool isReadElsewhere(KernelOp kernel, AtomicRMWOp sum) {
  BlockArgument argument = getRootArgument(sum.getBuffer());
  WalkResult result = kernel.walk([&](Operation *op) {
    if (isa<AtomicRMWOp>(op))
      return WalkResult::advance();
    for (const GlobalAccess &access : getGlobalAccesses(op))
      if (!access.isWrite && access.mayOverlap(argument))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return result.wasInterrupted();
}

std::string Planner::planSum(AtomicRMWOp sum) {
  auto value = cast<RankedTensorType>(sum.getValue().getType());
  if (sum.getKind() != arith::AtomicRMWKind::addf || sum.getResult() ||
      sum.getOrder() != MemoryOrder::Relaxed ||
      sum.getScope() != MemoryScope::Device)
    return "the copy engine adds floats, relaxed, in the scope of the device, "
           "and returns nothing";
  if (isReadElsewhere(kernel, sum))
    return "the kernel reads its argument";
  int64_t stages = 0;
  bool repeats = false;
  if (std::string reason = checkLoops(sum, stages, repeats); !reason.empty())
    return reason;
  if (!repeats)
    return "nothing runs beside it, which is in no loop";
  for (Value place : llvm::concat<Value>(ValueRange(sum.getBuffer()),
                                         ValueRange(sum.getIndices())))
    if (std::string reason = checkSlice(place); !reason.empty())
      return reason;
  PlannedSum planned;
  BufferType tile = findSwizzledTile(value);
  ArgumentTile place;
  if (tile && value.getRank() == 2 &&
      findArgumentTile(sum.getBuffer(), sum.getIndices(), tile, place)
          .empty() &&
      place.isRagged())
    planned.tile = place;
  else if (std::string reason = findRuns(sum, tile); !reason.empty())
    return reason;
  auto ring = llvm::find_if(plan.rings, [&](const Ring &ring) {
    return ring.leaves() && ring.tile == tile;
  });
  if (ring == plan.rings.end()) {
    Ring fresh;
    fresh.tile = tile;
    fresh.counted = true;
    plan.rings.push_back(fresh);
    ring = std::prev(plan.rings.end());
  }
  planned.ring = ring - plan.rings.begin();
  plan.sums[sum] = planned;
  return "";
}

/// The tiles of a ring that are in use at once must fit it.
std::string Planner::checkRing(const PlannedCopy &planned) {
  CopyOp copy = planned.copy;
  AllocOp buffer = planned.buffer;
  for (Operation *op = buffer->getNextNode(); op != copy.getOperation();
       op = op->getNextNode())
    if (!op || plan.findCopy(op))
      return "another copy is issued before it fills its buffer";
  int64_t others = 0;
  for (Operation *op = copy->getNextNode(); op; op = op->getNextNode()) {
    bool isLast = op == planned.last;
    const PlannedCopy *other = plan.findCopy(op);
    others += other && other->ring == planned.ring;
    bool nested = false;
    if (op->getNumRegions() != 0)
      op->walk([&](Operation *inner) {
        const PlannedCopy *other = plan.findCopy(inner);
        nested |= other && other->ring == planned.ring;
      });
    if (nested || others >= plan.rings[planned.ring].stages)
      return "more tiles are in use at once than the ring has stages";
    if (isLast)
      break;
  }
  return "";
}

std::string Planner::run() {
  for (Operation &op : kernel.getBody().front())
    if (isOutside(&op))
      plan.outside.insert(&op);
  std::string reason;
  kernel.walk([&](Operation *op) {
    if (isa<BarrierOp, WaitGroupOp, CommitGroupOp, WarpRolesOp>(op))
      reason = "its author has synchronised it already";
    else if (auto copy = dyn_cast<CopyOp>(op))
      reason = planCopy(copy);
    return reason.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (reason.empty() && plan.copies.empty())
    return "it copies nothing from global to shared memory";
  // Stages are iterations: some may take several tiles of a ring.
  for (auto [number, ring] : llvm::enumerate(plan.rings)) {
    llvm::SmallDenseMap<Block *, int64_t> together;
    int64_t most = 1;
    for (auto &[copy, planned] : plan.copies)
      if (planned.ring == number && isa<scf::ForOp>(copy->getParentOp()))
        most = std::max(most, ++together[copy->getBlock()]);
    if (ring.stages > 1)
      ring.stages *= most;
  }
  for (auto &[copy, planned] : plan.copies)
    if (reason.empty())
      reason = checkRing(planned);
  if (!reason.empty() || !takesSums)
    return reason;
  kernel.walk([&](AtomicRMWOp sum) {
    if (std::string obstacle = planSum(sum); !obstacle.empty())
      plan.otherSums.push_back({sum, obstacle});
  });
  return "";
}

std::string tile::planWarps(KernelOp kernel, bool takesSums, WarpPlan &plan) {
  return Planner(kernel, takesSums, plan).run();
}
