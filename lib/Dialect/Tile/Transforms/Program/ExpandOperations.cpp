//===- ExpandOperations.cpp - Operations that others express --------------===//

#include "TriangularInverse.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "tile/Analysis/AccessWidth.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILEEXPANDOPERATIONS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

static Value emitAnd(OpBuilder &b, Location loc, Value left, Value right) {
  return left ? Value(arith::AndIOp::create(b, loc, left, right)) : right;
}

/// Emits whether each element along `dim` of the tile of `load` is within the
/// extent of the buffer, joined with `mask`, which may be null. The manifest
/// limits extents to below 2^31.
static Value emitBounds(ImplicitLocOpBuilder &b, MaskedLoadOp load,
                        unsigned dim, Value mask) {
  Value index = load.getIndices()[dim];
  RankedTensorType coordinates =
      cast<RankedTensorType>(load.getType()).clone(b.getI32Type());
  Value coordinate = IotaOp::create(b, coordinates, dim);
  auto compare = [&](arith::CmpIPredicate predicate, Value bound) {
    bound = arith::IndexCastOp::create(b, b.getI32Type(), bound);
    bound = tensor::SplatOp::create(b, coordinates, bound);
    mask = emitAnd(b, b.getLoc(), mask,
                   arith::CmpIOp::create(b, predicate, coordinate, bound));
  };
  Value extent = DimOp::create(b, load.getBuffer(), dim);
  compare(arith::CmpIPredicate::slt, arith::SubIOp::create(b, extent, index));
  if (!isKnownNonNegative(index))
    compare(arith::CmpIPredicate::sge,
            arith::SubIOp::create(
                b, arith::ConstantIndexOp::create(b, b.getLoc(), 0), index));
  return mask;
}

static void expand(MaskedLoadOp load) {
  IRRewriter rewriter(load);
  ImplicitLocOpBuilder b(load.getLoc(), rewriter);
  auto tile = cast<RankedTensorType>(load.getType());
  Value result = LoadOp::create(b, tile, load.getBuffer(), load.getIndices());
  Value kept = load.getMask();
  if (load.getOther())
    for (auto [dim, index] : llvm::enumerate(load.getIndices()))
      if (!isInBounds(load.getBuffer().getType(), index, dim,
                      tile.getDimSize(dim)))
        kept = emitBounds(b, load, dim, kept);
  if (kept) {
    Value other =
        load.getOther()
            ? Value(tensor::SplatOp::create(b, tile, load.getOther()))
            : Value(arith::ConstantOp::create(b, b.getZeroAttr(tile)));
    result = arith::SelectOp::create(b, kept, result, other);
  }
  rewriter.replaceOp(load, result);
}

/// A reduction to one element is that of the only row of a tile.
static void expand(ReduceOp reduce) {
  auto source = cast<RankedTensorType>(reduce.getSource().getType());
  if (source.getRank() > 1)
    return;
  OpBuilder b(reduce);
  reduce.getSourceMutable().assign(BroadcastOp::create(
      b, reduce.getLoc(), source.clone({1, source.getDimSize(0)}),
      reduce.getSource(), /*dim=*/0));
  reduce.setDim(1);
}

/// Moves the operations of `from` to the end of `to`, an empty region of one
/// block, or one with a terminator that is replaced.
static void moveBody(RewriterBase &rewriter, Region &from, Region &to) {
  Block &block = to.front();
  if (!block.empty())
    rewriter.eraseOp(&block.back());
  rewriter.mergeBlocks(&from.front(), &block);
}

/// A choice among cases is a chain of scf.if: the first one compares with the
/// first case, and its else has the others.
static void expand(scf::IndexSwitchOp choice) {
  IRRewriter rewriter(choice);
  Location loc = choice.getLoc();
  if (choice.getCases().empty()) {
    Block &block = choice.getDefaultRegion().front();
    Operation *yield = block.getTerminator();
    rewriter.inlineBlockBefore(&block, choice);
    rewriter.replaceOp(choice, yield->getOperands());
    rewriter.eraseOp(yield);
    return;
  }
  scf::IfOp first;
  for (auto [value, region] :
       llvm::zip_equal(choice.getCases(), choice.getCaseRegions())) {
    Value constant = arith::ConstantIndexOp::create(rewriter, loc, value);
    Value isCase = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::eq, choice.getArg(), constant);
    auto branch = scf::IfOp::create(rewriter, loc, choice.getResultTypes(),
                                    isCase, /*withElseRegion=*/true);
    moveBody(rewriter, region, branch.getThenRegion());
    if (!first) {
      first = branch;
    } else {
      // The else of the case before yields what this one does.
      scf::YieldOp::create(rewriter, loc, branch.getResults());
    }
    Block &others = branch.getElseRegion().front();
    if (!others.empty())
      rewriter.eraseOp(&others.back());
    rewriter.setInsertionPointToEnd(&others);
  }
  rewriter.mergeBlocks(&choice.getDefaultRegion().front(),
                       rewriter.getInsertionBlock());
  rewriter.replaceOp(choice, first);
}

namespace {
struct ExpandOperations
    : tile::impl::TileExpandOperationsBase<ExpandOperations> {
  void runOnOperation() override {
    getOperation().walk([](MaskedLoadOp load) { expand(load); });
    getOperation().walk([](ReduceOp reduce) { expand(reduce); });
    getOperation().walk(expandTriangularInverse);
    getOperation().walk([](scf::IndexSwitchOp choice) { expand(choice); });
  }
};
} // namespace
