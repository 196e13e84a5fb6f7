//===- LoopCosts.cpp - The cycles and registers of a loop -----------------===//
//
// Tiles have no layouts yet: the elements of a tile are taken as divided evenly
// among the threads, and the rows of a product as 8 for each warp, which is
// what accumulators have.
//
//===----------------------------------------------------------------------===//

#include "LoopCosts.h"
#include "../Layouts/MmaChoice.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tile/Analysis/CostModel.h"
#include "tile/Analysis/Registers.h"
#include "tile/Analysis/RolePlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

/// Times of the threads' own operations as measured, relative to the rates of
/// their units: dependences, bank conflicts and jitter (attention on H200).
static constexpr double kSlowdown = 1.3;
/// Cycles of the shuffles of a reduction.
static constexpr int64_t kReductionLatency = 60;
/// Cycles of the barrier of all warps between the writes of a tile to shared
/// memory and its product.
static constexpr int64_t kExchangeLatency = 60;
/// Registers of addresses, loop counters and masks. In loops of attention,
/// ptxas takes 27 to 31 beyond those of the tiles, and does with 26.
static constexpr int64_t kAllowance = 26;
/// The allowance of a loop that writes to global memory: more addresses, and
/// numbers of tiles that wait in shared memory. With 26, backward attention at
/// head dimension 128 gets an order that is 5 to 7 % slower on an H200.
static constexpr int64_t kWritingAllowance = 40;
/// Registers that ptxas may take beyond the estimate of a rotated loop. Without
/// them it spills and serializes wgmmas.
static constexpr int64_t kRotationMargin = 32;
/// The bytes of operands that an asynchronous product reads at once: 64 rows of
/// a, and up to 256 columns of b.
static constexpr int64_t kProductRows = 64, kProductColumns = 256;

namespace {
/// Cycles of one group of warps on the units that all groups share.
struct Work {
  double arithmetic = 0, exponentials = 0, latency = 0;

  /// Returns the time of the stream: both units work at the same time.
  double time() const { return std::max(arithmetic, exponentials) + latency; }
};

class GraphBuilder {
public:
  GraphBuilder(const LoopBody &body, KernelOp kernel, const Chip &chip,
               LoopGraph &graph)
      : body(body), kernel(kernel), chip(chip), graph(graph),
        warps(kernel.getNumWarps()), threads(warps * chip.warpSize) {}

  Refusal run();

private:
  Refusal addProducts();
  void addOperations();
  void addDependences();
  void addValues();
  void addFixedRegisters();

  double countElements(Type type) const;
  int64_t countRegisters(Type type) const;
  bool isInShared(Value operand) const;
  double countTransfer(Type type) const;
  Work measure(Operation *op) const;

  const LoopBody &body;
  KernelOp kernel;
  const Chip &chip;
  LoopGraph &graph;
  int64_t warps, threads;
  /// The groups of warps that execute products together.
  int64_t groups = 1;
  /// Cycles of all groups.
  double matrix = 0, shared = 0;
};
} // namespace

/// Returns the elements of a tile for one group of warps; a scalar is one.
double GraphBuilder::countElements(Type type) const {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? double(tile.getNumElements()) / groups : 1;
}

int64_t GraphBuilder::countRegisters(Type type) const {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile)
    return 1;
  int64_t bits = tile.getElementTypeBitWidth();
  // Rows and columns are held by all threads that have some of their elements.
  constexpr int64_t kRowsOfWarp = 8;
  int64_t holders = tile.getRank() == 1 ? warps * kRowsOfWarp : threads;
  return llvm::divideCeil(tile.getNumElements() * (bits < 16 ? 32 : bits),
                          32 * holders);
}

/// Returns true if a product reads `operand` from shared memory, where a copy
/// puts it.
bool GraphBuilder::isInShared(Value operand) const {
  while (auto view = operand.getDefiningOp<TransposeOp>())
    operand = view.getSource();
  return operand.getDefiningOp<LoadOp>();
}

Refusal GraphBuilder::addProducts() {
  SmallVector<std::pair<DotOp, const Mma *>> products;
  for (unsigned node = 0; node < body.nodes.size(); ++node) {
    DotOp dot = body.getProduct(node);
    if (!dot)
      continue;
    MmaAttr layout = findMma(dot, warps, chip);
    if (!layout)
      return "no matrix instruction of " + chip.name.str() +
             " computes a product";
    products.push_back({dot, &layout.getMma()});
  }
  bool isAsync = llvm::all_of(
      products, [](const auto &product) { return product.second->isAsync; });
  for (auto [dot, mma] : products) {
    groups = std::max<int64_t>(warps / mma->warps, 1);
    graph.issueCycles = std::max(graph.issueCycles, mma->issueCycles);
    graph.productLatency = std::max(graph.productLatency, mma->latencyCycles);
  }
  for (auto [dot, mma] : products) {
    RankedTensorType tile = dot.getTile();
    int64_t rows = tile.getDimSize(0), columns = tile.getDimSize(1);
    auto a = cast<RankedTensorType>(dot.getA().getType());
    int64_t depth = a.getDimSize(1), bits = getBits(mma->operand);
    double operations = 2.0 * rows * columns * depth;
    double blocks = llvm::divideCeil(rows, kProductRows);
    double bytes = blocks * columns * depth * bits / 8;
    if (isInShared(dot.getA()))
      bytes += rows * depth * bits / 8.0 *
               llvm::divideCeil(columns, kProductColumns);
    double matrixCycles = operations / getPeakRate(chip, *mma);
    double sharedCycles = bytes / chip.throughput.sharedBytes;
    double cycles =
        std::max(matrixCycles, sharedCycles) / groups + mma->gapCycles;
    graph.nodes[body.nodeOf.lookup(dot)] = {int64_t(cycles), isAsync};
    matrix += cycles * groups;
    shared += sharedCycles;
  }
  return std::nullopt;
}

/// Returns the cycles in which a group moves its part of a tile to or from
/// shared memory.
double GraphBuilder::countTransfer(Type type) const {
  return countElements(type) *
         getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8 /
         chip.throughput.sharedBytes;
}

/// Returns the work of an operation that is no product.
Work GraphBuilder::measure(Operation *op) const {
  Work work;
  // The tile leaves through shared memory, or as many bytes at a time from
  // registers.
  if (auto store = dyn_cast<StoreOp>(op))
    work.latency = countTransfer(store.getValue().getType());
  if (auto sum = dyn_cast<AtomicRMWOp>(op))
    work.latency = countTransfer(sum.getValue().getType());
  if (isa<LoadOp, TransposeOp, BroadcastOp, IotaOp, tensor::SplatOp>(op) ||
      op->hasTrait<OpTrait::ConstantLike>() || op->getNumResults() == 0 ||
      isMaskOfCoordinates(op))
    return work;
  double elements = countElements(op->getResultTypes().front());
  // Minimum and maximum have half of the rate (CUDA C++ Programming Guide).
  auto getCycles = [](arith::AtomicRMWKind kind) {
    return kind == arith::AtomicRMWKind::addf ? 1 : 2;
  };
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    work.arithmetic = getCycles(reduce.getKind()) *
                      countElements(reduce.getSource().getType());
    work.latency = kReductionLatency;
  } else if (auto scan = dyn_cast<ScanOp>(op)) {
    work.arithmetic = getCycles(scan.getKind()) * kScanCombinations * elements;
    work.latency = kReductionLatency;
  } else if (auto scan = dyn_cast<AssociativeScanOp>(op)) {
    work.arithmetic = scan.countOperations() * kScanCombinations * elements;
    work.latency = kReductionLatency;
  } else if (isa<arith::DivFOp>(op) ||
             (isa<math::MathDialect>(op->getDialect()) &&
              !isa<math::FmaOp, math::AbsFOp>(op))) {
    work.exponentials = elements;
  } else {
    work.arithmetic = elements;
  }
  work.arithmetic /= chip.throughput.arithmetic;
  work.exponentials /= chip.throughput.exponentials;
  return work;
}

void GraphBuilder::addOperations() {
  Work all;
  SmallVector<double> times(body.nodes.size(), 0);
  for (unsigned node = 0; node < body.nodes.size(); ++node) {
    if (body.getProduct(node))
      continue;
    llvm::SetVector<Operation *> onDemand;
    // A reduction or a scan ends before what follows it begins.
    Work part;
    auto add = [&](Operation *op) {
      Work work = measure(op);
      part.arithmetic += work.arithmetic;
      part.exponentials += work.exponentials;
      part.latency += work.latency;
      all.arithmetic += work.arithmetic * groups;
      all.exponentials += work.exponentials * groups;
      if (isa<AssociativeScanOp, ReduceOp, ScanOp>(op))
        times[node] += std::exchange(part, Work()).time();
    };
    for (Operation *op : body.nodes[node]) {
      size_t before = onDemand.size();
      body.findSources(op, &onDemand);
      for (Operation *each : onDemand.getArrayRef().drop_front(before))
        add(each);
      add(op);
      for (Value result : op->getResults())
        if (body.isExchanged(result)) {
          part.latency += countTransfer(result.getType());
          graph.nodes[node].latency = kExchangeLatency;
        }
    }
    times[node] += part.time();
  }
  graph.units = {{"matrix", int64_t(matrix)},
                 {"exponential", int64_t(all.exponentials)},
                 {"arithmetic", int64_t(all.arithmetic)},
                 {"shared memory", int64_t(shared)}};
  // Other groups take some of the issue slots.
  double busiest = std::max({matrix, shared, all.exponentials, all.arithmetic});
  double slowdown =
      kSlowdown * (1 + (groups - 1.0) / groups * all.arithmetic / busiest);
  for (unsigned node = 0; node < body.nodes.size(); ++node)
    if (!body.getProduct(node))
      graph.nodes[node].cycles =
          std::max<int64_t>(int64_t(times[node] * slowdown), 1);
}

void GraphBuilder::addDependences() {
  scf::ForOp loop = body.loop;
  // The node that loads each tile is read in.
  llvm::DenseMap<Operation *, unsigned> readers;
  for (unsigned node = 0; node < body.nodes.size(); ++node) {
    llvm::SetVector<Value> sources;
    llvm::SetVector<Operation *> onDemand;
    for (Operation *op : body.nodes[node])
      for (Value source : body.findSources(op, &onDemand))
        sources.insert(source);
    llvm::SetVector<std::pair<unsigned, unsigned>> edges;
    for (Value source : sources) {
      unsigned distance = 0;
      if (auto argument = dyn_cast<BlockArgument>(source)) {
        source = loop.getTiedLoopYieldedValue(argument)->get();
        distance = 1;
      }
      auto from = body.nodeOf.find(source.getDefiningOp());
      if (from != body.nodeOf.end() && (distance || from->second != node))
        edges.insert({from->second, distance});
    }
    for (Operation *op : body.nodes[node])
      if (llvm::is_contained(body.writes, op))
        for (Operation *write : body.findWritesBefore(op))
          edges.insert({body.nodeOf.lookup(write), 0});
    for (auto [from, distance] : edges)
      graph.dependences.push_back({from, node, distance});
    for (Operation *op : onDemand)
      if (isa<LoadOp>(op))
        if (auto [it, isNew] = readers.try_emplace(op, node); !isNew)
          graph.together.push_back({it->second, node});
  }
}

/// Returns true if a product reads `value` from registers until it ends,
/// directly or through views. A transposed tile is read from shared memory.
static bool isHeld(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    if (auto dot = dyn_cast<DotOp>(use.getOwner()))
      return &use != &dot.getAccMutable();
    return isa<BroadcastOp>(use.getOwner()) &&
           isHeld(use.getOwner()->getResult(0));
  });
}

void GraphBuilder::addValues() {
  scf::ForOp loop = body.loop;
  llvm::DenseMap<Value, llvm::SetVector<unsigned>> users;
  for (auto [node, operations] : llvm::enumerate(body.nodes))
    for (Operation *op : operations)
      for (Value source : body.findSources(op))
        if (isa<BlockArgument>(source) ||
            body.nodeOf.lookup(source.getDefiningOp()) != node)
          users[source].insert(node);
  for (auto [node, operations] : llvm::enumerate(body.nodes))
    for (Operation *op : operations)
      for (Value result : op->getResults()) {
        LoopGraph::Value value;
        value.registers = countRegisters(result.getType());
        value.from = node;
        value.isHeld = isHeld(result);
        value.users = llvm::to_vector<2>(users[result].getArrayRef());
        llvm::SetVector<unsigned> next;
        for (auto [argument, yielded] :
             llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()))
          if (yielded == result) {
            value.isCarried = true;
            next.insert_range(users[argument]);
          }
        value.nextUsers = llvm::to_vector<2>(next.getArrayRef());
        if (value.isCarried || !value.users.empty())
          graph.values.push_back(std::move(value));
      }
}

/// Adds the tiles from outside of the loop that it reads from registers.
void GraphBuilder::addFixedRegisters() {
  scf::ForOp loop = body.loop;
  llvm::SetVector<Value> tiles;
  for (Operation &op : loop.getBody()->without_terminator())
    for (Value operand : op.getOperands()) {
      while (Operation *view = operand.getDefiningOp()) {
        if (!isa<TransposeOp, BroadcastOp>(view))
          break;
        operand = view->getOperand(0);
      }
      if (isa<RankedTensorType>(operand.getType()) &&
          !loop->isAncestor(operand.getParentBlock()->getParentOp()) &&
          !feedsOnlyProducts(operand) && !isFunctionOfCoordinates(operand))
        tiles.insert(operand);
    }
  graph.fixedRegisters = body.writes.empty() ? kAllowance : kWritingAllowance;
  for (Value tile : tiles)
    graph.fixedRegisters += countRegisters(tile.getType());
}

/// Returns the registers of a thread that computes: those of the schedule, or
/// what a warpgroup of producers leaves if the roles are still to be chosen.
static int64_t getConsumerRegisters(KernelOp kernel, const Chip &chip) {
  Schedule schedule = getSchedule(kernel);
  int64_t producers = schedule.producers.value_or(kWarpgroupWarps);
  if (schedule.registers || !chip.bulkCopy || producers != kWarpgroupWarps)
    return getRegisterLimit(kernel, chip);
  return getMostConsumerRegisters(
      chip, kernel.getNumWarps() * getSchedule(kernel).countConsumerGroups());
}

Refusal GraphBuilder::run() {
  graph.nodes.resize(body.nodes.size());
  if (Refusal refusal = addProducts())
    return refusal;
  graph.groups = groups;
  addOperations();
  addDependences();
  addValues();
  addFixedRegisters();
  graph.registerLimit = getConsumerRegisters(kernel, chip);
  graph.rotationMargin = kRotationMargin;
  graph.keepsIterations = !body.writes.empty();
  return std::nullopt;
}

Refusal tile::buildLoopGraph(const LoopBody &body, KernelOp kernel,
                             const Chip &chip, LoopGraph &graph) {
  return GraphBuilder(body, kernel, chip, graph).run();
}
