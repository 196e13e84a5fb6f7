//===- StageStores.cpp - Stores by TMA ------------------------------------===//

#include "StagedStore.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tile/Analysis/RunAhead.h"
#include "tile/Analysis/SharedMemory.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Layout/Queries.h"

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
  AllocOp findStaging(StagedStore planned, const Chip &chip);
  void stage(StagedStore planned, AllocOp staging);

  WarpRolesOp roles;
  /// Buffers that stores go through.
  SmallVector<AllocOp> stagings;
};
} // namespace

bool tile::isStageCandidate(StoreOp store) {
  auto tile = cast<RankedTensorType>(store.getValue().getType());
  return !store.getBuffer().getType().isShared() && tile.getRank() == 2 &&
         getLayoutAttr(tile) && !isSharedTile(tile);
}

Refusal tile::planStagedStore(StoreOp store, StagedStore &planned) {
  auto tile = cast<RankedTensorType>(store.getValue().getType());
  planned.store = store;
  int64_t bytes = tile.getElementTypeBitWidth() / 8;
  planned.staging = findSwizzledTile(tile);
  if (!planned.staging)
    return "its rows are no multiple of 32 bytes";
  if (Refusal refusal = findArgumentTile(store.getBuffer(), store.getIndices(),
                                         planned.staging, planned))
    return refusal;
  RunAhead runAhead(store->getParentOfType<KernelOp>());
  if (Refusal refusal = runAhead.checkLateStore(store, planned.argument))
    return refusal;
  // The boxes of a warp begin at multiples of 128 bytes.
  if (auto boxes = findWarpBoxes(getCanonicalLayout(tile));
      boxes && (*boxes)[0] * (*boxes)[1] > 1) {
    int64_t width = planned.staging.getCanonicalLayout().swizzle().bits;
    width = int64_t(16) << width;
    if (tile.getDimSize(1) * bytes / (*boxes)[1] % width == 0 &&
        tile.getDimSize(0) / (*boxes)[0] * width % 128 == 0)
      planned.parts.assign(boxes->begin(), boxes->end());
  }
  return std::nullopt;
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
    // A product reads until it has been awaited.
    auto dot = dyn_cast<DotOp>(user);
    return !dot || !dot.getAsync() ||
           llvm::all_of(dot->getUsers(), [&](Operation *await) {
             Operation *end = consumers.findAncestorOpInBlock(*await);
             return end && end->isBeforeInBlock(place);
           });
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

/// Returns a buffer for the tile; null if there is no memory.
AllocOp StageStores::findStaging(StagedStore planned, const Chip &chip) {
  for (AllocOp staging : stagings)
    if (staging.getType() == planned.staging && !isFilledInBulk(staging) &&
        planned.store->getParentOfType<LoopLikeOpInterface>())
      return staging;
  for (auto alloc : roles->getBlock()->getOps<AllocOp>())
    if (alloc.getType() == planned.staging && isFilledInBulk(alloc) &&
        !llvm::is_contained(stagings, alloc) &&
        isFreeAt(alloc, planned.store, roles))
      return alloc;
  for (AllocOp staging : stagings)
    if (staging.getType() == planned.staging && !isFilledInBulk(staging))
      return staging;
  // A new buffer is live where the store is, in all iterations of its loops.
  SharedMemoryModel model(planned.store->getParentOfType<KernelOp>());
  Operation *use = planned.store;
  for (Operation *op = use; op != roles; op = op->getParentOp())
    if (isa<LoopLikeOpInterface>(op))
      use = op;
  model.add(planned.staging, roles, use, use);
  if (model.placeWithin(chip.sharedBytes).bytes <= chip.sharedBytes) {
    OpBuilder builder(roles);
    return AllocOp::create(builder, planned.store.getLoc(), planned.staging,
                           IntegerAttr());
  }
  for (auto alloc : roles->getBlock()->getOps<AllocOp>())
    if (alloc.getType() == planned.staging &&
        !llvm::is_contained(stagings, alloc) &&
        findRelease(alloc, planned.store))
      return alloc;
  return {};
}

void StageStores::stage(StagedStore planned, AllocOp staging) {
  StoreOp store = planned.store;
  OpBuilder builder(store);
  Location loc = store.getLoc();
  planned.addStart(builder, loc);
  bool isUsed = llvm::is_contained(stagings, staging);
  if (isFilledInBulk(staging))
    BarrierOp::create(builder, loc); // all have read what it held
  else if (isUsed || store->getParentOfType<LoopLikeOpInterface>())
    BulkWaitOp::create(builder, loc, 0, /*read=*/true);
  if (!isUsed)
    stagings.push_back(staging);
  SmallVector<Value> origin(2, arith::ConstantIndexOp::create(builder, loc, 0));
  StoreOp::create(builder, loc, store.getValue(), staging, origin);
  FenceAsyncOp::create(builder, loc);
  // tile-insert-barriers inserts no barriers for buffers that TMA fills.
  if (planned.parts.empty() && isFilledInBulk(staging))
    BarrierOp::create(builder, loc);
  BulkStoreOp::create(
      builder, loc, staging, planned.argument, planned.indices,
      builder.getDenseI64ArrayAttr(planned.dims), planned.start, planned.length,
      planned.parts.empty() ? DenseI64ArrayAttr()
                            : builder.getDenseI64ArrayAttr(planned.parts),
      CachePriorityAttr());
  // TMA fills the slot again after it has read the staged tile.
  if (RingReleaseOp release = findRelease(staging, store)) {
    Operation *end = store->getBlock()->getTerminator();
    builder.setInsertionPoint(end);
    BulkWaitOp::create(builder, loc, 0, /*read=*/true);
    release->moveBefore(end);
  }
  store.erase();
}

void StageStores::runOnOperation() {
  KernelOp kernel = getOperation();
  auto all = kernel.getBody().front().getOps<WarpRolesOp>();
  stagings.clear();
  const Chip *chip = all.empty() ? nullptr : getTargetChip(kernel);
  if (all.empty())
    return;
  if (!chip || failed(verifySharedBuffers(kernel)))
    return signalPassFailure();
  roles = *all.begin();
  // A plan looks at the other stores, so all are planned before one changes.
  SmallVector<std::pair<StagedStore, Refusal>> plans;
  roles.getRoles().front().walk([&](StoreOp store) {
    if (isStageCandidate(store)) {
      auto &[planned, refusal] = plans.emplace_back();
      refusal = planStagedStore(store, planned);
    }
  });
  for (auto &[planned, refusal] : plans) {
    StoreOp store = planned.store;
    AllocOp staging;
    if (!refusal) {
      staging = findStaging(planned, *chip);
      if (!staging)
        refusal = "the tile takes " +
                  std::to_string(planned.staging.getStorageBytes()) +
                  " bytes of shared memory, which are not free";
    }
    if (staging)
      stage(planned, staging);
    else
      remark::missed(store.getLoc(),
                     remark::RemarkOpts::name("store-not-staged")
                         .category("tile-stage-stores"))
          << remark::reason("{0}", *refusal);
  }
  if (stagings.empty())
    return;
  OpBuilder builder = OpBuilder::atBlockEnd(&roles.getRoles().front().front());
  BulkWaitOp::create(builder, kernel.getLoc(), 0, /*read=*/false);
}
