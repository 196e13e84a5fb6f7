//===- SwapOperands.cpp - Products that are computed transposed -----------===//
//
// An MMA may need a right operand that is contiguous along the depth in shared
// memory, and take a left one from registers, to which threads load any
// elements. Where the right operand is not contiguous so and the left one is,
// the product is computed transposed: C^T = B^T * A^T.
//
//===----------------------------------------------------------------------===//

#include "../Layouts/MmaChoice.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "tile/Chips/Mma.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILESWAPOPERANDS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Bits of a register, which a load of one element fills.
static constexpr unsigned kRegisterBits = 32;

/// Returns the type of the transposed tile.
static RankedTensorType getTransposed(RankedTensorType type) {
  SmallVector<int64_t> shape(llvm::reverse(type.getShape()));
  Attribute encoding = type.getEncoding();
  if (auto open = dyn_cast_or_null<OpenAttr>(encoding)) {
    SmallVector<StringAttr> names(llvm::reverse(open.getNames()));
    encoding = OpenAttr::get(type.getContext(), names);
  }
  return RankedTensorType::get(shape, type.getElementType(), encoding);
}

static Value transpose(OpBuilder &builder, Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  return TransposeOp::create(builder, tile.getLoc(), getTransposed(type), tile,
                             ArrayRef<int64_t>{1, 0});
}

/// Returns the transposed tile, of which all elements are equal; null if they
/// may not be.
static Value transposeSplat(OpBuilder &builder, Value tile) {
  RankedTensorType type = getTransposed(cast<RankedTensorType>(tile.getType()));
  if (auto splat = tile.getDefiningOp<tensor::SplatOp>()) {
    SmallVector<Value> extents(llvm::reverse(splat.getDynamicSizes()));
    return tensor::SplatOp::create(builder, tile.getLoc(), type,
                                   splat.getInput(), extents);
  }
  auto constant = tile.getDefiningOp<arith::ConstantOp>();
  auto value = constant ? dyn_cast<SplatElementsAttr>(constant.getValue())
                        : SplatElementsAttr();
  if (!value)
    return {};
  return arith::ConstantOp::create(builder, tile.getLoc(),
                                   value.resizeSplat(type));
}

/// Returns true if `value` is loaded, and perhaps transposed.
static bool isLoaded(Value value) {
  while (auto transpose = value.getDefiningOp<TransposeOp>())
    value = transpose.getSource();
  return value.getDefiningOp<LoadOp>() != nullptr;
}

/// Returns true if an MMA of `chip` computes `dot` transposed only.
static bool shouldSwap(DotOp dot, const Chip &chip) {
  auto type = dyn_cast<RankedTensorType>(dot.getA().getType());
  if (!type || dot.getAsync() || dot.getInstruction() || dot.getWarps() ||
      type.getElementTypeBitWidth() != kRegisterBits || !isLoaded(dot.getA()) ||
      !isLoaded(dot.getB()) || getLayoutAttr(dot.getResult().getType()) ||
      getLayoutAttr(dot.getA().getType()) ||
      getLayoutAttr(dot.getB().getType()) || !isKMajor(dot, 0) ||
      isKMajor(dot, 1))
    return false;
  return llvm::any_of(chip.mma, [&](StringRef name) {
    const Mma *mma = findMma(name);
    return mma->isAsync && mma->needsKMajor && mma->spaces[0].registers &&
           dot.isComputedBy(*mma);
  });
}

/// Returns the loop whose sum `dot` adds to, and the number of the sum. Returns
/// null if there is none, or if the loop uses the sum for something else.
static std::pair<scf::ForOp, unsigned> findSum(DotOp dot) {
  auto sum = dyn_cast<BlockArgument>(dot.getAcc());
  auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
  Value result = dot.getResult();
  if (!sum || !loop || sum.getOwner() != loop.getBody() ||
      sum.getArgNumber() == 0 || !sum.hasOneUse() || !result.hasOneUse())
    return {};
  OpOperand &use = *result.getUses().begin();
  unsigned number = sum.getArgNumber() - 1;
  if (!isa<scf::YieldOp>(use.getOwner()) || use.getOperandNumber() != number)
    return {};
  return {loop, number};
}

/// Replaces `dot` by the transposed product, which adds to `acc`.
static DotOp createSwapped(OpBuilder &builder, DotOp dot, Value acc) {
  Value a = transpose(builder, dot.getB()), b = transpose(builder, dot.getA());
  return DotOp::create(
      builder, dot.getLoc(),
      getTransposed(cast<RankedTensorType>(dot.getResult().getType())), a, b,
      acc, StringAttr(), DenseI64ArrayAttr(), dot.getPrecisionAttr());
}

/// Computes `dot` transposed. Returns false if its accumulator is neither the
/// sum of a loop nor of equal elements.
static bool swap(DotOp dot) {
  OpBuilder builder(dot);
  auto [loop, number] = findSum(dot);
  if (!loop) {
    Value acc = transposeSplat(builder, dot.getAcc());
    if (!acc)
      return false;
    DotOp swapped = createSwapped(builder, dot, acc);
    dot.getResult().replaceAllUsesWith(transpose(builder, swapped.getResult()));
    dot.erase();
    return true;
  }
  OpOperand &init = loop.getInitArgsMutable()[number];
  builder.setInsertionPoint(loop);
  Value first = transposeSplat(builder, init.get());
  init.set(first ? first : transpose(builder, init.get()));
  BlockArgument sum = loop.getRegionIterArg(number);
  sum.setType(init.get().getType());
  builder.setInsertionPoint(dot);
  DotOp swapped = createSwapped(builder, dot, sum);
  dot.getResult().replaceAllUsesWith(swapped.getResult());
  dot.erase();
  Value result = loop.getResult(number);
  result.setType(sum.getType());
  builder.setInsertionPointAfter(loop);
  Value back = transpose(builder, result);
  result.replaceAllUsesExcept(back, back.getDefiningOp());
  return true;
}

namespace {
struct SwapOperands : tile::impl::TileSwapOperandsBase<SwapOperands> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    const Chip *chip = getTargetChip(kernel);
    if (!chip)
      return signalPassFailure();
    // Blocks of a cluster divide the rows of sums and of what follows them.
    if (getSchedule(kernel).clusterSplit)
      return;
    SmallVector<DotOp> dots;
    kernel.walk([&](DotOp dot) {
      if (shouldSwap(dot, *chip))
        dots.push_back(dot);
    });
    for (DotOp dot : dots) {
      Location loc = dot.getLoc();
      if (swap(dot))
        remark::passed(loc, remark::RemarkOpts::name("operands-swapped")
                                .category("tile-swap-operands"));
    }
  }
};
} // namespace
