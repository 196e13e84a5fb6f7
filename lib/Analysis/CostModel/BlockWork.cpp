//===- BlockWork.cpp - The work of a block on each unit -------------------===//

#include "Predictor.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "tile/Analysis/Registers.h"
#include "tile/Analysis/Softmax.h"
#include "tile/Dialect/Tile/IR/Contains.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace tile;

/// Bytes of the widest request of TMA: rows of a tile with a narrower swizzle
/// arrive in several requests, each of which costs as much as a wide one.
static constexpr int64_t kRequestBytes = 128;

/// The share of the cycles of other writes that TMA takes of shared memory.
static constexpr double kBulkWriteShare = 0.18;

/// Cycles of an exchange between the lanes of a warp, those that each warp of a
/// block adds, and those of the way between blocks of a cluster
/// (docs/notes/cost-model.md).
static constexpr double kExchangeCycles = 150, kExchangeWarpCycles = 16,
                        kClusterExchangeCycles = 1000;

/// Instructions of a program without products: of each element that a thread
/// loads or stores, and of its bounds where the tile is larger than its buffer;
/// of each warp in an iteration, and of its loads of the next work.
static constexpr double kAccessInstructions = 0.8, kBoundInstructions = 1.7,
                        kWarpInstructions = 75, kWorkInstructions = 250;

/// The instructions of a thread take longer by the share kCodeTime for each
/// kCodeElements elements that it accesses beyond as many: their code does not
/// fit the instruction cache.
static constexpr double kCodeElements = 80, kCodeTime = 0.25;

/// The share of the second-level cache that what blocks read again finds free.
static constexpr double kCacheShare = 0.5;

/// Elements by which rows of tiles in shared memory are padded if there is no
/// ldmatrix, which reads swizzled rows.
static constexpr int64_t kPadding = 8;

/// Adds bytes of `buffer` that go through the second-level cache in requests of
/// this relative cost.
void Predictor::addMoved(Value buffer, double bytes, double requests,
                         Work &work) {
  at(work.units, CostUnit::Cache) += bytes * requests / rates.cacheBytes;
  while (Operation *op = buffer.getDefiningOp()) {
    if (!isa<SliceOp, NarrowOp, PagedOp>(op))
      break;
    buffer = op->getOperand(0);
  }
  moved[buffer] += bytes * times;
}

double Predictor::countBufferBytes(Value buffer) {
  auto type = cast<BufferType>(buffer.getType());
  double bytes = type.getElementBits() / 8.0;
  for (unsigned dim = 0; dim < type.getShape().size(); ++dim)
    bytes *= std::max(evaluateExtent(buffer, dim), 1.0);
  return bytes;
}

/// Returns the bytes that all blocks read from and write to global memory:
/// those of each buffer once.
double Predictor::countMemoryBytes(double blocks) {
  double sum = 0;
  for (auto [buffer, access] : moved)
    sum += std::min(countBufferBytes(buffer), access * blocks);
  return sum;
}

/// Returns the bytes that blocks of a program without products access again
/// after others have taken their place in the second-level cache. Blocks have
/// equal parts of a buffer that the cache cannot hold, and share others.
double Predictor::countMissedBytes(double blocks, double resident) {
  double share = kCacheShare * chip.cacheSize;
  double running = std::min(blocks, chip.processors * resident);
  double held = 0, again = 0;
  for (auto [buffer, access] : moved) {
    double bytes = countBufferBytes(buffer);
    if (bytes <= share)
      continue;
    held += std::min(bytes / blocks, access) * running;
    again += std::max(access * blocks - bytes, 0.0);
  }
  return again * std::clamp((held - share) / share, 0.0, 1.0);
}

/// Returns the cycles in which the warps of a program without products exchange
/// what they have combined.
double Predictor::getExchangeCycles() const {
  double cycles = kExchangeCycles;
  if (candidate.warps > 1)
    cycles += kExchangeWarpCycles * candidate.warps / clusterBlocks;
  if (clusterBlocks > 1)
    cycles += kClusterExchangeCycles;
  return cycles;
}

/// Returns the elements of a tile that all threads have: in a program without
/// products, each thread has a multiple of one access, and threads have copies
/// where the tile has fewer elements. What is smaller than the accesses of a
/// warp is computed beside other things.
double Predictor::countHeldElements(Type type) const {
  double elements = countElements(type);
  double warp = accessElements * chip.warpSize;
  if (facts.hasProducts || elements < warp)
    return elements;
  double threads = candidate.warps * chip.warpSize;
  double each = std::ceil(elements / threads / accessElements);
  return each * accessElements * threads;
}

/// Adds the instructions by which the threads of a program without products
/// load or store a tile.
void Predictor::addAccess(Value tile, Value buffer, Work &work) {
  if (facts.hasProducts)
    return;
  double elements = countHeldElements(tile.getType());
  auto type = cast<BufferType>(buffer.getType());
  bool isPartial = countBytes(tile, buffer) * 8 <
                   countElements(tile.getType()) * type.getElementBits();
  double issue = elements *
                 (kAccessInstructions + (isPartial ? kBoundInstructions : 0)) /
                 rates.arithmetic;
  at(work.units, CostUnit::Arithmetic) += issue;
  at(work.units, CostUnit::Serial) += issue / groups;
  work.accessedElements += elements;
  if (hasSingleAccesses(type))
    singleElements =
        std::max(singleElements, elements / (candidate.warps * chip.warpSize));
}

/// Adds the instructions that do not depend on the elements of a thread, and
/// the time that long code takes.
void Predictor::addThreadWork(Work &work) const {
  if (work.accessedElements == 0)
    return;
  double threads = candidate.warps * chip.warpSize;
  double excess = work.accessedElements / threads / kCodeElements - 1;
  double each = kWarpInstructions + (work.loadsAhead ? kWorkInstructions : 0);
  double issue = each * threads / rates.arithmetic +
                 kCodeTime * std::max(excess, 0.0) *
                     work.units[unsigned(CostUnit::Arithmetic)];
  at(work.units, CostUnit::Arithmetic) += issue;
  at(work.units, CostUnit::Serial) += issue / groups;
}

/// Adds the instructions of an operation that computes tiles.
void Predictor::visitCompute(Operation *op, Work &work) {
  Type type = isa<ReduceOp>(op) ? op->getOperand(0).getType()
                                : op->getResult(0).getType();
  auto tile = dyn_cast<RankedTensorType>(type);
  // tile-split-masked-loops leaves masks out of most iterations.
  bool isSplit = facts.hasProducts || isa<scf::ForOp>(op->getParentOp());
  if (!tile || (isSplit && facts.isMask(op)))
    return;
  double elements = countHeldElements(tile);
  double instructions = 0, exponentials = 0;
  if (isa<math::Exp2Op, math::ExpOp, math::LogOp, math::Log2Op, math::RsqrtOp,
          math::TanhOp, math::SqrtOp, math::ErfOp>(op)) {
    exponentials = 1;
    instructions = isa<math::Exp2Op>(op) ? 1 : 3;
  } else if (isa<arith::DivFOp>(op)) {
    exponentials = 1;
    instructions = 8;
  } else if (isa<arith::TruncFOp, arith::ExtFOp>(op)) {
    // Two elements are converted at once.
    instructions = 0.5;
  } else if (isa<ReduceOp>(op) || op->hasTrait<OpTrait::Elementwise>()) {
    instructions = 1;
  } else if (isa<ScanOp>(op)) {
    instructions = kScanCombinations;
  } else if (auto scan = dyn_cast<AssociativeScanOp>(op)) {
    instructions = kScanCombinations * scan.countOperations();
  }
  double issue = elements * instructions / rates.arithmetic;
  double special = elements * exponentials / rates.exponentials;
  at(work.units, CostUnit::Arithmetic) += issue;
  at(work.units, CostUnit::Exponential) += special;
  at(work.units, CostUnit::Serial) += (issue + special) / groups;
  work.others += (issue + special) / groups;
  if (!facts.hasProducts && isa<AssociativeScanOp, ReduceOp, ScanOp>(op)) {
    // The warps exchange the sum of a softmax together with its maximum.
    auto reduce = dyn_cast<ReduceOp>(op);
    int64_t threads = candidate.warps * chip.warpSize;
    bool isJoined =
        reduce && findSoftmax(reduce) &&
        paysToJoin(chip, candidate.warps, int64_t(elements) / threads);
    // More warps of a cluster are more blocks, to which the exchange takes
    // longer. So registers do not decide there.
    if (isJoined && clusterBlocks == 1)
      joinedElements = std::max(joinedElements, int64_t(elements) / threads);
    at(work.units, CostUnit::Serial) +=
        isJoined ? kExchangeCycles : getExchangeCycles();
    work.waitsForOthers |= candidate.warps > 1;
  }
}

/// Returns true if neighbouring elements of `buffer` lie along a dimension of
/// unknown extent.
static bool hasOpenRows(BufferType buffer) {
  auto strided = dyn_cast<StridedAttr>(buffer.getLayout());
  if (!strided)
    return false;
  for (auto [extent, stride] :
       llvm::zip_equal(buffer.getShape(), strided.getStrides()))
    if (stride == 1)
      return ShapedType::isDynamic(extent);
  return false;
}

/// Returns the cost of the requests by which TMA fetches a tile, relative to
/// that of as many bytes in the widest requests; nothing if TMA does not fetch
/// it.
std::optional<double> Predictor::getRequestCost(LoadOp load) const {
  auto strided = dyn_cast<StridedAttr>(load.getBuffer().getType().getLayout());
  if (!chip.bulkCopy || !strided)
    return std::nullopt;
  SmallVector<int64_t> shape = getShape(load.getType());
  const auto *unit = llvm::find(strided.getStrides(), 1);
  size_t contiguous = unit - strided.getStrides().begin();
  if (contiguous >= shape.size())
    return std::nullopt;
  int64_t elements = shape[contiguous];
  std::optional<double> cost;
  SmallVector<Value> values = {load.getResult()};
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *user : values[i].getUsers()) {
      if (isa<TransposeOp>(user))
        values.push_back(user->getResult(0));
      auto dot = dyn_cast<DotOp>(user);
      std::optional<ProductGrid> grid =
          dot ? divide(dot) : std::optional<ProductGrid>();
      if (!grid || !grid->mma->isAsync)
        continue;
      // Each warpgroup reads its columns of b by one matrix descriptor, so that
      // they are a multiple of the swizzle.
      int64_t row = elements * load.getType().getElementTypeBitWidth() / 8;
      if (values[i] == dot.getB() && hasColumnsSideBySide(dot))
        row /= grid->columns;
      int64_t request = kRequestBytes;
      while (request > 16 && row % request != 0)
        request /= 2;
      cost = std::max(cost.value_or(1), double(kRequestBytes) / request);
    }
  return cost;
}

/// Adds the branch that the sizes choose, or both if they do not decide.
void Predictor::visitBranch(scf::IfOp op, Work &work) {
  bool isComparison = op.getCondition().getDefiningOp<arith::CmpIOp>() &&
                      !facts.dependsOnData(op.getCondition());
  for (Region *region : {&op.getThenRegion(), &op.getElseRegion()})
    if (!region->empty() &&
        (!isComparison ||
         (evaluate(op.getCondition()) != 0) == (region == &op.getThenRegion())))
      visit(region->front(), work);
}

/// Returns true if `op`, or the function that it calls, loads a scalar from a
/// place that another load gives.
static bool awaitsPlace(Operation *op, const ProgramFacts &facts) {
  if (llvm::none_of(op->getOperands(), [&](Value operand) {
        return facts.dependsOnData(operand);
      }))
    return false;
  if (auto call = dyn_cast<CallOpInterface>(op)) {
    Operation *callee = call.resolveCallable();
    return callee && containsOp(callee, llvm::IsaPred<LoadScalarOp>);
  }
  return isa<LoadScalarOp>(op);
}

void Predictor::visit(Operation *op, Work &work) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    Work &inner = work.loops.emplace_back();
    inner.iterations = countIterations(loop);
    if (loop == splitLoop) {
      inner.iterations =
          std::ceil(inner.iterations / candidate.split.value_or(1));
      splitLoopNumber = work.loops.size() - 1;
    }
    double outside = times;
    times *= inner.iterations;
    visit(*loop.getBody(), inner);
    addThreadWork(inner);
    times = outside;
    // tile-load-ahead does so in innermost loops.
    inner.loadsAhead = inner.loops.empty() && !getSchedule(loop).keepsLoops();
    // tile-schedule rotates no loop that writes to global memory.
    if (llvm::any_of(*loop.getBody(), llvm::IsaPred<StoreOp, AtomicRMWOp>))
      inner.chainedRegisters = 0;
    return;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return visitBranch(branch, work);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      visit(block, work);
  if (auto dot = dyn_cast<DotOp>(op))
    return visitProduct(dot, work);
  if (auto inverse = dyn_cast<UnitTriangularInverseOp>(op))
    return visitInverse(inverse, work);
  if (auto load = dyn_cast<LoadOp>(op)) {
    double bytes = countBytes(load.getResult(), load.getBuffer());
    std::optional<double> requests = getRequestCost(load);
    // Copies of elements may be in other blocks of a cluster.
    double copies = clusterBlocks == 1 ? 1
                                       : countHeldElements(load.getType()) /
                                             countElements(load.getType());
    addMoved(load.getBuffer(), bytes, copies * requests.value_or(1), work);
    if (!feedsOnlyProducts(load.getResult())) {
      addAccess(load.getResult(), load.getBuffer(), work);
      work.waitsForLoads = true;
      work.loadedBytes += bytes;
      if (dimensions.find(load->getOperands()) != 0)
        work.ownBytes += bytes;
      work.loadsElements |= hasSingleAccesses(load.getBuffer().getType());
      return;
    }
    copiesElements |= hasOpenRows(load.getBuffer().getType());
    // The tile is written to shared memory, with padding, ahead of its use.
    at(work.units, CostUnit::Shared) +=
        bytes * (requests ? kBulkWriteShare : 1) / rates.sharedBytes;
    work.copiedBytes += bytes;
    double source = countBufferBytes(load.getBuffer());
    if (work.firstBytes == 0 || bytes < work.firstBytes) {
      work.firstBytes = bytes;
      work.firstSource = source;
    }
    if (source > work.largestSource) {
      work.largestSource = source;
      work.largestReads = bytes * times * programs / source;
    }
    int64_t size = countElements(load.getType());
    // tile-pad-extents grows an extent whose elements threads do not divide.
    isPadded |= size % (candidate.warps * chip.warpSize) != 0 &&
                !llvm::all_of(getShape(load.getType()), [](int64_t extent) {
                  return llvm::isPowerOf2_64(extent);
                });
    // Rows or columns may be the ones that are padded.
    if (!chip.ldmatrix)
      size += size / *llvm::min_element(getShape(load.getType())) * kPadding;
    size = size * load.getType().getElementTypeBitWidth() / 8;
    (isa<scf::ForOp>(op->getParentOp()) ? stageBytes : fixedBytes) += size;
    return;
  }
  if (auto store = dyn_cast<StoreOp>(op)) {
    double bytes = countBytes(store.getValue(), store.getBuffer());
    addMoved(store.getBuffer(), bytes, 1, work);
    addAccess(store.getValue(), store.getBuffer(), work);
    // The tile goes through shared memory, and the block ends when it has
    // arrived. Without products, threads store it, and do not wait.
    if (facts.hasProducts)
      at(work.units, CostUnit::Serial) +=
          2 * bytes / rates.sharedBytes + bytes / rates.cacheBytes;
    work.storedElements += countElements(store.getValue().getType());
    work.storedBytes += bytes;
    addStaging(store.getValue().getType(),
               store.getBuffer().getType().getElementBits());
    return;
  }
  if (!facts.hasProducts && awaitsPlace(op, facts))
    at(work.units, CostUnit::Serial) += kCopyLatency;
  // An atomic operation reads and writes.
  if (auto atomic = dyn_cast<AtomicRMWOp>(op)) {
    addMoved(atomic.getBuffer(),
             2 * countBytes(atomic.getValue(), atomic.getBuffer()), 1, work);
    // TMA adds the tiles of a loop from shared memory.
    auto tile = cast<RankedTensorType>(atomic.getValue().getType());
    if (isa<scf::ForOp>(op->getParentOp()) && tile.getRank() == 2 &&
        atomic.getKind() == arith::AtomicRMWKind::addf)
      addedBytes += countElements(tile) * tile.getElementTypeBitWidth() / 8;
    return;
  }
  if (op->getNumResults() == 1)
    visitCompute(op, work);
}

/// Adds the work behind the loop whose sums a cluster exchanges. Each block has
/// a part of the rows.
void Predictor::visitRows(Operation &loop, Work &work) {
  exchangeSums(work);
  Work rows;
  for (Operation &op : llvm::make_range(std::next(Block::iterator(loop)),
                                        loop.getBlock()->end()))
    visit(&op, rows);
  double share = 1.0 / *candidate.split;
  for (unsigned unit = 0; unit < kCostUnits; ++unit)
    work.units[unit] += share * rows.units[unit];
  work.storedElements += share * rows.storedElements;
}

void Predictor::visit(Block &block, Work &work) {
  for (Operation &op : block) {
    visit(&op, work);
    // Another kernel does what comes after the loop.
    if (storesSums && candidate.split && &op == splitLoop)
      return storeSums(work);
    if (candidate.splitsInCluster && &op == splitLoop)
      return visitRows(op, work);
  }
}
