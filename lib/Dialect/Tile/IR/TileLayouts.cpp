//===- TileLayouts.cpp - Layouts that tile operations infer and require ---===//

#include "tile/Dialect/Tile/IR/Tile.h"
#include <numeric>

using namespace mlir;
using namespace tile;

using Propose = llvm::function_ref<void(Value, LayoutAttrInterface)>;

/// Returns true if `layout` covers every element of a tile of this type.
static bool suits(LayoutAttrInterface layout, Type tile) {
  auto type = cast<RankedTensorType>(tile);
  return succeeded(verifyTileLayout(layout, type.getShape(),
                                    type.getElementType(), nullptr));
}

//===----------------------------------------------------------------------===//
// DotOp, IotaOp
//===----------------------------------------------------------------------===//

void DotOp::requireLayouts(LayoutRequirements &requirements) {
  requirements.requireFactor(getAMutable());
  requirements.requireFactor(getBMutable());
  requirements.requireOperand(getAccMutable(), getLayoutAttr(getTile()));
}

bool IotaOp::isRematerializable() { return true; }

//===----------------------------------------------------------------------===//
// GatherOp
//===----------------------------------------------------------------------===//

/// Returns the layout of the indices of `gather` if the result has `layout`.
static LayoutAttrInterface getRowsLayout(GatherOp gather,
                                         LayoutAttrInterface layout) {
  int64_t rank = cast<RankedTensorType>(gather.getType()).getRank();
  if (cast<RankedTensorType>(gather.getRows().getType()).getRank() == rank)
    return layout;
  for (int64_t dim = rank; dim-- > 0;)
    if (dim != int64_t(gather.getDim()))
      layout = SliceAttr::get(gather.getContext(), dim, layout);
  return layout;
}

void GatherOp::inferLayouts(Value value, LayoutAttrInterface layout,
                            Propose propose) {
  if (layout.getFamily() != LayoutFamily::Distributed)
    return;
  if (value == getResult())
    propose(getRows(), ::getRowsLayout(*this, layout));
  else if (suits(layout, getType()))
    propose(getResult(), layout);
}

void GatherOp::requireLayouts(LayoutRequirements &requirements) {
  requirements.requireOperand(getRowsMutable(),
                              ::getRowsLayout(*this, getLayoutAttr(getType())));
}

//===----------------------------------------------------------------------===//
// AtomicRMWOp
//===----------------------------------------------------------------------===//

/// The previous content has the layout of the value.
void AtomicRMWOp::inferLayouts(Value value, LayoutAttrInterface layout,
                               Propose propose) {
  if (!getResult())
    return;
  propose(getValue(), layout);
  propose(getResult(), layout);
}

void AtomicRMWOp::requireLayouts(LayoutRequirements &requirements) {
  if (getResult())
    requirements.requireOperand(getValueMutable(),
                                getLayoutAttr(getResult().getType()));
  else
    requirements.requireRegisters(getValueMutable(), getBuffer().getType());
}

//===----------------------------------------------------------------------===//
// ReduceOp, BroadcastOp
//===----------------------------------------------------------------------===//

/// Infers the layouts of two tiles of which `small` has the dimensions of `big`
/// without `dim`. `value`, one of them, has `layout`.
static void inferSliced(Value value, LayoutAttrInterface layout, Value big,
                        Value small, unsigned dim, Propose propose) {
  if (value == big) {
    propose(small, SliceAttr::get(big.getContext(), dim, layout));
    return;
  }
  auto slice = dyn_cast<SliceAttr>(layout);
  if (slice && slice.getDim() == dim && suits(slice.getParent(), big.getType()))
    propose(big, slice.getParent());
}

void ReduceOp::inferLayouts(Value value, LayoutAttrInterface layout,
                            Propose propose) {
  inferSliced(value, layout, getSource(), getResult(), getDim(), propose);
}

void ReduceOp::requireLayouts(LayoutRequirements &requirements) {
  requirements.provideResult(
      cast<OpResult>(getResult()),
      SliceAttr::get(getContext(), getDim(),
                     getLayoutAttr(getSource().getType())));
}

void BroadcastOp::inferLayouts(Value value, LayoutAttrInterface layout,
                               Propose propose) {
  inferSliced(value, layout, getResult(), getSource(), getDim(), propose);
}

void BroadcastOp::requireLayouts(LayoutRequirements &requirements) {
  requirements.requireOperand(
      getSourceMutable(),
      SliceAttr::get(getContext(), getDim(), getLayoutAttr(getType())));
}

//===----------------------------------------------------------------------===//
// ScanOp
//===----------------------------------------------------------------------===//

void ScanOp::inferLayouts(Value, LayoutAttrInterface layout, Propose propose) {
  propose(getSource(), layout);
  propose(getResult(), layout);
}

/// Returns the accesses to shared memory of a thread in a scan along `dim`. It
/// writes the totals of its runs and reads those of all runs. The latter count
/// twice, because the thread holds them beside its elements.
static int64_t countScanAccesses(const Layout &layout, unsigned dim) {
  int64_t length = layout.runInWarps(dim);
  if (length == layout.shape()[dim])
    return 0;
  return layout.reduceRuns(dim, length).axisSize(kRegister) +
         2 * layout.allRuns(dim).axisSize(kRegister);
}

/// Returns the layout in which `tile` is scanned along `dim`. This is its own,
/// unless a conversion to another one and back costs less. In the other layout,
/// lanes and warps go along the other dimensions first.
static LayoutAttrInterface getScanLayout(RankedTensorType tile, unsigned dim) {
  Layout layout = getCanonicalLayout(tile);
  SmallVector<int64_t> thread(tile.getRank(), 1), order;
  thread[dim] = std::gcd(128 / std::max(tile.getElementTypeBitWidth(), 8u),
                         tile.getDimSize(dim));
  for (int64_t other = tile.getRank(); other-- > 0;)
    if (other != dim)
      order.push_back(other);
  order.push_back(dim);
  LayoutAttrInterface other = BlockedAttr::getCoalesced(
      tile.getContext(), tile.getShape(), thread, order, layout.axisSize(kLane),
      layout.axisSize(kWarp));
  Layout otherLayout = getCanonicalLayout(withLayout(tile, other));
  int64_t conversions =
      2 * (layout.axisSize(kRegister) + otherLayout.axisSize(kRegister));
  return conversions + countScanAccesses(otherLayout, dim) <
                 countScanAccesses(layout, dim)
             ? other
             : getLayoutAttr(tile);
}

void ScanOp::requireLayouts(LayoutRequirements &requirements) {
  LayoutAttrInterface layout =
      getScanLayout(cast<RankedTensorType>(getType()), getDim());
  requirements.requireOperand(getSourceMutable(), layout);
  requirements.provideResult(cast<OpResult>(getResult()), layout);
}

//===----------------------------------------------------------------------===//
// AssociativeScanOp
//===----------------------------------------------------------------------===//

void AssociativeScanOp::inferLayouts(Value, LayoutAttrInterface layout,
                                     Propose propose) {
  for (Value tile : llvm::concat<Value>(getSources(), getResults()))
    propose(tile, layout);
}

void AssociativeScanOp::requireLayouts(LayoutRequirements &requirements) {
  LayoutAttrInterface layout = getScanLayout(
      cast<RankedTensorType>(getSources().front().getType()), getDim());
  for (OpOperand &source : getSourcesMutable())
    requirements.requireOperand(source, layout);
  for (OpResult result : getOperation()->getResults())
    requirements.provideResult(result, layout);
}

//===----------------------------------------------------------------------===//
// TransposeOp
//===----------------------------------------------------------------------===//

void TransposeOp::inferLayouts(Value value, LayoutAttrInterface layout,
                               Propose propose) {
  if (value == getSource()) {
    propose(getResult(), PermuteAttr::get(getContext(), getOrder(), layout));
    return;
  }
  auto permute = dyn_cast<PermuteAttr>(layout);
  if (permute && permute.getOrder() == getOrder()) {
    propose(getSource(), permute.getParent());
    return;
  }
  SmallVector<int64_t> inverse(getOrder().size());
  for (auto [i, dim] : llvm::enumerate(getOrder()))
    inverse[dim] = i;
  propose(getSource(), PermuteAttr::get(getContext(), inverse, layout));
}

void TransposeOp::requireLayouts(LayoutRequirements &requirements) {
  if (isa<RankedTensorType>(getType()))
    requirements.provideResult(
        cast<OpResult>(getResult()),
        PermuteAttr::get(getContext(), getOrder(),
                         getLayoutAttr(getSource().getType())));
}
