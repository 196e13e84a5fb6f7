//===- OldValues.cpp - Old values of atomic operations --------------------===//

#include "OldValues.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "tile/Analysis/AccessWidth.h"
#include "tile/Analysis/MemoryLayouts.h"
#include "tile/Chips/Chips.h"

using namespace mlir;
using namespace tile;

bool tile::isSharedByWarps(RankedTensorType tile) {
  return getCanonicalLayout(tile).replication(kWarp) != 1;
}

LayoutAttrInterface tile::getOldValueLayout(RankedTensorType tile,
                                            int64_t lanes, int64_t warps) {
  return getDefaultLayout(tile.getContext(), tile.getShape(),
                          /*elementBits=*/128, lanes, warps);
}

/// Returns a view of the buffer of `atomic` that ends with the tile along the
/// first dimension.
static Value narrowToTile(ImplicitLocOpBuilder &b, AtomicRMWOp atomic) {
  Value buffer = atomic.getBuffer(), begin = atomic.getIndices()[0];
  auto tile = cast<RankedTensorType>(atomic.getValue().getType());
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, b.getLoc(), value);
  };
  Value end = arith::AddIOp::create(b, begin, constant(tile.getDimSize(0)));
  Value length = arith::MinSIOp::create(b, DimOp::create(b, buffer, 0), end);
  if (!isKnownNonNegative(begin))
    length = arith::MaxSIOp::create(b, length, constant(0));
  return NarrowOp::create(b, buffer, 0, constant(0), length);
}

static void grow(AtomicRMWOp atomic, int64_t lanes, int64_t warps) {
  if (!atomic.getResult())
    return;
  IRRewriter rewriter(atomic);
  ImplicitLocOpBuilder b(atomic.getLoc(), rewriter);
  auto emit = [&](Type result, Value value, Value buffer) {
    return AtomicRMWOp::create(b, result, atomic.getKind(), value, buffer,
                               atomic.getIndices(), atomic.getOrder(),
                               atomic.getScope());
  };
  if (atomic.getResult().use_empty()) {
    emit(Type(), atomic.getValue(), atomic.getBuffer());
    rewriter.eraseOp(atomic);
    return;
  }
  auto tile = cast<RankedTensorType>(atomic.getValue().getType());
  BufferType buffer = atomic.getBuffer().getType();
  if (tile.getEncoding() || buffer.isShared() ||
      !isa<StridedAttr>(buffer.getLayout()))
    return;
  RankedTensorType laidOut =
      withLayout(tile, getOldValueLayout(tile, lanes, warps));
  if (!isSharedByWarps(laidOut))
    return;
  int64_t copies =
      getCanonicalLayout(laidOut).inputSize() / tile.getNumElements();
  SmallVector<int64_t> shape(tile.getShape());
  shape[0] *= copies;
  RankedTensorType grown = tile.clone(shape);
  shape[0] /= copies;
  shape.insert(shape.begin(), copies);
  Value value =
      BroadcastOp::create(b, tile.clone(shape), atomic.getValue(), /*dim=*/0);
  value = ReshapeOp::create(b, grown, value);
  AtomicRMWOp all = emit(grown, value, narrowToTile(b, atomic));
  rewriter.replaceOpWithNewOp<ExtractOp>(
      atomic, tile, all.getResult(), SmallVector<int64_t>(tile.getRank(), 0));
}

void tile::growOldValues(KernelOp kernel, const Chip &chip) {
  kernel.walk([&](AtomicRMWOp atomic) {
    grow(atomic, chip.warpSize, kernel.getNumWarps());
  });
}
