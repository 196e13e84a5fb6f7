//===- VerifyTokens.cpp - Checks of rings and MMAs in flight --------------===//
//
// Tokens of slots and products in flight are values that are used up: by one
// operation, in the block that defines them. Only scf.for carries them.
//
//===----------------------------------------------------------------------===//

#include "VerifyTokens.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Dialect/Tile/IR/DefinedValues.h"
#include "tile/Dialect/Tile/IR/RingOrder.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

/// Returns the number of the value that an scf.for carries from this use; none
/// if the use is no initial value and no yielded value of an scf.for.
static std::optional<unsigned> getCarriedNumber(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto loop = dyn_cast<scf::ForOp>(user)) {
    unsigned first = loop.getNumControlOperands();
    if (use.getOperandNumber() < first)
      return std::nullopt;
    return use.getOperandNumber() - first;
  }
  if (isa<scf::YieldOp>(user) && isa<scf::ForOp>(user->getParentOp()))
    return use.getOperandNumber();
  return std::nullopt;
}

/// Returns the uses of `value` in the order of the program. Use lists are in
/// the reverse order.
static SmallVector<OpOperand *> getUses(Value value) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    uses.push_back(&use);
  std::reverse(uses.begin(), uses.end());
  return uses;
}

/// Calls `verify` for all values of type `TypeT`.
template <typename TypeT>
static LogicalResult forEachValue(
    KernelOp kernel,
    llvm::function_ref<LogicalResult(Value value, Operation *owner)> verify) {
  WalkResult result = kernel.walk([&](Operation *op) {
    for (Value value : getDefinedValues(op))
      if (isa<TypeT>(value.getType()) && failed(verify(value, op)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Products in flight
//===----------------------------------------------------------------------===//

/// Returns true if `use` continues a product in flight: another product adds to
/// it or a loop carries it on.
static bool continuesProduct(OpOperand &use) {
  auto dot = dyn_cast<DotOp>(use.getOwner());
  return (dot && &use == &dot.getAccMutable()) ||
         getCarriedNumber(use).has_value();
}

static LogicalResult verifyProduct(Value product, Operation *owner) {
  if (!isa<DotOp, scf::ForOp>(owner))
    return owner->emitOpError(
        "yields a product in flight; only tile.dot and scf.for may");
  Operation *next = nullptr;
  bool isAwaited = false;
  for (OpOperand *use : getUses(product)) {
    Operation *user = use->getOwner();
    if (isa<AwaitOp>(user)) {
      isAwaited |= user->getBlock() == product.getParentBlock();
      continue;
    }
    if (!continuesProduct(*use))
      return user->emitOpError("uses a product in flight, which tile.await "
                               "makes a tile");
    if (next)
      return user->emitOpError("continues a product that another operation "
                               "continues")
                 .attachNote(next->getLoc())
             << "continued here";
    if (user->getBlock() != product.getParentBlock())
      return user->emitOpError("continues a product that is started outside of "
                               "its region; a loop must carry it");
    next = user;
  }
  if (!next) {
    if (isAwaited)
      return success();
    return owner->emitOpError(
        "has a product in flight that is not awaited in its block");
  }
  for (OpOperand &use : product.getUses())
    if (auto await = dyn_cast<AwaitOp>(use.getOwner());
        await && !await.getResult(use.getOperandNumber()).use_empty())
      return await
                 .emitOpError("uses the tile of a product whose registers "
                              "another operation goes on to change")
                 .attachNote(next->getLoc())
             << "continued here";
  return success();
}

LogicalResult tile::verifyProducts(KernelOp kernel) {
  return forEachValue<PendingType>(kernel, verifyProduct);
}

/// Returns true if `later` is `product` or was certainly started after it. Both
/// are products in flight in `block`, where one is defined.
static bool isStartedFrom(Value later, Value product, Block *block) {
  if (later == product)
    return true;
  auto dot = later.getDefiningOp<DotOp>();
  if (!dot || dot->getBlock() != block)
    return false;
  Operation *started = product.getDefiningOp();
  return !started
             ? product.getParentBlock() == block
             : started->getBlock() == block && started->isBeforeInBlock(dot);
}

/// Returns true if `product`, which its block has in flight, is finished before
/// `op` of the same block.
static bool isAwaitedBefore(Value product, Operation *op) {
  for (Operation *each = op->getPrevNode(); each; each = each->getPrevNode())
    if (auto await = dyn_cast<AwaitOp>(each))
      for (Value awaited : await.getProducts())
        if (isStartedFrom(awaited, product, op->getBlock()))
          return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

/// Returns the role of `op`; null outside of roles.
static Region *getRole(Operation *op) {
  Region *region = op->getParentRegion();
  while (region && !isa<WarpRolesOp>(region->getParentOp()))
    region = region->getParentRegion();
  return region;
}

/// Returns true if the slot of `ring` is filled once and never released.
static bool isFilledOnce(RingCreateOp ring) {
  return ring.getFull() && !ring.getEmpty();
}

/// Verifies an operation that advances `ring` to its next slot.
static LogicalResult verifyAdvance(Operation *op, RingCreateOp ring) {
  bool isRepeated = false;
  for (Operation *parent = op->getParentOp(); parent != ring->getParentOp();
       parent = parent->getParentOp()) {
    if (isa<WarpRolesOp>(parent) && !ring.getFull())
      return op->emitOpError("advances a ring of other threads, which needs "
                             "mbarriers")
                 .attachNote(ring.getLoc())
             << "the ring";
    if (!isa<scf::ForOp, WarpRolesOp>(parent))
      return op->emitOpError() << "is inside '" << parent->getName()
                               << "'; the number of its slot follows from the "
                                  "program order only in loops of scf.for";
    isRepeated |= isa<scf::ForOp>(parent);
  }
  if (isRepeated && isFilledOnce(ring))
    return op->emitOpError(
        "is in a loop, but its ring has no 'empty' and is filled once");
  return success();
}

static LogicalResult verifyRing(RingCreateOp ring) {
  Operation *acquire = nullptr, *take = nullptr;
  for (OpOperand *use : getUses(ring)) {
    Operation *user = use->getOwner();
    if (!isa<RingAcquireOp, RingTakeOp, RingSkipOp>(user))
      return user->emitOpError("uses a ring; only tile.ring.acquire, "
                               "tile.ring.take and tile.ring.skip may");
    if (isa<RingSkipOp>(user) && !ring.getEmpty())
      return user->emitOpError("skips tiles of a ring without mbarriers of "
                               "empty slots");
    if (failed(verifyAdvance(user, ring)))
      return failure();
    Operation *&first = isa<RingAcquireOp>(user) ? acquire : take;
    if (first && getRole(first) != getRole(user))
      return user->emitOpError("uses a ring in another role than a second '")
                 .append(first->getName().getStringRef(), "' does")
                 .attachNote(first->getLoc())
             << "in this role";
    if (first && isFilledOnce(ring))
      return user->emitOpError(
          "uses a ring a second time that has no 'empty' and is filled once");
    first = user;
  }
  if (take && !acquire)
    return take->emitOpError("takes a slot of a ring that nothing fills");
  return success();
}

/// Calls `visit` for all users of `buffer` and of its views.
static void forEachUser(Value buffer,
                        llvm::function_ref<void(Operation *)> visit) {
  for (Operation *user : buffer.getUsers()) {
    if (isa<SliceOp, TransposeOp>(user))
      forEachUser(user->getResult(0), visit);
    else
      visit(user);
  }
}

/// Verifies that no operation after `end`, which uses up the token of `buffer`,
/// accesses this slot.
static LogicalResult verifyAccesses(Value buffer, Operation *end) {
  Operation *late = nullptr;
  forEachUser(buffer, [&](Operation *user) {
    Operation *place = end->getBlock()->findAncestorOpInBlock(*user);
    if (!place || end->isBeforeInBlock(place))
      late = user;
  });
  if (!late)
    return success();
  return late->emitOpError("accesses a slot whose token is used up")
             .attachNote(end->getLoc())
         << "used up here";
}

/// Verifies the operations that fill the slot of `acquire` until `publish`.
static LogicalResult verifyPublished(RingAcquireOp acquire,
                                     RingPublishOp publish) {
  bool hasBarriers = bool(getRingOf(acquire).getFull());
  for (Value slot : publish.getSlots())
    if (RingCreateOp ring = getRing(slot);
        ring && bool(ring.getFull()) != hasBarriers)
      return publish.emitOpError(
          "publishes slots of rings with and without mbarriers");
  Operation *late = nullptr;
  forEachUser(acquire.getBuffer(), [&](Operation *user) {
    if (auto copy = dyn_cast<CopyOp>(user); copy && copy.getAsync())
      late = copy;
  });
  if (late && hasBarriers)
    return late->emitOpError("fills a slot of a ring with mbarriers, whose "
                             "tile.ring.publish does not wait for "
                             "asynchronous copies");
  return success();
}

/// Verifies that one operation fills the slot of `acquire`.
static LogicalResult verifyAcquired(RingAcquireOp acquire) {
  Operation *filling = nullptr;
  for (OpOperand *use : getUses(acquire.getSlot())) {
    Operation *user = use->getOwner();
    auto copy = dyn_cast<BulkCopyOp>(user);
    if (!copy && !isa<RingPublishOp>(user))
      return user->emitOpError("uses the token of a slot that is to be filled; "
                               "only tile.bulk_copy and tile.ring.publish may");
    if (copy && copy.getDest() != acquire.getBuffer())
      return copy.emitOpError(
          "fills another buffer than that of its tile.ring.acquire");
    if (copy && !getRingOf(acquire).getFull())
      return copy.emitOpError("fills a slot of a ring without mbarriers");
    if (auto publish = dyn_cast<RingPublishOp>(user);
        publish && failed(verifyPublished(acquire, publish)))
      return failure();
    if (user->getBlock() != acquire->getBlock())
      return user->emitOpError(
          "fills a slot that is acquired in another block");
    if (filling)
      return user->emitOpError("fills a slot a second time")
                 .attachNote(filling->getLoc())
             << "filled here";
    filling = user;
  }
  if (!filling)
    return acquire.emitOpError("acquires a slot that nothing fills");
  if (failed(verifyAccesses(acquire.getBuffer(), filling)))
    return failure();
  // The ring counts the arrivals at the mbarriers of all slots alike.
  for (Operation *user : acquire.getRing().getUsers())
    if (auto other = dyn_cast<RingAcquireOp>(user);
        other && other != acquire && !other.getSlot().use_empty() &&
        isa<BulkCopyOp>(*other.getSlot().user_begin()) !=
            isa<BulkCopyOp>(filling))
      return filling
                 ->emitOpError("fills a slot of a ring that others fill in "
                               "another way, by TMA or by threads")
                 .attachNote(other.getSlot().user_begin()->getLoc())
             << "filled here";
  return success();
}

/// Returns the value by which `product`, started in a region inside `block`, is
/// known in `block`; null if it is awaited inside.
static Value liftProduct(Value product, Block *block) {
  while (product && product.getParentBlock() != block) {
    Value outer;
    for (OpOperand &use : product.getUses())
      if (isa<scf::YieldOp>(use.getOwner()))
        if (std::optional<unsigned> number = getCarriedNumber(use))
          outer = use.getOwner()->getParentOp()->getResult(*number);
    product = outer;
  }
  return product;
}

namespace {
/// Finds the products in flight that read a slot.
class SlotReaders {
public:
  /// Returns the products, as values of the block of `slot`.
  llvm::SmallSetVector<Value, 4> find(Value slot) {
    llvm::SmallSetVector<Value, 4> products;
    if (!visited.insert(slot).second)
      return products;
    Block *block = slot.getParentBlock();
    if (auto take = slot.getDefiningOp<RingTakeOp>()) {
      forEachUser(take.getBuffer(), [&](Operation *user) {
        auto dot = dyn_cast<DotOp>(user);
        if (dot && dot.getAsync())
          if (Value product = liftProduct(dot.getResult(), block))
            products.insert(product);
      });
      return products;
    }
    Operation *owner = slot.getDefiningOp();
    auto argument = dyn_cast<BlockArgument>(slot);
    auto loop =
        cast<scf::ForOp>(argument ? argument.getOwner()->getParentOp() : owner);
    unsigned number = argument ? argument.getArgNumber() - 1
                               : cast<OpResult>(slot).getResultNumber();
    Operation *yield = loop.getBody()->getTerminator();
    auto add = [&](Value incoming, Operation *carrier, unsigned first) {
      for (Value product : find(incoming)) {
        if (isAwaitedBefore(product, carrier))
          continue;
        if (std::optional<unsigned> carried =
                findCarried(product, carrier, first))
          products.insert(argument ? Value(loop.getRegionIterArg(*carried))
                                   : Value(loop.getResult(*carried)));
      }
    };
    unsigned first = loop.getNumControlOperands();
    add(loop.getInitArgs()[number], loop, first);
    add(yield->getOperand(number), yield, 0);
    return products;
  }

  /// Returns the number of the first value that `carrier`, a loop or its
  /// terminator, carries from its operand number `first` on and whose await
  /// covers `product`.
  static std::optional<unsigned> findCarried(Value product, Operation *carrier,
                                             unsigned first) {
    for (auto [i, operand] :
         llvm::enumerate(carrier->getOperands().drop_front(first)))
      if (isa<PendingType>(operand.getType()) &&
          isStartedFrom(operand, product, carrier->getBlock()))
        return i;
    return std::nullopt;
  }

private:
  llvm::SmallDenseSet<Value> visited;
};
} // namespace

/// Verifies that the slot of `token` is not read any more after `end`, where
/// the token is used up.
static LogicalResult verifyReads(Value token, Operation *end) {
  if (auto take = token.getDefiningOp<RingTakeOp>())
    if (failed(verifyAccesses(take.getBuffer(), end)))
      return failure();
  bool isCarried = isa<scf::ForOp, scf::YieldOp>(end);
  unsigned first =
      isa<scf::ForOp>(end) ? cast<scf::ForOp>(end).getNumControlOperands() : 0;
  for (Value product : SlotReaders().find(token))
    if (!isAwaitedBefore(product, end) &&
        !(isCarried && SlotReaders::findCarried(product, end, first)))
      return end->emitOpError(isCarried
                                  ? "carries the token of a slot, but not the "
                                    "product in flight that reads the slot"
                                  : "releases a slot that a product in flight "
                                    "reads; tile.await must come before it")
                 .attachNote(product.getLoc())
             << "the product";
  return success();
}

static LogicalResult verifyToken(Value token, Operation *owner) {
  if (!isa<RingAcquireOp, RingTakeOp, scf::ForOp>(owner))
    return owner->emitOpError("yields the token of a slot; only "
                              "tile.ring.acquire, tile.ring.take and scf.for "
                              "may");
  if (isa<RingAcquireOp, RingTakeOp>(owner) &&
      !owner->getOperand(0).getDefiningOp<RingCreateOp>())
    return owner->emitOpError("needs the result of a tile.ring.create");
  if (auto acquire = dyn_cast<RingAcquireOp>(owner))
    return verifyAcquired(acquire);
  RingCreateOp ring = getRing(token);
  if (!ring)
    return owner->emitOpError("carries a token that no tile.ring.take yields");
  for (Operation *origin : getOrigins(token)) {
    auto take = dyn_cast<RingTakeOp>(origin);
    if (!take)
      return owner->emitOpError("carries the token of a slot that is to be "
                                "filled");
    if (take.getRing() != ring.getRing())
      return owner->emitOpError("carries tokens of two rings in one value");
  }
  if (isFilledOnce(ring)) {
    if (token.use_empty())
      return success();
    return (*token.user_begin())
        ->emitOpError("uses the token of a ring without 'empty', whose slot is "
                      "never released");
  }
  Operation *end = nullptr;
  for (OpOperand *use : getUses(token)) {
    Operation *user = use->getOwner();
    if (!isa<RingReleaseOp>(user) && !getCarriedNumber(*use))
      return user->emitOpError("uses the token of a slot that is read; only "
                               "tile.ring.release and scf.for may");
    if (end)
      return user->emitOpError("uses up the token of a slot a second time")
                 .attachNote(end->getLoc())
             << "used up here";
    if (user->getBlock() != token.getParentBlock())
      return user->emitOpError("uses up the token of a slot in another block "
                               "than the one that defines it");
    end = user;
  }
  if (!end)
    return owner->emitOpError("has the token of a slot that is never released");
  return verifyReads(token, end);
}

LogicalResult tile::verifyRings(KernelOp kernel) {
  WalkResult result = kernel.walk(
      [](RingCreateOp ring) { return WalkResult(verifyRing(ring)); });
  if (result.wasInterrupted() ||
      failed(forEachValue<SlotType>(kernel, verifyToken)))
    return failure();
  return RingOrder().run(kernel);
}
