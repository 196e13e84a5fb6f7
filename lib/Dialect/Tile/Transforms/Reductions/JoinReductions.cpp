//===- JoinReductions.cpp - One exchange for two reductions ---------------===//
//
// Softmax reduces a row twice: to its maximum m, and to the sum of exp(x - m).
// Each warp can compute its part of the sum relative to its own maximum w:
// exp(x - m) = exp(x - w) * exp(w - m). So the warps exchange both numbers at
// once (Milakov and Gimelshein, "Online normalizer calculation for softmax",
// 2018).
//
//===----------------------------------------------------------------------===//

#include "WarpExchange.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/Softmax.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILEJOINREDUCTIONS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {
/// Emits the two reductions of a softmax with one exchange.
class Joiner {
public:
  Joiner(Softmax &softmax, IRRewriter &rewriter)
      : softmax(softmax), rewriter(rewriter),
        b(softmax.sum.getLoc(), rewriter) {}

  void run();

private:
  Value emitExponential(Value tile, Value reference);
  Value spread(Value number);
  Value spreadInWarps(Value number);
  RankedTensorType getSharedType() const;
  void replaceExponentials(Value terms);

  Softmax &softmax;
  IRRewriter &rewriter;
  ImplicitLocOpBuilder b;
  /// The type of the numbers of each warp, one for each row.
  RankedTensorType partial;
  /// For each warp, its maximum relative to that of the row, by exp.
  Value correction;
};
} // namespace

/// Emits the exponential of the differences between a tile and the numbers to
/// which it is relative.
Value Joiner::emitExponential(Value tile, Value reference) {
  Value value = arith::SubFOp::create(b, tile, reference);
  if (softmax.scale) {
    auto type = cast<ShapedType>(tile.getType());
    value = arith::MulFOp::create(
        b, value,
        arith::ConstantOp::create(
            b, DenseElementsAttr::get(type, *softmax.scale)));
  }
  if (auto op = dyn_cast<math::ExpOp>(softmax.exponential))
    return math::ExpOp::create(b, value, op.getFastmath());
  return math::Exp2Op::create(
      b, value, cast<math::Exp2Op>(softmax.exponential).getFastmath());
}

/// Repeats a number of each row, of which all threads have copies, for the
/// warps.
Value Joiner::spread(Value number) {
  return BroadcastOp::create(b, partial, number, softmax.getDim());
}

/// Repeats a number of each warp for its elements.
Value Joiner::spreadInWarps(Value number) {
  return BroadcastInWarpsOp::create(b, softmax.max.getSource().getType(),
                                    number, softmax.getDim());
}

/// Returns the type of a tile in shared memory with the numbers of all warps.
RankedTensorType Joiner::getSharedType() const {
  SmallVector<int64_t> order{softmax.getDim()};
  for (int64_t dim = partial.getRank(); dim-- > 0;)
    if (dim != softmax.getDim())
      order.push_back(dim);
  return withLayout(partial, PaddedAttr::get(partial.getContext(), 0, order));
}

/// Replaces the uses of the exponentials by those of `terms`, which are
/// relative to the maxima of warps. A product with a number of each row is one
/// with a number of each warp.
void Joiner::replaceExponentials(Value terms) {
  Value exponentials = softmax.exponential->getResult(0);
  Value all;
  for (OpOperand &use : llvm::make_early_inc_range(exponentials.getUses())) {
    Operation *user = use.getOwner();
    if (user == softmax.sum || user == softmax.weighted)
      continue;
    auto product = dyn_cast<arith::MulFOp>(user);
    auto number = product ? product->getOperand(1 - use.getOperandNumber())
                                .getDefiningOp<BroadcastOp>()
                          : BroadcastOp();
    if (number && number.getDim() == uint64_t(softmax.getDim())) {
      b.setInsertionPoint(product);
      Value factor =
          arith::MulFOp::create(b, correction, spread(number.getSource()));
      rewriter.replaceOp(
          product, arith::MulFOp::create(b, terms, spreadInWarps(factor)));
      continue;
    }
    if (!all) {
      b.setInsertionPoint(softmax.max);
      all = arith::MulFOp::create(b, terms, spreadInWarps(correction));
    }
    use.set(all);
  }
}

void Joiner::run() {
  ReduceOp max = softmax.max, sum = softmax.sum;
  int64_t dim = softmax.getDim();
  b.setInsertionPoint(max);
  Value tile = max.getSource();
  Value most = ReduceInWarpsOp::create(b, max.getKind(), tile, dim);
  partial = cast<RankedTensorType>(most.getType());
  RankedTensorType exchanged = getExchangedType(max);
  // Differences to an infinity would not be numbers where a warp has no element
  // but -inf, as those that a mask hides.
  auto limit = [&](Value number) -> Value {
    auto type = cast<ShapedType>(number.getType());
    auto lowest = APFloat::getLargest(APFloat::IEEEsingle(), /*Negative=*/true);
    Value bound =
        arith::ConstantOp::create(b, DenseElementsAttr::get(type, lowest));
    return arith::MaxNumFOp::create(b, number, bound);
  };
  Value reference = limit(most);
  Value terms = emitExponential(tile, spreadInWarps(reference));
  Value weighted = terms;
  if (softmax.weights)
    weighted = arith::MulFOp::create(b, terms, softmax.weights);
  Value part =
      ReduceInWarpsOp::create(b, arith::AtomicRMWKind::addf, weighted, dim);
  // Both are written before one barrier.
  RankedTensorType shared = getSharedType();
  Value mostShared = ConvertLayoutOp::create(b, shared, most);
  Value partShared = ConvertLayoutOp::create(b, shared, part);
  Value allMost = ConvertLayoutOp::create(b, exchanged, mostShared);
  Value allParts = ConvertLayoutOp::create(b, exchanged, partShared);
  Value rowMost =
      ReduceOp::create(b, max.getType(), max.getKind(), allMost, dim);
  Value corrections = emitExponential(
      limit(allMost), BroadcastOp::create(b, exchanged, rowMost, dim));
  Value rowSum =
      ReduceOp::create(b, sum.getType(), arith::AtomicRMWKind::addf,
                       arith::MulFOp::create(b, allParts, corrections), dim);
  correction = emitExponential(reference, spread(rowMost));
  replaceExponentials(terms);
  rewriter.replaceAllUsesWith(max.getResult(), rowMost);
  rewriter.replaceOp(sum, rowSum);
  for (Operation *op :
       {softmax.weighted.getOperation(), softmax.exponential,
        softmax.product.getOperation(), softmax.difference.getOperation()})
    if (op && op->use_empty())
      rewriter.eraseOp(op);
  rewriter.eraseOp(max);
}

namespace {
struct JoinReductions : tile::impl::TileJoinReductionsBase<JoinReductions> {
  using TileJoinReductionsBase::TileJoinReductionsBase;

  void runOnOperation() override {
    const Chip *chip = getTargetChip(getOperation());
    if (!chip)
      return signalPassFailure();
    SmallVector<ReduceOp> reductions;
    getOperation().walk([&](ReduceOp op) { reductions.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (ReduceOp reduce : reductions) {
      std::optional<Softmax> softmax = findSoftmax(reduce);
      RankedTensorType tile = reduce.getSource().getType();
      if (!softmax || countWarps(tile, softmax->getDim()) == 1 ||
          !paysToJoin(*chip, getOperation().getNumWarps(),
                      getCanonicalLayout(tile).axisSize(kRegister)))
        continue;
      remark::passed(reduce->getLoc(),
                     remark::RemarkOpts::name("reductions-joined")
                         .category("tile-join-reductions"))
          << remark::reason("warps exchange their maxima and their sums at "
                            "once");
      // Each reduction belongs to one softmax: its maximum is erased.
      Joiner(*softmax, rewriter).run();
    }
  }
};
} // namespace
