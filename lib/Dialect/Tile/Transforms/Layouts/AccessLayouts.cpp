//===- AccessLayouts.cpp - Layouts for accesses of memory -----------------===//

#include "AccessLayouts.h"
#include "SharedPlacement.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Analysis/AccessWidth.h"
#include "tile/Analysis/MemoryLayouts.h"
#include "tile/Analysis/Registers.h"
#include "tile/Layout/Queries.h"

using namespace mlir;
using namespace tile;

/// The segments that a scattered access touches, for each that it needs.
static constexpr int64_t kScatteredSegments = 4;
/// Accesses of a thread that take no longer than an exchange through shared
/// memory.
static constexpr int64_t kFewAccesses = 4;

LayoutAttrInterface AccessLayouts::getCoalesced(BufferType buffer,
                                                RankedTensorType type) const {
  LayoutAttrInterface layout = getCoalescedLayout(
      type.getContext(), type.getShape(), buffer.getTileMemory(type.getShape()),
      chip.maxGlobalAccess * 8 / buffer.getElementBits(), chip.warpSize,
      numWarps);
  // A map whose digits do not divide the extents of the tile has no such
  // layout, or one that few threads share.
  auto count = [&](LayoutAttrInterface layout) {
    return countRegisters(withLayout(type, layout));
  };
  LayoutAttrInterface other = getDefault(type);
  bool suits = succeeded(verifyTileLayout(
      layout, type.getShape(), type.getElementType(), /*emitError=*/nullptr));
  return suits && count(layout) <= 2 * count(other) ? layout : other;
}

LayoutAttrInterface AccessLayouts::getDefault(RankedTensorType type,
                                              int64_t bits) const {
  return getDefaultLayout(type.getContext(), type.getShape(), bits,
                          chip.warpSize, numWarps);
}

/// Returns the store that a value reaches through elementwise operations, null
/// if there is none.
static StoreOp findStore(Value value) {
  for (Operation *user : value.getUsers()) {
    if (auto store = dyn_cast<StoreOp>(user))
      return store;
    if (user->hasTrait<OpTrait::Elementwise>() && user->getNumResults() == 1)
      if (StoreOp store = findStore(user->getResult(0)))
        return store;
  }
  return {};
}

LayoutAttrInterface AccessLayouts::getPermuted(Value value) const {
  auto isPermuted = [](BufferType buffer) {
    return isa<MapAttr>(buffer.getLayout());
  };
  auto type = cast<RankedTensorType>(value.getType());
  StoreOp store = findStore(value);
  auto load = value.getDefiningOp<LoadOp>();
  if (!load || !isPermuted(load.getBuffer().getType()))
    return store && isPermuted(store.getBuffer().getType())
               ? getCoalesced(store.getBuffer().getType(), type)
               : LayoutAttrInterface();
  BufferType buffer = load.getBuffer().getType();
  // Rows, if the permutation leaves pieces of 16 bytes of as many elements as
  // the store, or some more, has in a thread.
  if (store && !isPermuted(store.getBuffer().getType())) {
    int64_t bits = store.getBuffer().getType().getElementBits();
    int64_t elements = 128 / buffer.getElementBits();
    Layout memory = buffer.getTileMemory(type.getShape());
    for (int64_t inThread : {bits, bits / 2}) {
      LayoutAttrInterface rows = getDefault(type, inThread);
      if (widestAccess(getCanonicalLayout(withLayout(type, rows)), memory,
                       elements)
              .width == elements)
        return rows;
    }
  }
  return getCoalesced(buffer, type);
}

LayoutAttrInterface AccessLayouts::getRows(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t bits = type.getElementTypeBitWidth();
  auto limit = [&](BufferType buffer, ValueRange indices) {
    auto strided = dyn_cast<StridedAttr>(buffer.getLayout());
    if (buffer.isShared() || !strided || strided.getStrides().back() != 1)
      return;
    WidthRequest request = anyWidth(buffer, chip.maxGlobalAccess);
    request.canBePartial = true;
    LayoutAttrInterface layout = getDefault(type, bits);
    AccessWidth width =
        decideWidth(getCanonicalLayout(withLayout(type, layout)),
                    MemoryOperand{buffer, indices, ""}, request);
    if (width.groups.width < std::gcd(128 / bits, type.getShape().back()))
      bits = 128 / width.groups.width;
  };
  if (auto load = value.getDefiningOp<LoadOp>())
    limit(load.getBuffer().getType(), load.getIndices());
  if (StoreOp store = findStore(value))
    limit(store.getBuffer().getType(), store.getIndices());
  return getDefault(type, bits);
}

LayoutAttrInterface AccessLayouts::getLayout(Value value) const {
  LayoutAttrInterface permuted = getPermuted(value);
  return permuted ? permuted : getRows(value);
}

/// Returns the bytes of the operands in shared memory that an iteration of a
/// loop in front of `store` loads; 0 if a loop contains `store`.
static int64_t countOperandBytes(StoreOp store) {
  if (store->getParentOfType<LoopLikeOpInterface>())
    return 0;
  int64_t most = 0;
  for (scf::ForOp loop : store->getBlock()->getOps<scf::ForOp>()) {
    if (!loop->isBeforeInBlock(store))
      break;
    int64_t bytes = 0;
    for (LoadOp load : loop.getBody()->getOps<LoadOp>())
      if (auto tile = cast<RankedTensorType>(load.getType());
          isSharedTile(tile))
        bytes += tile.getNumElements() * tile.getElementTypeBitWidth() / 8;
    most = std::max(most, bytes);
  }
  return most;
}

/// Returns true if threads have bank conflicts that exchange a tile with rows
/// of its last dimension in shared memory and read it by `reader`.
static bool hasConflicts(RankedTensorType type, LayoutAttrInterface reader,
                         const Chip &chip) {
  int64_t bits = type.getElementTypeBitWidth();
  SmallVector<int64_t> order(llvm::reverse(llvm::seq(type.getRank())));
  std::vector<AccessOfLayout> accesses;
  auto add = [&](RankedTensorType tile, bool isStore) {
    auto threads = [tile](LayoutAttrInterface) -> FailureOr<Layout> {
      return getCanonicalLayout(tile);
    };
    accesses.emplace_back(threads, isStore);
  };
  add(type, /*isStore=*/true);
  add(withLayout(type, reader), /*isStore=*/false);
  LayoutAttrInterface shared =
      choosePadding(type.getContext(), type.getShape(), bits, order,
                    chip.maxSharedAccess, accesses, chip);
  return countConflicts(shared, type.getShape(), bits, accesses, chip) != 0;
}

LayoutAttrInterface AccessLayouts::getExchanged(StoreOp store,
                                                bool hasProducts) const {
  Value value = store.getValue();
  auto type = cast<RankedTensorType>(value.getType());
  BufferType memory = store.getBuffer().getType();
  auto strided = dyn_cast<StridedAttr>(memory.getLayout());
  int64_t room = chip.sharedBytes / 2;
  if (hasProducts)
    room = chip.bufferFlags != 0 ? countOperandBytes(store) : 0;
  if (memory.isShared() || !strided || isSharedTile(type) ||
      type.getNumElements() * type.getElementTypeBitWidth() / 8 > room)
    return {};
  WidthRequest request = anyWidth(memory, chip.maxGlobalAccess);
  request.canBePartial = true;
  auto decide = [&](LayoutAttrInterface layout) {
    return decideWidth(getCanonicalLayout(withLayout(type, layout)),
                       MemoryOperand{memory, store.getIndices(), ""}, request);
  };
  AccessWidth width = decide(getLayoutAttr(type));
  if (width.uncoalesced.empty() ||
      int64_t(width.groups.order.size()) < kFewAccesses * width.groups.width)
    return {};
  SegmentCount segments = width.uncoalesced.front().segments;
  if (segments.touched < kScatteredSegments * segments.least)
    return {};
  LayoutAttrInterface other = strided.getStrides().back() == 1
                                  ? getRows(value)
                                  : getCoalesced(memory, type);
  // Narrower accesses of global memory may save bank conflicts.
  if (hasProducts && hasConflicts(type, other, chip)) {
    LayoutAttrInterface narrow =
        getDefault(type, 2 * type.getElementTypeBitWidth());
    if (!hasConflicts(type, narrow, chip))
      other = narrow;
  }
  return decide(other).uncoalesced.empty() ? other : LayoutAttrInterface();
}
