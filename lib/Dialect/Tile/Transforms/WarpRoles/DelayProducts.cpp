//===- DelayProducts.cpp - Products of exchanged tiles, one iteration late ===//
//
// Warpgroups that exchange a tile through shared memory wait for each other in
// every iteration: all of them compute at the same time, and then all of their
// products run at the same time. A product of such a tile that only leaves the
// loop by an atomic addition can wait for the next iteration. Then a warpgroup
// may be almost an iteration ahead of another one.
//
// The tile goes through a ring with mbarriers that the warpgroups fill and read
// themselves. Before the loop, a tile of zeros enters the ring, so that the
// first iteration has a product to compute, which is added outside of the
// buffer; the last product follows the loop.
// Consecutive loops of one block with the same products share the ring.
//
//===----------------------------------------------------------------------===//

#include "WarpPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/RunAhead.h"
#include "tile/Analysis/SharedMemory.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILEDELAYPRODUCTS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// The slots of the ring of an exchanged tile: one that is read while the other
/// one is filled.
static constexpr int64_t kSlots = 2;

/// The number of the iteration before the first one. Buffers have fewer rows,
/// so that nothing is added there: zero times infinity is no zero. It is a
/// multiple of all tiles. Ragged tensor maps add up to 2^30 to a coordinate:
/// the rows of a tile must not reach 2^31.
static constexpr int64_t kNowhere = (int64_t(1) << 30) - (int64_t(1) << 20);

namespace {
/// A tile that warpgroups exchange in a loop, and what may wait for the next
/// iteration.
struct Exchange {
  scf::ForOp loop;
  AllocOp buffer;
  StoreOp store;
  /// The products that read the tile, in program order, and the addition of
  /// each.
  SmallVector<std::pair<DotOp, AtomicRMWOp>> products;
};

/// Exchanges of loops of one block that follow each other.
using Chain = SmallVector<Exchange>;

class Delayer {
public:
  explicit Delayer(KernelOp kernel)
      : kernel(kernel), runAhead(kernel), rewriter(kernel.getContext()) {}

  /// Finds the exchanges and joins them to chains.
  void findChains();
  MutableArrayRef<Chain> getChains() { return chains; }
  void delay(Chain &chain);

private:
  bool findExchange(scf::ForOp loop, AllocOp buffer, Exchange &exchange);
  bool isComputedFromNumber(Value value, scf::ForOp loop);
  bool areAlike(Value x, Value y, scf::ForOp xLoop, scf::ForOp yLoop);
  bool areAlike(Exchange &x, Exchange &y);
  Value carryNumber(scf::ForOp loop, Value first);
  void multiply(Exchange &exchange, Value number, bool inLoop);
  Value copyOutside(Value value, scf::ForOp loop, IRMapping &mapping);

  KernelOp kernel;
  RunAhead runAhead;
  IRRewriter rewriter;
  SmallVector<Chain> chains;
  /// The ring of the chain that is being delayed.
  Value ring;
};
} // namespace

/// Returns the ring that `buffer` goes through.
static Ring getRing(AllocOp buffer) {
  Ring ring;
  ring.tile = buffer.getType();
  ring.stages = kSlots;
  return ring;
}

/// Erases `op`, a buffer or a view of one, and the views of it.
static void eraseWithViews(RewriterBase &rewriter, Operation *op) {
  for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
    eraseWithViews(rewriter, user);
  rewriter.eraseOp(op);
}

/// Returns the last product before `op` in its block; null if there is none.
static Operation *findLastDot(Operation *op) {
  while (op && !isa<DotOp>(op))
    op = op->getPrevNode();
  return op;
}

/// Returns true if `value` is the same in all iterations, or computed from the
/// induction variable by operations without effects in the body of `loop`.
bool Delayer::isComputedFromNumber(Value value, scf::ForOp loop) {
  if (loop.isDefinedOutsideOfLoop(value) || value == loop.getInductionVar())
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == loop.getBody() && op->getNumRegions() == 0 &&
         isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isComputedFromNumber(operand, loop);
         });
}

/// Returns true if `value` is the induction variable of `loop`, perhaps in
/// another type.
static bool isNumber(Value value, scf::ForOp loop) {
  while (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  return value == loop.getInductionVar();
}

/// Returns true if nothing writes the shared memory of `operand` in `loop` or
/// behind it in its block.
static bool isWrittenBefore(Value operand, scf::ForOp loop) {
  AllocOp root = getRootAlloc(operand);
  return root && llvm::all_of(getBufferUsers(root), [&](Operation *user) {
           Operation *place = loop->getBlock()->findAncestorOpInBlock(*user);
           return !place || place->isBeforeInBlock(loop) ||
                  llvm::none_of(getSharedAccesses(user),
                                [](const SharedAccess &access) {
                                  return access.isWrite;
                                });
         });
}

/// Returns true if an iteration of `loop` stores all of `buffer`, and only
/// products that may be late read it.
bool Delayer::findExchange(scf::ForOp loop, AllocOp buffer,
                           Exchange &exchange) {
  exchange.loop = loop;
  exchange.buffer = buffer;
  Block *body = loop.getBody();
  SmallVector<DotOp> dots;
  for (Operation *user : getBufferUsers(buffer)) {
    if (user->getBlock() != body)
      return false;
    if (auto store = dyn_cast<StoreOp>(user)) {
      auto tile = cast<RankedTensorType>(store.getValue().getType());
      if (exchange.store || store.getBuffer() != buffer.getResult() ||
          tile.getShape() != buffer.getType().getShape())
        return false;
      exchange.store = store;
    } else if (auto dot = dyn_cast<DotOp>(user)) {
      dots.push_back(dot);
    } else {
      return false;
    }
  }
  if (!exchange.store || dots.empty())
    return false;
  llvm::sort(dots, [](DotOp x, DotOp y) { return x->isBeforeInBlock(y); });
  for (DotOp dot : dots) {
    auto mma = dyn_cast_or_null<MmaAttr>(getLayoutAttr(dot.getTile()));
    bool isAsync = mma && mma.getMma().isAsync;
    if (!isAsync || !exchange.store->isBeforeInBlock(dot) ||
        !dot.getResult().hasOneUse())
      return false;
    for (Value operand : dot->getOperands()) {
      bool isBuffer = isa<BufferType>(operand.getType());
      if (isBuffer && getRootAlloc(operand) == buffer)
        continue;
      if (!loop.isDefinedOutsideOfLoop(operand) ||
          (isBuffer && !isWrittenBefore(operand, loop)))
        return false;
    }
    auto sum = dyn_cast<AtomicRMWOp>(*dot.getResult().user_begin());
    if (!sum || sum->getBlock() != body || sum.getResult() ||
        sum.getKind() != arith::AtomicRMWKind::addf ||
        sum.getOrder() != MemoryOrder::Relaxed ||
        !isComputedFromNumber(sum.getBuffer(), loop) ||
        llvm::none_of(sum.getIndices(),
                      [&](Value index) { return isNumber(index, loop); }) ||
        runAhead.checkLateAddition(sum))
      return false;
    for (Value index : sum.getIndices())
      if (!isComputedFromNumber(index, loop))
        return false;
    exchange.products.push_back({dot, sum});
  }
  return true;
}

/// Returns true if `x` in `xLoop` is computed as `y` in `yLoop` is.
bool Delayer::areAlike(Value x, Value y, scf::ForOp xLoop, scf::ForOp yLoop) {
  if (x == y)
    return true;
  if (x == xLoop.getInductionVar())
    return y == yLoop.getInductionVar();
  auto xResult = dyn_cast<OpResult>(x), yResult = dyn_cast<OpResult>(y);
  if (!xResult || !yResult ||
      xResult.getResultNumber() != yResult.getResultNumber())
    return false;
  Operation *xOp = xResult.getOwner(), *yOp = yResult.getOwner();
  bool isPure = isMemoryEffectFree(xOp) && xOp->getNumRegions() == 0;
  return isPure && xOp->getName() == yOp->getName() &&
         xOp->getAttrDictionary() == yOp->getAttrDictionary() &&
         x.getType() == y.getType() &&
         xOp->getNumOperands() == yOp->getNumOperands() &&
         llvm::all_of(llvm::zip(xOp->getOperands(), yOp->getOperands()),
                      [&](auto pair) {
                        auto [a, b] = pair;
                        return areAlike(a, b, xLoop, yLoop);
                      });
}

/// Returns true if the products of an iteration of one loop may stand for those
/// of the other one.
bool Delayer::areAlike(Exchange &x, Exchange &y) {
  scf::ForOp xLoop = x.loop, yLoop = y.loop;
  if (x.buffer.getType() != y.buffer.getType() ||
      x.store.getValue().getType() != y.store.getValue().getType() ||
      x.products.size() != y.products.size() ||
      xLoop.getInductionVar().getType() != yLoop.getInductionVar().getType())
    return false;
  auto operandsAlike = [&](DotOp a, DotOp b) {
    return llvm::all_of(llvm::zip_equal(a->getOperands(), b->getOperands()),
                        [&](auto pair) {
                          auto [p, q] = pair;
                          bool isExchanged = isa<BufferType>(p.getType()) &&
                                             isa<BufferType>(q.getType()) &&
                                             getRootAlloc(p) == x.buffer &&
                                             getRootAlloc(q) == y.buffer;
                          return isExchanged || areAlike(p, q, xLoop, yLoop);
                        });
  };
  for (auto [a, b] : llvm::zip_equal(x.products, y.products)) {
    auto [aDot, aSum] = a;
    auto [bDot, bSum] = b;
    if (aDot->getAttrDictionary() != bDot->getAttrDictionary() ||
        aDot->getNumOperands() != bDot->getNumOperands() ||
        !operandsAlike(aDot, bDot) ||
        !areAlike(aSum.getBuffer(), bSum.getBuffer(), xLoop, yLoop))
      return false;
    for (auto [p, q] : llvm::zip_equal(aSum.getIndices(), bSum.getIndices()))
      if (!areAlike(p, q, xLoop, yLoop))
        return false;
  }
  return true;
}

void Delayer::findChains() {
  kernel.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    for (AllocOp buffer : loop.getBody()->getOps<AllocOp>()) {
      Exchange exchange;
      if (buffer.getOffset() ||
          !RingType::getStorageType(buffer.getType(), kSlots) ||
          !findExchange(loop, buffer, exchange))
        continue;
      auto chain = llvm::find_if(chains, [&](Chain &chain) {
        scf::ForOp last = chain.back().loop;
        return last != loop && last->getBlock() == loop->getBlock() &&
               areAlike(chain.back(), exchange);
      });
      if (chain == chains.end())
        chains.push_back({exchange});
      else
        chain->push_back(exchange);
    }
  });
}

/// Makes `loop` carry the number of the iteration before, which is `first` in
/// the first one. Returns the argument.
Value Delayer::carryNumber(scf::ForOp loop, Value first) {
  rewriter.setInsertionPoint(loop);
  DictionaryAttr attributes = loop->getDiscardableAttrDictionary();
  scf::ForOp old = loop;
  Operation *key = loop;
  FailureOr<LoopLikeOpInterface> carried = old.replaceWithAdditionalYields(
      rewriter, first, /*replaceInitOperandUsesInLoop=*/false,
      [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
        return SmallVector<Value>{arguments.back()};
      });
  loop = cast<scf::ForOp>(carried->getOperation());
  loop.getBody()->getTerminator()->setOperand(loop.getNumRegionIterArgs() - 1,
                                              loop.getInductionVar());
  loop->setDiscardableAttrs(attributes);
  for (Chain &chain : chains)
    for (Exchange &exchange : chain)
      if (exchange.loop == key)
        exchange.loop = loop;
  return loop.getRegionIterArgs().back();
}

/// Returns `value`, which `loop` computes from its number, as computed from the
/// number in `mapping`.
Value Delayer::copyOutside(Value value, scf::ForOp loop, IRMapping &mapping) {
  if (Value mapped = mapping.lookupOrNull(value))
    return mapped;
  if (loop.isDefinedOutsideOfLoop(value))
    return value;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    mapping.map(operand, copyOutside(operand, loop, mapping));
  rewriter.clone(*op, mapping);
  return mapping.lookup(value);
}

/// Emits the products of the tile that is next in the ring, which iteration
/// `number` has stored; their additions where those of the loop are, if
/// `inLoop`.
void Delayer::multiply(Exchange &exchange, Value number, bool inLoop) {
  scf::ForOp loop = exchange.loop;
  AllocOp buffer = exchange.buffer;
  auto taken = RingTakeOp::create(rewriter, buffer.getLoc(), ring);
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), number);
  mapping.map(buffer.getResult(), taken.getBuffer());
  for (auto [dot, sum] : exchange.products) {
    for (Value operand : dot->getOperands())
      copyOutside(operand, loop, mapping);
    rewriter.clone(*dot, mapping);
  }
  RingReleaseOp::create(rewriter, buffer.getLoc(), taken.getSlot());
  for (auto [dot, sum] : exchange.products) {
    if (inLoop)
      rewriter.setInsertionPoint(sum);
    for (Value operand : sum->getOperands())
      copyOutside(operand, loop, mapping);
    rewriter.clone(*sum, mapping);
  }
}

void Delayer::delay(Chain &chain) {
  Exchange &first = chain.front();
  Location loc = first.buffer.getLoc();
  Ring planned = getRing(first.buffer);
  auto type = RingType::get(rewriter.getContext(), planned.tile, kSlots);
  rewriter.setInsertionPointToStart(&kernel.getBody().front());
  auto alloc = [&](BufferType type) -> Value {
    return AllocOp::create(rewriter, loc, type, IntegerAttr());
  };
  Value storage = alloc(planned.getStorageType());
  SmallVector<Value, 2> barriers{alloc(planned.getBarriersType()),
                                 alloc(planned.getBarriersType())};
  ring = RingCreateOp::create(rewriter, loc, type, storage, barriers);

  auto publish = [&](Value slot) {
    FenceAsyncOp::create(rewriter, loc);
    RingPublishOp::create(rewriter, loc, slot);
  };
  rewriter.setInsertionPoint(first.loop);
  auto tile = cast<RankedTensorType>(first.store.getValue().getType());
  Value zeros = arith::ConstantOp::create(
      rewriter, loc,
      DenseElementsAttr::get(tile,
                             rewriter.getZeroAttr(tile.getElementType())));
  SmallVector<Value> origin(tile.getRank(),
                            arith::ConstantIndexOp::create(rewriter, loc, 0));
  auto slot = RingAcquireOp::create(rewriter, loc, ring);
  StoreOp::create(rewriter, loc, zeros, slot.getBuffer(), origin);
  publish(slot.getSlot());

  Value number = arith::ConstantOp::create(
      rewriter, loc,
      rewriter.getIntegerAttr(first.loop.getInductionVar().getType(),
                              kNowhere));
  for (Exchange &exchange : chain) {
    Value before = carryNumber(exchange.loop, number);
    number = exchange.loop.getResults().back();
    // The wait for the slot ends long before the store needs it.
    Operation *place = findLastDot(exchange.store);
    if (place)
      rewriter.setInsertionPointAfter(place);
    else
      rewriter.setInsertionPointToStart(exchange.loop.getBody());
    auto filled = RingAcquireOp::create(rewriter, loc, ring);
    rewriter.modifyOpInPlace(exchange.store, [&] {
      exchange.store.getBufferMutable().assign(filled.getBuffer());
    });
    rewriter.setInsertionPoint(exchange.products.front().first);
    publish(filled.getSlot());
    multiply(exchange, before, /*inLoop=*/true);
  }
  Exchange &last = chain.back();
  rewriter.setInsertionPointAfter(last.loop);
  multiply(last, number, /*inLoop=*/false);
  for (Exchange &exchange : chain) {
    for (auto [dot, sum] : exchange.products) {
      rewriter.eraseOp(sum);
      rewriter.eraseOp(dot);
    }
    eraseWithViews(rewriter, exchange.buffer);
  }
}

namespace {
struct DelayProducts : tile::impl::TileDelayProductsBase<DelayProducts> {
  using TileDelayProductsBase::TileDelayProductsBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    Schedule schedule = getSchedule(kernel);
    bool isAllowed = schedule.hasLateProducts();
    schedule.lateProducts.reset();
    setSchedule(kernel, schedule);
    if (!isAllowed || !schedule.hasRoles() ||
        schedule.countConsumerGroups() != 1 ||
        kernel.getNumWarps() <= kWarpgroupWarps)
      return;
    Delayer delayer(kernel);
    delayer.findChains();
    MutableArrayRef<Chain> chains = delayer.getChains();
    if (chains.empty())
      return;
    const Chip *chip = getTargetChip(kernel);
    if (!chip || failed(verifySharedBuffers(kernel)))
      return signalPassFailure();
    WarpPlan plan;
    if (planWarps(kernel, schedule.storers.value_or(0) != 0, plan))
      return;
    SharedMemoryModel model = modelRoles(kernel, plan);
    int64_t before = model.placeWithin(chip->sharedBytes).bytes;
    for (Chain &chain : chains) {
      Ring ring = getRing(chain.front().buffer);
      for (Exchange &exchange : chain)
        model.remove(exchange.buffer);
      for (BufferType type : {ring.getStorageType(), ring.getBarriersType(),
                              ring.getBarriersType()})
        model.add(type, kernel, kernel, kernel);
    }
    int64_t after = model.placeWithin(chip->sharedBytes).bytes;
    // As many blocks as before share a multiprocessor.
    if (after > chip->sharedBytes ||
        chip->sharedBytes / after < chip->sharedBytes / before)
      return;
    for (Chain &chain : chains)
      delayer.delay(chain);
    remark::passed(kernel.getLoc(), remark::RemarkOpts::name("products-delayed")
                                        .category("tile-delay-products"))
        << remark::metric("bytes", after);
  }
};
} // namespace
