//===- StripAssertions.cpp - Removes assertions ---------------------------===//

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILESTRIPASSERTIONS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {
struct StripAssertions : tile::impl::TileStripAssertionsBase<StripAssertions> {
  void runOnOperation() override;
};
} // namespace

void StripAssertions::runOnOperation() {
  bool changed = false;
  getOperation().walk([&](AssertOp op) {
    op.erase();
    changed = true;
  });
  if (!changed)
    return markAllAnalysesPreserved();
  IRRewriter rewriter(&getContext());
  (void)runRegionDCE(rewriter, getOperation()->getRegions());
}
