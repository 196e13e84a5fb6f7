//===- ClusterExchange.cpp - Exchanges between blocks ---------------------===//

#include "ClusterExchange.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tile;

/// Bytes of the widest asynchronous store (PTX ISA, "st.async"), and of the
/// narrowest one.
static constexpr int64_t kWidestStore = 16, kNarrowestStore = 4;

bool tile::isSharedMemory(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  auto space =
      type
          ? dyn_cast_or_null<mlir::gpu::AddressSpaceAttr>(type.getMemorySpace())
          : mlir::gpu::AddressSpaceAttr();
  return space && space.getValue() == mlir::gpu::AddressSpace::Workgroup;
}

namespace {
/// Computes values of one thread that depend on its number only.
class ThreadEvaluator {
public:
  explicit ThreadEvaluator(int64_t thread) : thread(thread) {}

  /// Returns null if `value` depends on anything else.
  Attribute evaluate(Value value);

private:
  Attribute compute(Value value);

  int64_t thread;
  llvm::DenseMap<Value, Attribute> known;
};

/// A branch that a thread takes if the condition has this value.
struct Guard {
  Value condition;
  bool isTaken;
};
} // namespace

Attribute ThreadEvaluator::evaluate(Value value) {
  auto [place, isNew] = known.try_emplace(value);
  if (!isNew)
    return place->second;
  Attribute result = compute(value);
  return known[value] = result;
}

Attribute ThreadEvaluator::compute(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (auto id = dyn_cast<mlir::gpu::ThreadIdOp>(op)) {
    bool isFirst = id.getDimension() == mlir::gpu::Dimension::x;
    return IntegerAttr::get(value.getType(), isFirst ? thread : 0);
  }
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant;
  if (op->getNumRegions() != 0 || op->getNumResults() != 1 || !isPure(op))
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(evaluate(operand));
    if (!operands.back())
      return {};
  }
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) || results.size() != 1)
    return {};
  if (auto other = dyn_cast<Value>(results.front()))
    return other == value ? Attribute() : evaluate(other);
  return cast<Attribute>(results.front());
}

/// Returns how many of `threads` threads pass all guards; nothing if that
/// depends on more than their numbers.
static std::optional<int64_t> countThreads(ArrayRef<Guard> guards,
                                           int64_t threads) {
  int64_t count = 0;
  for (int64_t thread = 0; thread < threads; ++thread) {
    ThreadEvaluator evaluator(thread);
    bool passes = true;
    for (const Guard &guard : guards) {
      auto condition =
          dyn_cast_or_null<IntegerAttr>(evaluator.evaluate(guard.condition));
      if (!condition)
        return std::nullopt;
      passes &= condition.getValue().isZero() != guard.isTaken;
    }
    count += passes;
  }
  return count;
}

/// Returns the ancestor of `op` in the block of the closest barrier around it
/// for which `find` returns one, and that barrier. There must be branches only
/// in between, whose guards are added.
static std::pair<Operation *, mlir::gpu::BarrierOp>
climb(Operation *op, SmallVectorImpl<Guard> &guards,
      llvm::function_ref<mlir::gpu::BarrierOp(Operation *)> find) {
  while (true) {
    if (mlir::gpu::BarrierOp barrier = find(op))
      return {op, barrier};
    auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
    if (!branch)
      return {};
    bool isTaken = op->getParentRegion() == &branch.getThenRegion();
    guards.push_back({branch.getCondition(), isTaken});
    op = branch;
  }
}

/// Returns true if `op` has a barrier in it.
static bool containsBarrier(Operation *op) {
  return op->walk([](mlir::gpu::BarrierOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Checks that no other exchange is between the first store of `exchange` and
/// the last load.
static bool isApart(const ClusterExchange &exchange) {
  Operation *end = exchange.lastLoad->getNextNode();
  for (Operation *op = exchange.firstStore; op != end; op = op->getNextNode())
    if (op != exchange.barrier && containsBarrier(op))
      return false;
  return true;
}

std::optional<std::string>
tile::findExchanges(mlir::gpu::GPUFuncOp func, int64_t threads,
                    SmallVectorImpl<ClusterExchange> &exchanges) {
  llvm::MapVector<Operation *, ClusterExchange> found;
  SmallVector<Operation *> loads;
  std::optional<std::string> reason;
  func.walk([&](Operation *op) -> WalkResult {
    if (auto load = dyn_cast<vector::LoadOp>(op);
        load && isSharedMemory(load.getBase()))
      loads.push_back(load);
    auto store = dyn_cast<vector::StoreOp>(op);
    if (!store || !isSharedMemory(store.getBase()))
      return WalkResult::advance();
    SmallVector<Guard> guards;
    auto [place, barrier] = climb(store, guards, [](Operation *op) {
      while (op && !isa<mlir::gpu::BarrierOp>(op))
        op = op->getNextNode();
      return cast_or_null<mlir::gpu::BarrierOp>(op);
    });
    std::optional<int64_t> count = countThreads(guards, threads);
    VectorType type = store.getVectorType();
    int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
    if (!barrier || !count) {
      reason = "which threads store is known at run time";
      return WalkResult::interrupt();
    }
    if (bytes < kNarrowestStore || bytes > kWidestStore ||
        !llvm::isPowerOf2_64(bytes)) {
      reason = "a thread stores " + std::to_string(bytes) + " bytes";
      return WalkResult::interrupt();
    }
    ClusterExchange &exchange = found[barrier];
    exchange.barrier = barrier;
    exchange.stores.push_back(store);
    if (!exchange.firstStore)
      exchange.firstStore = place;
    exchange.lastStore = exchange.lastLoad = place;
    exchange.bytes += *count * bytes;
    return WalkResult::advance();
  });
  if (reason)
    return reason;
  for (auto &[barrier, exchange] : found)
    exchange.lastLoad = barrier;
  for (Operation *load : loads) {
    SmallVector<Guard> guards;
    auto [place, barrier] = climb(load, guards, [&](Operation *op) {
      while (op && !found.contains(op))
        op = op->getPrevNode();
      return cast_or_null<mlir::gpu::BarrierOp>(op);
    });
    if (!barrier)
      return "a thread loads what no exchange has stored";
    ClusterExchange &exchange = found[barrier];
    if (exchange.lastLoad->isBeforeInBlock(place))
      exchange.lastLoad = place;
  }
  for (auto &[barrier, exchange] : found) {
    if (!isApart(exchange))
      return "exchanges overlap";
    exchanges.push_back(exchange);
  }
  return std::nullopt;
}
