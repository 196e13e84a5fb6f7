//===- WarpPlan.cpp - Plans of producer and storer warps ------------------===//

#include "WarpPlan.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Analysis/BulkRuns.h"
#include "tile/Analysis/SharedMemory.h"
#include "tile/Dialect/Tile/IR/Contains.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tile;

/// The stages of a ring for which neither a loop nor the kernel has a number.
static constexpr int64_t kDefaultStages = 2;

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

BufferType Ring::getStorageType() const {
  return RingType::getStorageType(tile, stages);
}

BufferType Ring::getBarriersType() const {
  MLIRContext *context = tile.getContext();
  auto layout =
      cast<LayoutAttrInterface>(Attribute(PaddedAttr::get(context, 0, {0})));
  return BufferType::get(context, {stages}, IntegerType::get(context, 64),
                         layout, MemorySpace::Shared);
}

bool tile::drainsRings(KernelOp kernel) {
  return kernel.getClusterBlocks() > 1;
}

SharedMemoryModel tile::modelRoles(KernelOp kernel, const WarpPlan &plan) {
  SharedMemoryModel model(kernel);
  for (auto &[copy, planned] : plan.copies)
    model.remove(planned.buffer);
  model.repeat(getSchedule(kernel).countConsumerGroups());
  // Roles run at the same time, so rings are live with all other buffers, but
  // for those of the consumers behind the last read.
  SmallVector<SmallVector<Operation *>> uses(plan.rings.size());
  if (drainsRings(kernel))
    for (auto &[copy, planned] : plan.copies)
      uses[planned.ring].push_back(planned.last);
  for (auto [ring, readers] : llvm::zip_equal(plan.rings, uses)) {
    auto add = [&](BufferType type, bool isCopiedInBulk) {
      model.add(type, kernel, kernel, kernel, isCopiedInBulk);
    };
    // TMA copies fill the slots and arrive at the mbarriers. Sums leave from
    // swizzled slots, or without a tensor map.
    model.add(ring.getStorageType(), kernel, kernel, kernel,
              /*isCopiedInBulk=*/!ring.leaves(), readers);
    add(ring.getBarriersType(), /*isCopiedInBulk=*/!ring.leaves());
    if (ring.counted)
      add(ring.getBarriersType(), /*isCopiedInBulk=*/false);
  }
  return model;
}

namespace {
class Planner {
public:
  Planner(KernelOp kernel, bool takesSums, WarpPlan &plan, SumTiles &tiles)
      : kernel(kernel), runAhead(kernel), takesSums(takesSums), plan(plan),
        tiles(tiles) {}

  Refusal run();

private:
  Refusal planCopy(CopyOp copy);
  Refusal planSum(AtomicRMWOp sum);
  Refusal findRuns(AtomicRMWOp sum, BufferType &tile);
  bool isRepeated(Operation *op, int64_t &stages);
  void chooseStages();
  Refusal checkRing(const PlannedCopy &planned);
  Refusal checkClusterBarriers();

  KernelOp kernel;
  RunAhead runAhead;
  bool takesSums;
  WarpPlan &plan;
  SumTiles &tiles;

  /// The copies of a ring that several tiles go through.
  struct Use {
    /// The most stages that the loops around a copy ask for.
    int64_t asked = 0;
    /// True if a copy is in loops that do not ask for stages.
    bool isOpen = false;
  };
  /// The use of each ring of the plan.
  SmallVector<Use> uses;
};
} // namespace

/// Returns true if a loop is around `op`, or if tile-persist is going to put
/// one there. `stages` becomes the number of stages that the innermost loop
/// asks for, or 0. It is 1 for a tile that stays for a loop inside of that one:
/// more stages only hide the latency of a copy from one such loop to the next.
bool Planner::isRepeated(Operation *op, int64_t &stages) {
  auto loop = op->getParentOfType<scf::ForOp>();
  if (!loop) {
    stages = getSchedule(kernel).workStages.value_or(0);
    return stages != 0;
  }
  stages = getSchedule(loop).stages.value_or(0);
  if (stages == 0 && !loop.getBody()->getOps<scf::ForOp>().empty())
    stages = 1;
  return true;
}

/// Plans a copy, or refuses it.
Refusal Planner::planCopy(CopyOp copy) {
  PlannedCopy planned;
  if (Refusal refusal = runAhead.checkCopy(copy, kernel, planned))
    return refusal;
  if (planned.buffer.getType().getRank() > 2)
    return "its tile has more than two dimensions";
  if (Refusal refusal = findArgumentTile(copy.getSource(), copy.getIndices(),
                                         planned.buffer.getType(), planned))
    return refusal;
  int64_t stages = 0;
  bool repeats = isRepeated(copy, stages);
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
    uses.emplace_back();
    ring = std::prev(plan.rings.end());
  }
  planned.ring = ring - plan.rings.begin();
  ring->counted |= repeats || !isNew;
  uses[planned.ring].asked = std::max(uses[planned.ring].asked, stages);
  uses[planned.ring].isOpen |= repeats && stages == 0;
  plan.copies.insert({copy, planned});
  return std::nullopt;
}

/// How many times as many bytes go through rings as consumers may copy for
/// themselves, such as numbers of rows that are apart in memory.
static constexpr int64_t kLeastBulkShare = 8;

/// Sets the stages of all rings that several tiles go through.
void Planner::chooseStages() {
  int64_t stages = getSchedule(kernel).stages.value_or(kDefaultStages);
  for (auto [ring, use] : llvm::zip_equal(plan.rings, uses)) {
    if (!ring.counted)
      continue;
    // Copies before and after a loop do not change what it asks for.
    bool isAsked = use.asked != 0 && !use.isOpen;
    ring.stages = std::max(use.asked, isAsked ? 1 : stages);
  }
}

/// The smallest number of bytes that are worth a TMA instruction.
static constexpr int64_t kWorthwhileBytes = 512;

/// Sets `tile` to the type of a shared buffer whose elements have the order of
/// the buffer of `sum`. Refuses a sum whose contiguous runs are too short for
/// TMA.
Refusal Planner::findRuns(AtomicRMWOp sum, BufferType &tile) {
  auto value = cast<RankedTensorType>(sum.getValue().getType());
  BufferType buffer = sum.getBuffer().getType();
  // A strided buffer has the order of its dimensions.
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
  if (runs.refusal)
    return runs.refusal;
  for (const BulkRun &run : runs.runs)
    if (int64_t bytes = run.count * tile.getElementBits() / 8;
        bytes < kWorthwhileBytes)
      return "only " + std::to_string(bytes) +
             " bytes at a time are neighbours in its buffer";
  return std::nullopt;
}

/// Plans an atomic addition, or refuses it.
Refusal Planner::planSum(AtomicRMWOp sum) {
  auto value = cast<RankedTensorType>(sum.getValue().getType());
  if (sum.getKind() != arith::AtomicRMWKind::addf || sum.getResult() ||
      sum.getOrder() != MemoryOrder::Relaxed ||
      sum.getScope() != MemoryScope::Device)
    return "TMA adds floats, relaxed, in the scope of the device, and returns "
           "nothing";
  if (Refusal refusal = runAhead.checkLateAddition(sum))
    return refusal;
  if (Refusal refusal = runAhead.checkLoops(sum, kernel))
    return refusal;
  for (Value place : llvm::concat<Value>(ValueRange(sum.getBuffer()),
                                         ValueRange(sum.getIndices())))
    if (Refusal refusal = runAhead.checkValue(place, kernel))
      return refusal;
  PlannedSum planned;
  BufferType tile = findSwizzledTile(value);
  ArgumentTile place;
  if (tile && value.getRank() == 2 &&
      !findArgumentTile(sum.getBuffer(), sum.getIndices(), tile, place) &&
      place.isRagged()) {
    planned.tile = place;
  } else {
    auto [it, isNew] = tiles.try_emplace(sum);
    auto &[type, refusal] = it->second;
    if (isNew)
      refusal = findRuns(sum, type);
    if (refusal)
      return refusal;
    tile = type;
  }
  auto ring = llvm::find_if(plan.rings, [&](const Ring &ring) {
    return ring.leaves() && ring.tile == tile;
  });
  // A sum in no loop takes a ring that others have.
  int64_t stages = 0;
  if (ring == plan.rings.end()) {
    if (!isRepeated(sum, stages))
      return "nothing runs beside it, which is in no loop";
    Ring fresh;
    fresh.tile = tile;
    fresh.counted = true;
    plan.rings.push_back(fresh);
    ring = std::prev(plan.rings.end());
  }
  planned.ring = ring - plan.rings.begin();
  plan.sums[sum] = planned;
  return std::nullopt;
}

/// Refuses a copy if more tiles than its ring has stages are in use at once.
Refusal Planner::checkRing(const PlannedCopy &planned) {
  CopyOp copy = planned.copy;
  AllocOp buffer = planned.buffer;
  for (Operation *op = buffer->getNextNode(); op != copy.getOperation();
       op = op->getNextNode())
    if (!op || plan.findCopy(op))
      return "another copy is issued before it fills its buffer";
  int64_t others = 0;
  auto isOther = [&](Operation *op) {
    const PlannedCopy *other = plan.findCopy(op);
    return other && other->ring == planned.ring;
  };
  for (Operation *op = copy->getNextNode(); op; op = op->getNextNode()) {
    bool isLast = op == planned.last;
    others += isOther(op);
    bool nested = op->getNumRegions() != 0 && containsOp(op, isOther);
    if (nested || others >= plan.rings[planned.ring].stages)
      return "more tiles are in use at once than the ring has stages";
    if (isLast)
      break;
  }
  return std::nullopt;
}

static int64_t countBytes(CopyOp copy) {
  BufferType type = copy.getDest().getType();
  return ShapedType::getNumElements(type.getShape()) * type.getElementBits() /
         8;
}

/// Fills the plan, or refuses the kernel.
/// Refuses copies behind a barrier of the cluster. All of its threads that have
/// not ended take part in the barrier, and a producer with such copies would
/// wait for consumers that wait there.
Refusal Planner::checkClusterBarriers() {
  auto isExchange = llvm::IsaPred<ClusterReduceOp>;
  auto isPlanned = [&](Operation *op) {
    auto copy = dyn_cast<CopyOp>(op);
    return copy && plan.copies.count(copy) != 0;
  };
  bool isBehind = false;
  WalkResult result = kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    isBehind |= isExchange(op);
    bool isRepeated = isa<LoopLikeOpInterface>(op) &&
                      containsOp(op, isExchange) && containsOp(op, isPlanned);
    return isRepeated || (isBehind && isPlanned(op)) ? WalkResult::interrupt()
                                                     : WalkResult::advance();
  });
  if (!result.wasInterrupted())
    return std::nullopt;
  return "it copies tiles after the blocks of a cluster have waited for each "
         "other";
}

Refusal Planner::run() {
  plan.outside = runAhead.findBlockScalars();
  Refusal refusal, copyRefusal;
  // The copies in bulk, and those that the consumers keep.
  int64_t bulkBytes = 0, keptBytes = 0;
  kernel.walk([&](Operation *op) {
    if (isa<BarrierOp, WaitGroupOp, CommitGroupOp, WarpRolesOp>(op))
      refusal = "its author has synchronised it already";
    if (auto copy = dyn_cast<CopyOp>(op)) {
      Refusal obstacle = planCopy(copy);
      (obstacle ? keptBytes : bulkBytes) += countBytes(copy);
      if (!copyRefusal)
        copyRefusal = obstacle;
    }
    return refusal ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!refusal && keptBytes * kLeastBulkShare > bulkBytes)
    refusal = copyRefusal;
  if (!refusal && plan.copies.empty())
    return "it copies nothing from global to shared memory";
  if (!refusal)
    chooseStages();
  // Stages are iterations: some may take several tiles of a ring.
  bool isPersistent = getSchedule(kernel).workStages.value_or(0) != 0;
  auto isIteration = [&](Operation *parent) {
    return isa<scf::ForOp>(parent) || (isPersistent && parent == kernel);
  };
  for (auto [number, ring] : llvm::enumerate(plan.rings)) {
    llvm::SmallDenseMap<Block *, int64_t> together;
    int64_t most = 1;
    for (auto &[copy, planned] : plan.copies)
      if (planned.ring == number && isIteration(copy->getParentOp()))
        most = std::max(most, ++together[copy->getBlock()]);
    if (ring.stages > 1)
      ring.stages *= most;
  }
  for (auto &[copy, planned] : plan.copies)
    if (!refusal)
      refusal = checkRing(planned);
  if (!refusal)
    refusal = checkClusterBarriers();
  if (refusal || !takesSums)
    return refusal;
  bool hasExchange = containsOp(kernel, llvm::IsaPred<ClusterReduceOp>);
  kernel.walk([&](AtomicRMWOp sum) {
    Refusal obstacle = hasExchange ? "a storer warp would not arrive at the "
                                     "barriers of the cluster"
                                   : planSum(sum);
    if (obstacle)
      plan.otherSums.push_back({sum, *obstacle});
  });
  return std::nullopt;
}

Refusal tile::planWarps(KernelOp kernel, bool takesSums, WarpPlan &plan,
                        SumTiles &tiles) {
  return Planner(kernel, takesSums, plan, tiles).run();
}

std::optional<int64_t> tile::shortenRing(KernelOp kernel, int64_t most,
                                         WarpPlan &plan) {
  // The operations of an iteration during which the tiles of each ring are in
  // use; several tiles of an iteration need several stages.
  constexpr int64_t kAlways = std::numeric_limits<int64_t>::max();
  SmallVector<int64_t> uses(plan.rings.size(), 0);
  SmallVector<llvm::SmallDenseSet<Block *>> blocks(plan.rings.size());
  for (auto &[copy, planned] : plan.copies) {
    bool isOnly = blocks[planned.ring].insert(copy->getBlock()).second;
    int64_t length = 0;
    for (Operation *op = planned.first; op && op != planned.last;
         op = op->getNextNode())
      ++length;
    uses[planned.ring] =
        isOnly ? std::max(uses[planned.ring], length) : kAlways;
  }
  std::optional<unsigned> shortest;
  int64_t shortestBytes = 0;
  for (auto [number, ring] : llvm::enumerate(plan.rings)) {
    if (ring.leaves() || ring.stages < 2 || uses[number] == kAlways ||
        (shortest && uses[*shortest] <= uses[number]))
      continue;
    --ring.stages;
    int64_t bytes = modelRoles(kernel, plan).placeWithin(most).bytes;
    ++ring.stages;
    if (bytes > most)
      continue;
    shortest = number;
    shortestBytes = bytes;
  }
  if (!shortest)
    return std::nullopt;
  --plan.rings[*shortest].stages;
  return shortestBytes;
}

Refusal tile::planWarps(KernelOp kernel, bool takesSums, WarpPlan &plan) {
  SumTiles tiles;
  return planWarps(kernel, takesSums, plan, tiles);
}
