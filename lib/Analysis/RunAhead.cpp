//===- RunAhead.cpp - Operations that may leave their place ---------------===//

#include "tile/Analysis/RunAhead.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tile/Analysis/GlobalMemory.h"
#include "tile/Analysis/SharedMemory.h"
#include "tile/Dialect/Tile/IR/Contains.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

bool RunAhead::isRepeatable(Operation *op) {
  if (op->getNumRegions() != 0 || op->hasTrait<OpTrait::IsTerminator>())
    return false;
  if (isMemoryEffectFree(op))
    return true;
  auto load = dyn_cast<LoadScalarOp>(op);
  if (!load)
    return false;
  BlockArgument argument = getRootArgument(load.getBuffer());
  auto [it, isNew] = isWritten.try_emplace(argument);
  if (isNew)
    it->second = isAccessedIn(kernel, argument, /*isWrite=*/true);
  return !it->second;
}

llvm::DenseSet<Operation *> RunAhead::findBlockScalars() {
  llvm::DenseSet<Operation *> scalars;
  bool isAfterWait = false;
  for (Operation &op : kernel.getBody().front()) {
    isAfterWait |= isa<WaitPrerequisitesOp>(op);
    bool isKnown =
        isRepeatable(&op) && (!isAfterWait || isMemoryEffectFree(&op)) &&
        llvm::none_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>) &&
        llvm::all_of(op.getOperands(), [&](Value operand) {
          Operation *source = operand.getDefiningOp();
          return !source || scalars.contains(source);
        });
    if (isKnown || isa<GridOp, RequireOp>(op))
      scalars.insert(&op);
  }
  return scalars;
}

/// Returns the loop that carries `value`, an argument or a result of it, and
/// the number of the value; null if there is none.
static std::pair<scf::ForOp, unsigned> findCarried(Value value) {
  if (auto result = dyn_cast<OpResult>(value))
    return {dyn_cast<scf::ForOp>(result.getOwner()), result.getResultNumber()};
  auto argument = cast<BlockArgument>(value);
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || argument == loop.getInductionVar())
    return {};
  return {loop, argument.getArgNumber() - loop.getNumInductionVars()};
}

Refusal RunAhead::checkValue(Value value, Operation *scope,
                             llvm::SetVector<Operation *> *slice) {
  llvm::SetVector<Operation *> local;
  llvm::SetVector<Operation *> &visited = slice ? *slice : local;
  SmallVector<Value> values{value};
  llvm::SmallDenseSet<Value> carried;
  while (!values.empty()) {
    Value value = values.pop_back_val();
    if (!scope->isAncestor(value.getParentBlock()->getParentOp()))
      continue;
    if (auto [loop, number] = findCarried(value); loop) {
      // A role that runs all iterations can carry a scalar too.
      if (scope != kernel || isa<RankedTensorType>(value.getType()))
        return "its place depends on a value that a loop carries";
      if (carried.insert(loop.getRegionIterArg(number)).second)
        values.append({loop.getInitArgs()[number],
                       loop.getYieldedValues()[number], loop.getLowerBound(),
                       loop.getUpperBound(), loop.getStep()});
      continue;
    }
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *owner = argument.getOwner()->getParentOp();
      if (isa<KernelOp, scf::ForOp>(owner))
        continue;
      return "its place depends on a value of '" +
             owner->getName().getStringRef().str() + "'";
    }
    Operation *op = value.getDefiningOp();
    if (!isRepeatable(op))
      return "its place depends on '" + op->getName().getStringRef().str() +
             "', which cannot run ahead";
    if (visited.insert(op))
      llvm::append_range(values, op->getOperands());
  }
  return std::nullopt;
}

Refusal RunAhead::checkLoops(Operation *op, Operation *scope) {
  for (Operation *parent = op->getParentOp(); parent != scope;
       parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return "it is inside '" + parent->getName().getStringRef().str() + "'";
    for (Value bound :
         {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (Refusal refusal = checkValue(bound, scope))
        return "a loop around it: " + *refusal;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Loads and copies
//===----------------------------------------------------------------------===//

/// Refuses to read `source` ahead if an operation in `scope` writes its memory.
Refusal RunAhead::checkSource(Value source, Operation *scope) {
  auto isWritten = [&](Value buffer) {
    return isAccessedIn(scope, getRootArgument(buffer), /*isWrite=*/true);
  };
  auto paged = source.getDefiningOp<PagedOp>();
  if (!isWritten(source) && !(paged && isWritten(paged.getTable())))
    return std::nullopt;
  return std::string(scope == kernel ? "the kernel" : "the loop") +
         " writes its source";
}

Refusal RunAhead::checkLoad(LoadOp load, Operation *scope) {
  if (Refusal refusal = checkSource(load.getBuffer(), scope))
    return refusal;
  for (Value operand : load->getOperands())
    if (Refusal refusal = checkValue(operand, scope))
      return refusal;
  return checkLoops(load, scope);
}

/// Returns the operation of `block` that waits for `product`, itself or in its
/// regions; null if there is none.
static Operation *findAwait(Value product, Block *block) {
  for (Operation *user : product.getUsers()) {
    if (isa<AwaitOp>(user))
      return block->findAncestorOpInBlock(*user);
    if (auto dot = dyn_cast<DotOp>(user))
      return findAwait(dot.getResult(), block);
  }
  return nullptr;
}

Refusal tile::findReaders(BufferCopy &copy) {
  Block *block = copy.copy->getBlock();
  copy.first = copy.last = nullptr;
  for (Operation *user : getBufferUsers(copy.buffer)) {
    if (user == copy.copy)
      continue;
    for (const SharedAccess &access : getSharedAccesses(user))
      if (access.isWrite)
        return "its buffer is written elsewhere too";
    Operation *reader = block->findAncestorOpInBlock(*user);
    if (!reader || !copy.copy->isBeforeInBlock(reader))
      return "its buffer is read elsewhere than after it";
    if (!copy.first || reader->isBeforeInBlock(copy.first))
      copy.first = reader;
    // An asynchronous MMA reads until it is awaited.
    if (auto dot = dyn_cast<DotOp>(user); dot && dot.getAsync())
      reader = findAwait(dot.getResult(), block);
    if (!reader)
      return "a product in flight reads its buffer beyond the block of the "
             "copy";
    if (!copy.last || copy.last->isBeforeInBlock(reader))
      copy.last = reader;
  }
  if (!copy.first)
    return "nobody reads its buffer";
  return std::nullopt;
}

Refusal RunAhead::checkCopy(CopyOp copy, Operation *scope, BufferCopy &result) {
  result.copy = copy;
  result.buffer = copy.getDest().getDefiningOp<AllocOp>();
  if (copy.getAsync())
    return "it is asynchronous already";
  if (!result.buffer || result.buffer->getBlock() != copy->getBlock())
    return "its buffer is not allocated beside it";
  if (result.buffer.getOffset())
    return "the offset of its buffer is pinned";
  if (Refusal refusal = findReaders(result))
    return refusal;
  if (Refusal refusal = checkSource(copy.getSource(), scope))
    return refusal;
  if (Refusal refusal = checkValue(copy.getSource(), scope, &result.slice))
    return refusal;
  for (Value index : copy.getIndices())
    if (Refusal refusal = checkValue(index, scope, &result.slice))
      return refusal;
  return checkLoops(copy, scope);
}

//===----------------------------------------------------------------------===//
// Operations that may end late
//===----------------------------------------------------------------------===//

Refusal RunAhead::checkLateWait(CopyOp copy, BufferCopy &result) {
  result.copy = copy;
  result.buffer = copy.getDest().getDefiningOp<AllocOp>();
  if (copy.getAsync())
    return "it is asynchronous already";
  if (!result.buffer)
    return "it fills a part of its buffer";
  if (Refusal refusal = findReaders(result))
    return refusal;
  return checkSource(copy.getSource(), kernel);
}

Refusal RunAhead::checkLateLoad(LoadOp load) {
  AllocOp root = getRootAlloc(load.getBuffer());
  if (!root)
    return "it reads no allocation in shared memory";
  // The read must stay between the mbarriers of TMA.
  if (isFilledInBulk(root))
    return "TMA fills its buffer";
  Block *block = load->getBlock();
  for (Operation *user : getBufferUsers(root))
    if (block->findAncestorOpInBlock(*user))
      for (const SharedAccess &access : getSharedAccesses(user))
        if (access.isWrite && access.root == root)
          return "its buffer is written in the same block";
  return std::nullopt;
}

/// Returns true if one of `roots` is computed from the induction variable of
/// `loop`, of this iteration or of the one before.
static bool areComputedFromNumber(ValueRange roots, scf::ForOp loop) {
  llvm::SetVector<Value> values;
  values.insert_range(roots);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == loop.getInductionVar())
      return true;
    if (Operation *op = values[i].getDefiningOp())
      values.insert_range(op->getOperands());
    else if (llvm::is_contained(loop.getRegionIterArgs(), values[i]))
      values.insert(
          loop.getTiedLoopYieldedValue(cast<BlockArgument>(values[i]))->get());
  }
  return false;
}

/// Returns a reason if writes of `kernel` must not be late, because an atomic
/// operation releases them.
static Refusal checkReleases(KernelOp kernel) {
  if (containsOp(kernel, releasesAccesses))
    return "an atomic operation of the kernel releases what it wrote";
  return std::nullopt;
}

Refusal RunAhead::checkLateStore(StoreOp store, BlockArgument argument) {
  if (Refusal refusal = checkReleases(kernel))
    return refusal;
  // Late writes of one element are in no order.
  for (auto loop = store->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>()) {
    SmallVector<Value> place(store.getIndices());
    place.push_back(store.getBuffer());
    if (!areComputedFromNumber(place, loop))
      return "the iterations of a loop write the same elements";
  }
  // Stores of other blocks are left out: works of a persistent kernel write
  // different elements.
  auto isDisjoint = [&](Operation &op, Value buffer) {
    auto other = dyn_cast<StoreOp>(op);
    return other ? areDisjointStores(store, other)
                 : areDisjointSlices(store.getBuffer(), buffer);
  };
  for (Operation &op : *store->getBlock())
    for (const GlobalAccess &access : getGlobalAccesses(&op))
      if (&op != store && access.isWrite && access.mayOverlap(argument) &&
          !isDisjoint(op, access.buffer))
        return "another write beside it may write the same elements";
  bool isInLoop = bool(store->getParentOfType<LoopLikeOpInterface>());
  bool isReadLater = containsOp(kernel, [&](Operation *op) {
    Operation *reader = store->getBlock()->findAncestorOpInBlock(*op);
    bool isBefore = !isInLoop && reader && reader->isBeforeInBlock(store);
    return !isBefore &&
           llvm::any_of(getGlobalAccesses(op), [&](const GlobalAccess &access) {
             return !access.isWrite && access.mayOverlap(argument);
           });
  });
  if (isReadLater)
    return "the kernel reads its argument afterwards, or in the same loop";
  return std::nullopt;
}

/// Returns true if an operation in `scope`, other than an atomic one, reads
/// `argument`. Atomic operations on one argument commute.
static bool isReadIn(Operation *scope, BlockArgument argument) {
  return containsOp(scope, [&](Operation *op) {
    return !isa<AtomicRMWOp>(op) &&
           llvm::any_of(getGlobalAccesses(op), [&](const GlobalAccess &access) {
             return !access.isWrite && access.mayOverlap(argument);
           });
  });
}

Refusal RunAhead::checkLateAddition(AtomicRMWOp sum) {
  if (isReadIn(kernel, getRootArgument(sum.getBuffer())))
    return "the kernel reads its argument";
  if (containsOp(kernel, [&](Operation *op) {
        return op != sum && mustKeepOrder(sum, op);
      }))
    return "the kernel changes its argument in another way, too";
  return checkReleases(kernel);
}

//===----------------------------------------------------------------------===//
// Writes that may be exchanged with other operations
//===----------------------------------------------------------------------===//

Refusal RunAhead::checkWrite(Operation *write, Operation *scope) {
  auto quote = [&] {
    return "'" + write->getName().getStringRef().str() + "'";
  };
  auto atomic = dyn_cast<AtomicRMWOp>(write);
  if (atomic &&
      (atomic.getResult() || atomic.getOrder() != MemoryOrder::Relaxed))
    return quote() + " returns a value or orders other accesses";
  Value buffer = atomic ? atomic.getBuffer() : cast<StoreOp>(write).getBuffer();
  if (cast<BufferType>(buffer.getType()).isShared())
    return quote() + " writes shared memory";
  if (isReadIn(scope, getRootArgument(buffer)))
    return "the loop reads what " + quote() + " writes";
  return std::nullopt;
}

bool tile::mustKeepOrder(Operation *write, Operation *other) {
  auto mayOverlap = [&] {
    for (const GlobalAccess &access : getGlobalAccesses(write))
      for (const GlobalAccess &next : getGlobalAccesses(other))
        if (access.mayOverlap(next.argument))
          return true;
    return false;
  };
  auto a = dyn_cast<AtomicRMWOp>(write), b = dyn_cast<AtomicRMWOp>(other);
  bool commute = a && b && a.getKind() == b.getKind() &&
                 a.getKind() != arith::AtomicRMWKind::assign;
  return !commute && mayOverlap();
}
