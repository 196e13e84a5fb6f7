//===- FillFromRegisters.cpp - Slots that registers fill ------------------===//

#include "FillFromRegisters.h"
#include "SkipByBounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "tile/Analysis/MemoryLayouts.h"
#include "tile/Dialect/Tile/IR/Contains.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tile;

namespace {
/// The copies that fill slots, by their block.
using CopiesByBlock = llvm::MapVector<Block *, SmallVector<CopyOp, 2>>;

class Filler {
public:
  Filler(KernelOp kernel, const Chip &chip)
      : rewriter(kernel.getContext()), kernel(kernel), chip(chip) {}

  void fill(RingPublishOp publish);

private:
  Value load(CopyOp copy);
  SmallVector<Value> loadInBranch(scf::IfOp branch, ArrayRef<CopyOp> copies);

  IRRewriter rewriter;
  KernelOp kernel;
  const Chip &chip;
};
} // namespace

/// Returns true if the chip copies to the layout of the destination of `copy`
/// without registers. Copies to the LDS fill contiguous memory.
static bool fillsDirectly(CopyOp copy, const Chip &chip) {
  switch (chip.asyncCopy.mechanism) {
  case AsyncCopy::None:
    return false;
  case AsyncCopy::CpAsync:
    return true;
  case AsyncCopy::DirectToLDS:
    break;
  }
  LayoutAttrInterface layout =
      cast<BufferType>(copy.getDest().getType()).getLayout();
  auto padded = dyn_cast<PaddedAttr>(layout);
  return isa<SwizzleAttr>(layout) ||
         (padded && padded.getPad() == 0 && padded.getGroup() == 0);
}

/// Returns the copy that alone fills the slot of `token`, in the block of its
/// tile.ring.acquire or in a branch of that block; null if there is none.
static CopyOp findCopy(Value token) {
  auto acquire = token.getDefiningOp<RingAcquireOp>();
  if (!acquire || !acquire.getBuffer().hasOneUse())
    return {};
  auto copy = dyn_cast<CopyOp>(*acquire.getBuffer().user_begin());
  if (!copy)
    return {};
  if (copy->getBlock() == acquire->getBlock())
    return copy;
  auto branch = dyn_cast<scf::IfOp>(copy->getParentOp());
  bool isPlain = branch && branch->getBlock() == acquire->getBlock() &&
                 branch.getNumResults() == 0 && !branch.elseBlock();
  return isPlain ? copy : CopyOp();
}

/// Loads the tile of `copy` in place of it.
Value Filler::load(CopyOp copy) {
  BufferType source = copy.getSource().getType();
  BufferType dest = copy.getDest().getType();
  auto type = RankedTensorType::get(
      dest.getShape(), dest.getElementType(),
      getCopyLayout(source, dest,
                    chip.maxGlobalAccess * 8 / dest.getElementBits(),
                    kernel.getNumWarps(), chip));
  rewriter.setInsertionPoint(copy);
  Value tile = LoadOp::create(rewriter, copy.getLoc(), type, copy.getSource(),
                              copy.getIndices());
  rewriter.eraseOp(copy);
  return tile;
}

/// Loads the tiles of `copies`, which `branch` contains. Without the branch
/// they are zero.
SmallVector<Value> Filler::loadInBranch(scf::IfOp branch,
                                        ArrayRef<CopyOp> copies) {
  SmallVector<Value> tiles;
  for (CopyOp copy : copies)
    tiles.push_back(load(copy));
  if (skipByBounds(branch, chip))
    return tiles;
  Location loc = branch.getLoc();
  rewriter.setInsertionPoint(branch);
  auto loading = scf::IfOp::create(rewriter, loc, TypeRange(ValueRange(tiles)),
                                   branch.getCondition(),
                                   /*withElseRegion=*/true);
  rewriter.inlineBlockBefore(branch.thenBlock(), loading.thenBlock(),
                             loading.thenBlock()->begin());
  Operation *end = &loading.thenBlock()->back();
  rewriter.setInsertionPoint(end);
  rewriter.replaceOpWithNewOp<scf::YieldOp>(end, tiles);
  rewriter.setInsertionPointToStart(loading.elseBlock());
  SmallVector<Value> zeros = llvm::map_to_vector(tiles, [&](Value tile) {
    return Value(arith::ConstantOp::create(
        rewriter, loc, rewriter.getZeroAttr(tile.getType())));
  });
  scf::YieldOp::create(rewriter, loc, zeros);
  rewriter.eraseOp(branch);
  return SmallVector<Value>(loading.getResults());
}

void Filler::fill(RingPublishOp publish) {
  CopiesByBlock copies;
  for (Value token : publish.getSlots())
    if (CopyOp copy = findCopy(token); copy && !fillsDirectly(copy, chip))
      copies[copy->getBlock()].push_back(copy);
  if (copies.empty())
    return;
  rewriter.setInsertionPoint(publish);
  ScheduleBarrierOp::create(rewriter, publish.getLoc());
  Operation *place = publish->getNextNode();
  while (place &&
         !containsOp(place, llvm::IsaPred<RingAcquireOp, RingTakeOp>) &&
         !place->hasTrait<OpTrait::IsTerminator>())
    place = place->getNextNode();
  // A role ends without a terminator.
  if (place)
    publish->moveBefore(place);
  else
    publish->moveBefore(publish->getBlock(), publish->getBlock()->end());
  rewriter.setInsertionPoint(publish);
  ScheduleBarrierOp::create(rewriter, publish.getLoc());
  for (auto &[block, together] : copies) {
    SmallVector<Value> slots = llvm::map_to_vector(
        together, [](CopyOp copy) -> Value { return copy.getDest(); });
    SmallVector<Value> tiles;
    if (block != publish->getBlock())
      tiles = loadInBranch(cast<scf::IfOp>(block->getParentOp()), together);
    else
      for (CopyOp copy : together)
        tiles.push_back(load(copy));
    rewriter.setInsertionPoint(publish);
    for (auto [tile, slot] : llvm::zip_equal(tiles, slots)) {
      Location loc = publish.getLoc();
      Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
      SmallVector<Value> origin(cast<BufferType>(slot.getType()).getRank(),
                                zero);
      StoreOp::create(rewriter, loc, tile, slot, origin);
    }
  }
}

bool tile::fillFromRegisters(KernelOp kernel, const Chip &chip) {
  Filler filler(kernel, chip);
  SmallVector<RingPublishOp> publishes;
  kernel.walk([&](RingPublishOp publish) {
    if (!getRing(publish.getSlots().front()).getFull())
      publishes.push_back(publish);
  });
  for (RingPublishOp publish : publishes)
    filler.fill(publish);
  if (chip.asyncCopy.mechanism != AsyncCopy::DirectToLDS)
    return chip.asyncCopy.mechanism == AsyncCopy::CpAsync;
  return containsOp<CopyOp>(kernel,
                            [](CopyOp copy) { return copy.getAsync(); });
}
