//===- DecomposeReductions.cpp - Reductions over several warps ------------===//

#include "mlir/IR/Remarks.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILEDECOMPOSEREDUCTIONS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Returns the number of warps that share the reduced dimension.
static int64_t countWarps(ReduceOp reduce) {
  auto source = cast<RankedTensorType>(reduce.getSource().getType());
  if (!getLayoutAttr(source))
    return 1;
  int64_t dim = reduce.getDim();
  return getCanonicalLayout(source).reduceInWarps(dim).shape()[dim];
}

static void decompose(ReduceOp reduce, int64_t warps) {
  OpBuilder builder(reduce);
  Location loc = reduce.getLoc();
  auto source = cast<RankedTensorType>(reduce.getSource().getType());
  auto result = cast<RankedTensorType>(reduce.getType());
  int64_t dim = reduce.getDim();
  remark::missed(loc,
                 remark::RemarkOpts::name("reduction-through-shared-memory")
                     .category("tile-decompose-reductions"))
      << remark::reason("reduction through shared memory: {0} warps share the "
                        "elements along dimension {1}",
                        warps, dim);
  auto typed = [&](const Layout &layout) {
    return RankedTensorType::get(
        layout.shape(), source.getElementType(),
        DistributedAttr::get(builder.getContext(), layout));
  };
  Value partial = ReduceInWarpsOp::create(
      builder, loc, typed(getCanonicalLayout(source).reduceInWarps(dim)),
      reduce.getKind(), reduce.getSource(), dim);
  Value all = ConvertLayoutOp::create(
      builder, loc, typed(getCanonicalLayout(result).insertDim(dim, warps)),
      partial);
  reduce.getSourceMutable().assign(all);
}

namespace {
struct DecomposeReductions
    : tile::impl::TileDecomposeReductionsBase<DecomposeReductions> {
  using TileDecomposeReductionsBase::TileDecomposeReductionsBase;

  void runOnOperation() override {
    getOperation().walk([](ReduceOp reduce) {
      if (int64_t warps = countWarps(reduce); warps > 1)
        decompose(reduce, warps);
    });
  }
};
} // namespace
