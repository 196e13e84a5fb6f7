//===- DecomposeReductions.cpp - Reductions over several warps ------------===//

#include "WarpExchange.h"
#include "mlir/IR/Remarks.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILEDECOMPOSEREDUCTIONS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Emits the remark that `op`, a `name`, exchanges elements of `warps` warps.
static void reportExchange(Operation *op, StringRef name, int64_t warps,
                           int64_t dim) {
  remark::missed(op->getLoc(), remark::RemarkOpts::name(
                                   (name + "-through-shared-memory").str())
                                   .category("tile-decompose-reductions"))
      << remark::reason("{0} through shared memory: {1} warps share the "
                        "elements along dimension {2}",
                        name, warps, dim);
}

static void decompose(ReduceOp reduce) {
  auto source = cast<RankedTensorType>(reduce.getSource().getType());
  int64_t dim = reduce.getDim(), warps = countWarps(source, dim);
  if (warps == 1)
    return;
  reportExchange(reduce, "reduction", warps, dim);
  OpBuilder builder(reduce);
  Location loc = reduce.getLoc();
  Value partial = ReduceInWarpsOp::create(builder, loc, reduce.getKind(),
                                          reduce.getSource(), dim);
  Value all =
      ConvertLayoutOp::create(builder, loc, getExchangedType(reduce), partial);
  reduce.getSourceMutable().assign(all);
}

static void decompose(ScanOp scan) {
  auto tile = cast<RankedTensorType>(scan.getType());
  int64_t dim = scan.getDim(), warps = countWarps(tile, dim);
  if (warps == 1)
    return;
  reportExchange(scan, "scan", warps, dim);
  IRRewriter rewriter(scan);
  Location loc = scan.getLoc();
  Layout layout = getCanonicalLayout(tile);
  Layout totals = layout.reduceRuns(dim, layout.runInWarps(dim));
  auto partial = ScanInWarpsOp::create(
      rewriter, loc, tile, withLayout(tile, totals), scan.getKind(),
      scan.getSource(), dim, scan.getReverse());
  Value all = ConvertLayoutOp::create(rewriter, loc,
                                      withLayout(tile, layout.allRuns(dim)),
                                      partial.getTotals());
  rewriter.replaceOpWithNewOp<JoinScansOp>(scan, tile, scan.getKind(),
                                           partial.getResult(), all, dim,
                                           scan.getReverse());
}

/// Copies the region of a scan.
static void cloneBody(RewriterBase &rewriter, Region &from, Region &to) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.cloneRegionBefore(from, to, to.end());
}

static void decompose(AssociativeScanOp scan) {
  auto tile = cast<RankedTensorType>(scan.getSources().front().getType());
  int64_t dim = scan.getDim(), warps = countWarps(tile, dim);
  if (warps == 1)
    return;
  reportExchange(scan, "scan", warps, dim);
  IRRewriter rewriter(scan);
  Location loc = scan.getLoc();
  Layout layout = getCanonicalLayout(tile);
  Layout totals = layout.reduceRuns(dim, layout.runInWarps(dim));
  SmallVector<Type> types(scan.getResultTypes()), totalTypes;
  for (Type type : types)
    totalTypes.push_back(withLayout(cast<RankedTensorType>(type), totals));
  auto partial = AssociativeScanInWarpsOp::create(rewriter, loc, types,
                                                  totalTypes, scan.getSources(),
                                                  dim, scan.getReverse());
  cloneBody(rewriter, scan.getBody(), partial.getBody());
  SmallVector<Value> all;
  for (auto [type, total] : llvm::zip_equal(types, partial.getTotals()))
    all.push_back(ConvertLayoutOp::create(
        rewriter, loc,
        withLayout(cast<RankedTensorType>(type), layout.allRuns(dim)), total));
  auto joined = JoinAssociativeScansOp::create(
      rewriter, loc, types, partial.getResults(), all, dim, scan.getReverse());
  cloneBody(rewriter, scan.getBody(), joined.getBody());
  rewriter.replaceOp(scan, joined);
}

namespace {
struct DecomposeReductions
    : tile::impl::TileDecomposeReductionsBase<DecomposeReductions> {
  using TileDecomposeReductionsBase::TileDecomposeReductionsBase;

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (auto reduce = dyn_cast<ReduceOp>(op))
        decompose(reduce);
      else if (auto scan = dyn_cast<ScanOp>(op))
        decompose(scan);
      else if (auto scan = dyn_cast<AssociativeScanOp>(op))
        decompose(scan);
    });
  }
};
} // namespace
