//===- StageStores.cpp - Stores by TMA ------------------------------------===//

#include "StagedStore.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tile/Analysis/RolePlan.h"
#include "tile/Analysis/RunAhead.h"
#include "tile/Analysis/SharedMemory.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Layout/Queries.h"
#include "llvm/ADT/SetVector.h"
#include <vector>

namespace tile {
#define GEN_PASS_DEF_TILESTAGESTORES
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {
struct StageStores : tile::impl::TileStageStoresBase<StageStores> {
  using TileStageStoresBase::TileStageStoresBase;
  void runOnOperation() override;

private:
  bool hasMemory(const StagedStore &planned);
  bool isUnused(AllocOp alloc, const StagedStore &planned) const;
  SmallVector<AllocOp> findBuffers(const StagedStore &planned);
  SmallVector<AllocOp> findSlot(const StagedStore &planned);
  bool stage(const StagedStore &whole, const StagedStore &inParts);
  void stage(StagedStore planned, ArrayRef<AllocOp> buffers);

  const Chip *chip = nullptr;
  WarpRolesOp roles;
  /// Buffers that stores go through.
  SmallVector<AllocOp> stagings;
};
} // namespace

int64_t StagedStore::countParts() const {
  StoreOp op = store;
  return cast<RankedTensorType>(op.getValue().getType()).getNumElements() /
         part.getNumElements();
}

bool tile::isStageCandidate(StoreOp store) {
  auto tile = cast<RankedTensorType>(store.getValue().getType());
  return !store.getBuffer().getType().isShared() && tile.getRank() == 2 &&
         getLayoutAttr(tile) && !isSharedTile(tile);
}

bool tile::isSecondary(StoreOp store) {
  for (Operation *op = store; !isa<KernelOp>(op); op = op->getParentOp())
    if (auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
        branch && op->getParentRegion() == &branch.getElseRegion())
      return true;
  return false;
}

/// Returns the part of `tile` with this shape; null if threads would have to
/// exchange elements for one of the parts.
static RankedTensorType getPart(RankedTensorType tile, ArrayRef<int64_t> shape,
                                Location loc) {
  auto quiet = [&] {
    InFlightDiagnostic diag = mlir::emitError(loc);
    diag.abandon();
    return diag;
  };
  auto part = RankedTensorType::getChecked(quiet, shape, tile.getElementType(),
                                           tile.getEncoding());
  if (!part)
    return {};
  Layout whole = getCanonicalLayout(tile), layout = getCanonicalLayout(part);
  for (int64_t row = 0; row < tile.getDimSize(0); row += shape[0])
    for (int64_t column = 0; column < tile.getDimSize(1); column += shape[1])
      if (!findRegistersOfPart(whole, layout, {row, column}))
        return {};
  return part;
}

/// Returns the columns of `tile` whose rows are as wide as the widest swizzle,
/// or as many elements of whole rows if threads would have to exchange elements
/// for that: the warps of a transposed product share its columns. Returns the
/// whole tile if it has no more columns, or if neither is possible.
static RankedTensorType choosePart(RankedTensorType tile, Location loc) {
  int64_t rows = tile.getDimSize(0), all = tile.getDimSize(1);
  int64_t columns = kStagedRowBytes * 8 / tile.getElementTypeBitWidth();
  // Two buffers for two parts take as much memory as one for the tile.
  if (all % columns != 0 || all <= 2 * columns)
    return tile;
  if (RankedTensorType part = getPart(tile, {rows, columns}, loc))
    return part;
  RankedTensorType part;
  if (rows % (all / columns) == 0)
    part = getPart(tile, {rows * columns / all, all}, loc);
  return part ? part : tile;
}

Refusal tile::planStagedStore(StoreOp store, bool inParts,
                              StagedStore &planned) {
  auto tile = cast<RankedTensorType>(store.getValue().getType());
  planned.store = store;
  planned.part = inParts ? choosePart(tile, store.getLoc()) : tile;
  int64_t bytes = tile.getElementTypeBitWidth() / 8;
  planned.staging = findSwizzledTile(planned.part);
  if (!planned.staging)
    return "its rows are no multiple of 32 bytes";
  if (Refusal refusal = findArgumentTile(store.getBuffer(), store.getIndices(),
                                         planned.staging, planned))
    return refusal;
  RunAhead runAhead(store->getParentOfType<KernelOp>());
  if (Refusal refusal = runAhead.checkLateStore(store, planned.argument))
    return refusal;
  // The boxes of a warp begin at multiples of 128 bytes.
  if (auto boxes = findWarpBoxes(getCanonicalLayout(planned.part));
      boxes && (*boxes)[0] * (*boxes)[1] > 1) {
    int64_t width = planned.staging.getCanonicalLayout().swizzle().bits;
    width = int64_t(16) << width;
    if (planned.part.getDimSize(1) * bytes / (*boxes)[1] % width == 0 &&
        planned.part.getDimSize(0) / (*boxes)[0] * width % 128 == 0)
      planned.boxes.assign(boxes->begin(), boxes->end());
  }
  return std::nullopt;
}

/// Adds the values that hold a product in flight behind `use`: the sum of the
/// next product, or what a loop carries. Returns false if they are unknown.
static bool addContinued(OpOperand &use, SetVector<Value> &products) {
  Operation *user = use.getOwner();
  if (auto next = dyn_cast<DotOp>(user)) {
    products.insert(next.getResult());
    return true;
  }
  auto loop = dyn_cast<scf::ForOp>(isa<scf::YieldOp>(user) ? user->getParentOp()
                                                           : user);
  if (!loop)
    return false;
  unsigned number = use.getOperandNumber();
  if (user == loop)
    number -= loop.getNumControlOperands();
  products.insert(loop.getRegionIterArg(number));
  products.insert(loop.getResult(number));
  return true;
}

/// Returns true if `product` is not asynchronous, or has been awaited wherever
/// `place` runs.
static bool isAwaitedBefore(DotOp product, Operation *place) {
  SetVector<Value> products;
  if (product.getAsync())
    products.insert(product.getResult());
  for (size_t i = 0; i < products.size(); ++i)
    for (OpOperand &use : products[i].getUses()) {
      if (!isa<AwaitOp>(use.getOwner())) {
        if (!addContinued(use, products))
          return false;
        continue;
      }
      Operation *end =
          place->getBlock()->findAncestorOpInBlock(*use.getOwner());
      if (!end || !end->isBeforeInBlock(place))
        return false;
    }
  return true;
}

/// Returns true if TMA fills `alloc` once and `op`, of the first role, comes
/// after all reads of it.
static bool isFreeAt(AllocOp alloc, Operation *op, WarpRolesOp roles) {
  if (op->getParentOfType<LoopLikeOpInterface>())
    return false;
  Block &consumers = roles.getRoles().front().front();
  Operation *place = consumers.findAncestorOpInBlock(*op);
  return llvm::all_of(getBufferUsers(alloc), [&](Operation *user) {
    if (isa<BulkCopyOp>(user))
      return !user->getParentOfType<LoopLikeOpInterface>();
    Operation *reader = consumers.findAncestorOpInBlock(*user);
    if (!reader || !reader->isBeforeInBlock(place))
      return false;
    auto product = dyn_cast<DotOp>(user);
    return !product || isAwaitedBefore(product, place);
  });
}

/// Returns the release of a ring of one stage with the storage `alloc` that the
/// block of `op`, a loop in the first role, takes and releases before `op` and
/// does not access any more; null if there is none.
static RingReleaseOp findRelease(AllocOp alloc, Operation *op) {
  Block *block = op->getBlock();
  if (!isa<LoopLikeOpInterface>(block->getParentOp()))
    return {};
  RingReleaseOp release;
  for (Operation *user : alloc->getUsers()) {
    auto ring = dyn_cast<RingCreateOp>(user);
    if (!ring || !ring.getEmpty() || ring.getStorage() != alloc.getResult())
      continue;
    for (Operation *advance : ring->getUsers()) {
      auto take = dyn_cast<RingTakeOp>(advance);
      if (!take)
        continue;
      if (release)
        return {};
      release = dyn_cast<RingReleaseOp>(*take.getSlot().user_begin());
      if (!release || release->getBlock() != block)
        return {};
    }
  }
  if (!release || !release->isBeforeInBlock(op))
    return {};
  for (Operation *user : getBufferUsers(alloc)) {
    Operation *reader = block->findAncestorOpInBlock(*user);
    if (!isa<BulkCopyOp>(user) && (!reader || !reader->isBeforeInBlock(op)))
      return {};
  }
  return release;
}

/// Returns true if there is memory for the buffers of a store.
bool StageStores::hasMemory(const StagedStore &planned) {
  StoreOp store = planned.store;
  // The buffer is live where the store is, in all iterations of its loops.
  Operation *use = store;
  for (Operation *op = use; op != roles; op = op->getParentOp())
    if (isa<LoopLikeOpInterface>(op))
      use = op;
  SharedMemoryModel model(store->getParentOfType<KernelOp>());
  int64_t limit = chip->sharedBytes;
  if (isSecondary(store)) {
    // As many blocks as have room without the buffer.
    int64_t bytes = model.placeWithin(limit).bytes, blocks = 1;
    while (bytes <= getSharedLimit(*chip, blocks + 1))
      ++blocks;
    limit = getSharedLimit(*chip, blocks);
  }
  for (int64_t i = 0; i < roles.getGroups() * planned.countBuffers(); ++i)
    model.add(planned.staging, roles, use, use);
  return model.placeWithin(limit).bytes <= limit;
}

/// Returns true if `alloc` can hold what is stored, and no store uses it.
bool StageStores::isUnused(AllocOp alloc, const StagedStore &planned) const {
  return alloc.getType() == planned.staging &&
         !llvm::is_contained(stagings, alloc);
}

/// Returns the buffers of a store; none if there is no memory.
SmallVector<AllocOp> StageStores::findBuffers(const StagedStore &planned) {
  StoreOp store = planned.store;
  bool isInLoop(store->getParentOfType<LoopLikeOpInterface>());
  size_t count = planned.countBuffers();
  SmallVector<AllocOp> others =
      llvm::filter_to_vector(stagings, [&](AllocOp alloc) {
        return alloc.getType() == planned.staging && !isFilledInBulk(alloc);
      });
  others.truncate(std::min(others.size(), count));
  if (others.size() == count && isInLoop)
    return others;
  if (count == 1)
    for (AllocOp alloc : roles->getBlock()->getOps<AllocOp>())
      if (isUnused(alloc, planned) && isFilledInBulk(alloc) &&
          isFreeAt(alloc, store, roles))
        return {alloc};
  if (others.size() == count)
    return others;
  if (hasMemory(planned)) {
    OpBuilder builder(roles);
    others.clear();
    for (size_t i = 0; i < count; ++i)
      others.push_back(AllocOp::create(builder, store.getLoc(), planned.staging,
                                       IntegerAttr()));
    return others;
  }
  return {};
}

/// Returns the slot of a ring that can hold the tile of a store; none if there
/// is none. What fills it next waits until the tile has been stored.
SmallVector<AllocOp> StageStores::findSlot(const StagedStore &planned) {
  for (AllocOp alloc : roles->getBlock()->getOps<AllocOp>())
    if (isUnused(alloc, planned) && findRelease(alloc, planned.store))
      return {alloc};
  return {};
}

/// Stores the parts of a tile through `buffers` in turn.
void StageStores::stage(StagedStore planned, ArrayRef<AllocOp> buffers) {
  StoreOp store = planned.store;
  OpBuilder builder(store);
  Location loc = store.getLoc();
  planned.addStart(builder, loc);
  bool isFilled = isFilledInBulk(buffers.front());
  bool isUsed = llvm::is_contained(stagings, buffers.front());
  for (AllocOp buffer : buffers)
    if (!llvm::is_contained(stagings, buffer))
      stagings.push_back(buffer);
  SmallVector<Value> indices = planned.indices;
  auto tile = cast<RankedTensorType>(store.getValue().getType());
  // The dimension along which the parts follow each other.
  unsigned dim = planned.part.getDimSize(0) == tile.getDimSize(0) ? 1 : 0;
  int64_t extent = planned.part.getDimSize(dim);
  for (int64_t i = 0, count = planned.countParts(); i < count; ++i) {
    if (i == 0 && isFilled)
      BarrierOp::create(builder, loc); // all have read what it held
    else if (i == 0 &&
             (isUsed || store->getParentOfType<LoopLikeOpInterface>()))
      BulkWaitOp::create(builder, loc, 0, /*read=*/true);
    else if (i >= int64_t(buffers.size()))
      BulkWaitOp::create(builder, loc, buffers.size() - 1, /*read=*/true);
    AllocOp buffer = buffers[i % buffers.size()];
    SmallVector<Value> origin(2,
                              arith::ConstantIndexOp::create(builder, loc, 0));
    Value part = store.getValue();
    if (count > 1) {
      SmallVector<int64_t> offsets(2, 0);
      offsets[dim] = i * extent;
      part = ExtractOp::create(builder, loc, planned.part, part,
                               builder.getDenseI64ArrayAttr(offsets));
    }
    StoreOp::create(builder, loc, part, buffer, origin);
    FenceAsyncOp::create(builder, loc);
    // tile-insert-barriers inserts no barriers for buffers that TMA fills.
    if (planned.boxes.empty() && isFilled)
      BarrierOp::create(builder, loc);
    BulkStoreOp::create(builder, loc, buffer, planned.argument, indices,
                        builder.getDenseI64ArrayAttr(planned.dims),
                        planned.start, planned.length,
                        planned.boxes.empty()
                            ? DenseI64ArrayAttr()
                            : builder.getDenseI64ArrayAttr(planned.boxes),
                        CachePriorityAttr());
    if (i + 1 == count)
      break;
    Value &index = indices[planned.dims[dim]];
    index = arith::AddIOp::create(
        builder, loc, index,
        arith::ConstantIndexOp::create(builder, loc, extent));
  }
  // TMA fills the slot again after it has read the staged tile.
  if (RingReleaseOp release = findRelease(buffers.front(), store)) {
    Operation *end = store->getBlock()->getTerminator();
    builder.setInsertionPoint(end);
    BulkWaitOp::create(builder, loc, 0, /*read=*/true);
    release->moveBefore(end);
  }
  store.erase();
}

/// Stores the whole tile or its parts, whatever there is memory for. Returns
/// false if there is none.
bool StageStores::stage(const StagedStore &whole, const StagedStore &inParts) {
  SmallVector<AllocOp> buffers = findBuffers(whole);
  const StagedStore *planned = &whole;
  if (buffers.empty()) {
    buffers = findBuffers(inParts);
    planned = &inParts;
  }
  if (buffers.empty()) {
    buffers = findSlot(whole);
    planned = &whole;
  }
  if (buffers.empty())
    return false;
  stage(*planned, buffers);
  return true;
}

void StageStores::runOnOperation() {
  KernelOp kernel = getOperation();
  auto all = kernel.getBody().front().getOps<WarpRolesOp>();
  stagings.clear();
  chip = all.empty() ? nullptr : getTargetChip(kernel);
  if (all.empty())
    return;
  if (!chip || failed(verifySharedBuffers(kernel)))
    return signalPassFailure();
  roles = *all.begin();
  // A plan looks at the other stores, so all are planned before one changes.
  struct Plan {
    StagedStore whole, inParts;
    Refusal refusal;
  };
  std::vector<Plan> plans;
  roles.getRoles().front().walk([&](StoreOp store) {
    if (!isStageCandidate(store))
      return;
    Plan &plan = plans.emplace_back();
    plan.refusal = planStagedStore(store, /*inParts=*/false, plan.whole);
    if (!plan.refusal)
      plan.refusal = planStagedStore(store, /*inParts=*/true, plan.inParts);
  });
  for (Plan &plan : plans) {
    StoreOp store = plan.whole.store;
    if (!plan.refusal) {
      if (stage(plan.whole, plan.inParts))
        continue;
      plan.refusal = "the tile takes " +
                     std::to_string(plan.whole.staging.getStorageBytes()) +
                     " bytes of shared memory, which are not free";
    }
    remark::missed(store.getLoc(), remark::RemarkOpts::name("store-not-staged")
                                       .category("tile-stage-stores"))
        << remark::reason("{0}", *plan.refusal);
  }
  if (stagings.empty())
    return;
  OpBuilder builder = OpBuilder::atBlockEnd(&roles.getRoles().front().front());
  BulkWaitOp::create(builder, kernel.getLoc(), 0, /*read=*/true);
}
