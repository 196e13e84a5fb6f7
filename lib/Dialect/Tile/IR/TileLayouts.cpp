//===- TileLayouts.cpp - Layouts that tile operations infer and require ---===//

#include "tile/Dialect/Tile/IR/Tile.h"

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
