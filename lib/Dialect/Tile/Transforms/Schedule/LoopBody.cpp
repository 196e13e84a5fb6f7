//===- LoopBody.cpp - The nodes of a loop ---------------------------------===//

#include "LoopBody.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <map>
#include <tuple>

using namespace mlir;
using namespace tile;

bool LoopBody::isOnDemand(Operation *op) const {
  return op && op->getBlock() == scf::ForOp(loop).getBody() &&
         !op->hasTrait<OpTrait::IsTerminator>() && !nodeOf.contains(op);
}

llvm::SetVector<Value>
LoopBody::findSources(Operation *op, llvm::SetVector<Operation *> *used) const {
  llvm::SetVector<Value> sources;
  llvm::SetVector<Operation *> local;
  llvm::SetVector<Operation *> &visited = used ? *used : local;
  SmallVector<Value> values(op->getOperands());
  scf::ForOp loop = this->loop;
  while (!values.empty()) {
    Value value = values.pop_back_val();
    if (value.getParentBlock() != loop.getBody() ||
        value == loop.getInductionVar())
      continue;
    Operation *source = value.getDefiningOp();
    if (!isOnDemand(source))
      sources.insert(value);
    else if (visited.insert(source))
      llvm::append_range(values, source->getOperands());
  }
  return sources;
}

DotOp LoopBody::getProduct(unsigned node) const {
  return dyn_cast<DotOp>(nodes[node].front());
}

bool LoopBody::isExchanged(Value value) const {
  // The fragment of an accumulator is an operand a as it lies. Operands b, and
  // those with rows and columns exchanged, need elements of other warps.
  return nodeOf.contains(value.getDefiningOp()) &&
         llvm::any_of(value.getUses(), [&](OpOperand &use) {
           auto dot = dyn_cast<DotOp>(use.getOwner());
           return dot ? &use == &dot.getBMutable()
                      : isa<TransposeOp>(use.getOwner()) &&
                            llvm::any_of(use.getOwner()->getUsers(),
                                         llvm::IsaPred<DotOp>);
         });
}

SmallVector<Operation *> LoopBody::findWritesBefore(Operation *write) const {
  return llvm::filter_to_vector(writes, [&](Operation *other) {
    return other->isBeforeInBlock(write) && mustKeepOrder(other, write);
  });
}

bool tile::hasIteration(scf::ForOp loop) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> upper = getConstantIntValue(loop.getUpperBound());
  return lower && upper && *lower < *upper;
}

//===----------------------------------------------------------------------===//
// Operations that may leave their iteration
//===----------------------------------------------------------------------===//

static std::string quote(Operation *op) {
  return "'" + op->getName().getStringRef().str() + "'";
}

static bool isWrite(Operation *op) { return isa<StoreOp, AtomicRMWOp>(op); }

/// Refuses an operation that cannot run an iteration ahead, or a write that
/// cannot leave its place in its iteration. A rotated loop that may have no
/// iteration runs each operation once all the same.
static Refusal checkOperation(Operation *op, RunAhead &runAhead,
                              bool mayBeEmpty) {
  if (isa<LoadOp>(op))
    return std::nullopt;
  if (isWrite(op))
    return runAhead.checkWrite(op, op->getParentOp());
  if (auto dot = dyn_cast<DotOp>(op)) {
    if (dot.getAsync())
      return "its author awaits its products";
    if (!llvm::all_of(dot->getOperandTypes(), llvm::IsaPred<RankedTensorType>))
      return "a product reads a buffer";
    return std::nullopt;
  }
  if (!runAhead.isRepeatable(op))
    return quote(op) + " must stay in its iteration";
  if (mayBeEmpty && !isSpeculatable(op))
    return quote(op) + " must not run if the loop has no iteration";
  return std::nullopt;
}

/// Refuses a value that the loop carries and that is not computed in the
/// iteration before.
static Refusal checkYield(scf::ForOp loop, Value yielded) {
  if (yielded.getParentBlock() != loop.getBody())
    return std::nullopt;
  if (isa<BlockArgument>(yielded))
    return "it yields one of its own arguments";
  if (isa<LoadOp, TransposeOp, BroadcastOp>(yielded.getDefiningOp()))
    return "it carries the result of " + quote(yielded.getDefiningOp());
  return std::nullopt;
}

/// Refuses a loop whose author runs products an iteration ahead already.
static Refusal checkProduct(scf::ForOp loop, DotOp dot) {
  for (Value operand : {dot.getA(), dot.getB()}) {
    while (auto view = operand.getDefiningOp<TransposeOp>())
      operand = view.getSource();
    if (isa<BlockArgument>(operand) &&
        operand.getParentBlock() == loop.getBody())
      return "a product reads a tile of the iteration before";
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

namespace {
/// The products, one bit each, around an operation: those before and after it
/// in its iteration, and through values that the loop carries.
struct Around {
  uint64_t before = 0, after = 0, lastBefore = 0, nextAfter = 0;
  /// Whether the operation only computes an operand of a product.
  bool isOperand = false;

  auto key() const {
    return std::tuple(before, after, lastBefore, nextAfter, isOperand);
  }
};

/// Finds the nodes of a body.
class Divider {
public:
  explicit Divider(LoopBody &body) : body(body), loop(body.loop) {}
  void run();

private:
  void findProductsBefore();
  void findProductsAfter();
  void formNodes();
  void sortNodes();

  /// Returns `around` of the operation and the operation itself if it is a
  /// product.
  uint64_t through(Operation *op, uint64_t around) const {
    return around | bits.lookup(op);
  }

  LoopBody &body;
  scf::ForOp loop;
  llvm::DenseMap<Operation *, uint64_t> bits;
  llvm::DenseMap<Operation *, Around> around;
};
} // namespace

/// Returns true if `op` is computed from the induction variable and from values
/// outside of the loop only.
static bool isFunctionOfIteration(Operation *op, scf::ForOp loop,
                                  const llvm::DenseSet<Operation *> &others) {
  return !isa<AssociativeScanOp, DotOp, ReduceOp, ScanOp>(op) && !isWrite(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return operand.getParentBlock() != loop.getBody() ||
                  operand == loop.getInductionVar() ||
                  others.contains(operand.getDefiningOp());
         });
}

void Divider::findProductsBefore() {
  for (Operation &op : loop.getBody()->without_terminator())
    around.try_emplace(&op);
  llvm::DenseMap<Value, uint64_t> last;
  for (bool isCarried : {false, true}) {
    if (isCarried)
      for (auto [argument, yielded] :
           llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()))
        if (Operation *op = yielded.getDefiningOp();
            op && op->getBlock() == loop.getBody())
          last[argument] = through(op, around[op].before);
    for (Operation &op : loop.getBody()->without_terminator())
      for (Value operand : op.getOperands()) {
        Operation *source = operand.getDefiningOp();
        bool isInside = source && source->getBlock() == loop.getBody();
        Around &each = around[&op];
        if (!isCarried && isInside)
          each.before |= through(source, around[source].before);
        else if (isCarried)
          each.lastBefore |=
              isInside ? around[source].lastBefore : last.lookup(operand);
      }
  }
}

void Divider::findProductsAfter() {
  Operation *yield = loop.getBody()->getTerminator();
  auto findAfter = [&](Value value) {
    uint64_t after = 0;
    for (Operation *user : value.getUsers())
      if (user != yield)
        after |= through(user, around[user].after);
    return after;
  };
  auto operations = llvm::reverse(loop.getBody()->without_terminator());
  for (Operation &op : operations)
    for (Value result : op.getResults())
      around[&op].after |= findAfter(result);
  for (Operation &op : operations)
    for (OpOperand &use : op.getUses()) {
      if (use.getOwner() == yield)
        around[&op].nextAfter |=
            findAfter(loop.getRegionIterArg(use.getOperandNumber()));
      else
        around[&op].nextAfter |= around[use.getOwner()].nextAfter;
    }
}

void Divider::formNodes() {
  llvm::DenseSet<Operation *> onDemand;
  std::map<decltype(std::declval<Around>().key()), unsigned> groups;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isFunctionOfIteration(&op, loop, onDemand) ||
        isa<LoadOp, TransposeOp, BroadcastOp>(op)) {
      onDemand.insert(&op);
      continue;
    }
    Around &each = around[&op];
    each.isOperand =
        !op.use_empty() && llvm::all_of(op.getUsers(), llvm::IsaPred<DotOp>);
    unsigned node = body.nodes.size();
    if (isWrite(&op))
      body.writes.push_back(&op);
    else if (!isa<DotOp>(op))
      node = groups.try_emplace(each.key(), node).first->second;
    if (node == body.nodes.size())
      body.nodes.emplace_back();
    body.nodes[node].push_back(&op);
    body.nodeOf[&op] = node;
  }
}

/// Orders the nodes so that each one comes after those that it needs, and else
/// as their first operations are ordered.
void Divider::sortNodes() {
  size_t count = body.nodes.size();
  SmallVector<llvm::DenseSet<unsigned>> needs(count);
  for (unsigned node = 0; node < count; ++node)
    for (Operation *op : body.nodes[node]) {
      for (Value source : body.findSources(op))
        if (Operation *producer = source.getDefiningOp())
          if (unsigned other = body.nodeOf.lookup(producer); other != node)
            needs[node].insert(other);
      if (isWrite(op))
        for (Operation *before : body.findWritesBefore(op))
          needs[node].insert(body.nodeOf.lookup(before));
    }
  SmallVector<SmallVector<Operation *>> sorted;
  SmallVector<bool> isDone(count, false);
  while (sorted.size() < count)
    for (unsigned node = 0; node < count; ++node)
      if (!isDone[node] && llvm::all_of(needs[node], [&](unsigned other) {
            return isDone[other];
          })) {
        isDone[node] = true;
        sorted.push_back(std::move(body.nodes[node]));
        break;
      }
  body.nodes = std::move(sorted);
  for (auto [node, operations] : llvm::enumerate(body.nodes))
    for (Operation *op : operations)
      body.nodeOf[op] = node;
}

void Divider::run() {
  for (auto [number, dot] : llvm::enumerate(loop.getBody()->getOps<DotOp>()))
    bits[dot] = uint64_t(1) << number;
  findProductsBefore();
  findProductsAfter();
  formNodes();
  sortNodes();
}

Refusal tile::analyzeLoop(scf::ForOp loop, RunAhead &runAhead, LoopBody &body) {
  body.loop = loop;
  bool mayBeEmpty = !hasIteration(loop);
  for (Operation &op : loop.getBody()->without_terminator())
    if (Refusal refusal = checkOperation(&op, runAhead, mayBeEmpty))
      return refusal;
  for (Value yielded : loop.getYieldedValues())
    if (Refusal refusal = checkYield(loop, yielded))
      return refusal;
  auto products = loop.getBody()->getOps<DotOp>();
  for (DotOp dot : products)
    if (Refusal refusal = checkProduct(loop, dot))
      return refusal;
  constexpr int64_t kMostProducts = 64;
  if (std::distance(products.begin(), products.end()) > kMostProducts)
    return "it has more than " + std::to_string(kMostProducts) + " products";
  Divider(body).run();
  return std::nullopt;
}
