//===- ExpandProducts.cpp - Products of f32 by products of bf16 -----------===//
//
// x = hi + lo with two bf16 numbers, each of 8 bits, has an error of at most
// 2^-16 |x|: hi differs from x by up to 2^-8 |x|, and lo from the rest by up to
// 2^-8 of that. lo * lo, which is left out, is as small.
//
//===----------------------------------------------------------------------===//

#include "../Layouts/MmaChoice.h"
#include "tile/Chips/Mma.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILEEXPANDPRODUCTS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {
/// A tile of f32 as the sum of two of bf16.
struct Halves {
  Value high, low;
};

class ProductExpander {
public:
  explicit ProductExpander(MLIRContext *context) : builder(context) {}

  void expand(DotOp dot);

private:
  Halves divide(Value tile);

  OpBuilder builder;
  /// Tiles that several products multiply are divided once.
  DenseMap<Value, Halves> known;
};
} // namespace

/// Emits the halves of `tile` after its definition, so that those of a tile
/// that is invariant in a loop are, too.
Halves ProductExpander::divide(Value tile) {
  auto [entry, isNew] = known.try_emplace(tile);
  if (!isNew)
    return entry->second;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(tile);
  Location loc = tile.getLoc();
  auto wide = cast<RankedTensorType>(tile.getType());
  RankedTensorType narrow = wide.clone(builder.getBF16Type());
  // A NaN is in the lower half, whatever the upper one is.
  Value high = arith::TruncFOp::create(
      builder, loc, narrow, tile, /*roundingmode=*/nullptr,
      arith::FastMathFlagsAttr::get(builder.getContext(),
                                    arith::FastMathFlags::nnan));
  Value rest = arith::SubFOp::create(
      builder, loc, tile, arith::ExtFOp::create(builder, loc, wide, high));
  Value low = arith::TruncFOp::create(builder, loc, narrow, rest);
  return known[tile] = {high, low};
}

void ProductExpander::expand(DotOp dot) {
  Halves a = divide(dot.getA()), b = divide(dot.getB());
  builder.setInsertionPoint(dot);
  Value sum = dot.getAcc();
  for (auto [left, right] : {std::pair(a.low, b.high), std::pair(a.high, b.low),
                             std::pair(a.high, b.high)})
    sum = DotOp::create(builder, dot.getLoc(), dot.getTile(), left, right, sum,
                        dot.getInstructionAttr(), dot.getWarpsAttr(),
                        ProductPrecisionAttr());
  dot.getResult().replaceAllUsesWith(sum);
  dot.erase();
}

namespace {
struct ExpandProducts : tile::impl::TileExpandProductsBase<ExpandProducts> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    const Chip *chip = getTargetChip(kernel);
    if (!chip)
      return signalPassFailure();
    SmallVector<DotOp> dots;
    kernel.walk([&](DotOp dot) {
      if (dot.getPrecision() && !dot.getAsync() && lacksInstruction(dot, *chip))
        dots.push_back(dot);
    });
    ProductExpander expander(&getContext());
    for (DotOp dot : dots)
      expander.expand(dot);
  }
};
} // namespace
