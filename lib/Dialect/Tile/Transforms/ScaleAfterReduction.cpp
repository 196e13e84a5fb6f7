//===- ScaleAfterReduction.cpp - Scales of maxima -------------------------===//
//
// Rounding is monotonic, so the maximum of products with one positive scale is
// the product of the maximum. The sign of a scale is usually known at run time
// only.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILESCALEAFTERREDUCTION
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {
/// A tile in f32 that is multiplied by a scalar and reduced, and whose product
/// is otherwise only an operand of additions.
struct ScaledReduction {
  Operation *reduce;
  arith::MulFOp product;
  /// The factors of the product.
  Value tile, splat;
  SmallVector<Operation *> additions;
};

struct ScaleAfterReduction
    : tile::impl::TileScaleAfterReductionBase<ScaleAfterReduction> {
  using TileScaleAfterReductionBase::TileScaleAfterReductionBase;
  void runOnOperation() override;
};
} // namespace

static std::optional<arith::AtomicRMWKind> getKind(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKind();
  if (auto reduce = dyn_cast<ReduceInWarpsOp>(op))
    return reduce.getKind();
  if (auto reduce = dyn_cast<ReduceInThreadsOp>(op))
    return reduce.getKind();
  return std::nullopt;
}

/// Returns the operands of a scaled reduction; std::nullopt if `op` is none.
static std::optional<ScaledReduction> match(Operation *op) {
  std::optional<arith::AtomicRMWKind> kind = getKind(op);
  if (kind != arith::AtomicRMWKind::maxnumf &&
      kind != arith::AtomicRMWKind::minnumf)
    return std::nullopt;
  ScaledReduction result;
  result.reduce = op;
  result.product = op->getOperand(0).getDefiningOp<arith::MulFOp>();
  if (!result.product ||
      !getElementTypeOrSelf(result.product.getType()).isF32())
    return std::nullopt;
  for (Operation *user : result.product->getUsers()) {
    if (user == op)
      continue;
    auto difference = dyn_cast<arith::SubFOp>(user);
    bool isOnce = user->getOperand(0) != user->getOperand(1);
    if (!(isa<arith::AddFOp>(user) && isOnce) &&
        !(difference && difference.getRhs() != result.product.getResult()))
      return std::nullopt;
    result.additions.push_back(user);
  }
  Value factors[] = {result.product.getLhs(), result.product.getRhs()};
  for (unsigned i : {0, 1})
    if (SplatElementsAttr elements;
        factors[i].getDefiningOp<tensor::SplatOp>() ||
        matchPattern(factors[i], m_Constant(&elements))) {
      result.splat = factors[i];
      result.tile = factors[1 - i];
      return result;
    }
  return std::nullopt;
}

/// Replaces additions to the product by FMAs, so that no single product is
/// needed where the scale is positive.
static void fuse(ScaledReduction scaled, IRRewriter &rewriter) {
  for (Operation *addition : scaled.additions) {
    rewriter.setInsertionPoint(addition);
    Location loc = addition->getLoc();
    bool isSecond = addition->getOperand(1) == scaled.product.getResult();
    Value other = addition->getOperand(isSecond ? 0 : 1);
    if (isa<arith::SubFOp>(addition))
      other = arith::NegFOp::create(rewriter, loc, other);
    rewriter.replaceOpWithNewOp<math::FmaOp>(addition, scaled.tile,
                                             scaled.splat, other);
  }
}

/// Returns the scalar of a splat that `match` has found.
static Value getScale(Value splat, ImplicitLocOpBuilder &b) {
  if (auto op = splat.getDefiningOp<tensor::SplatOp>())
    return op.getInput();
  SplatElementsAttr elements;
  matchPattern(splat, m_Constant(&elements));
  return arith::ConstantOp::create(
      b, b.getF32FloatAttr(elements.getSplatValue<float>()));
}

/// Reduces before the multiplication if the scale is positive and finite.
static void rewrite(ScaledReduction scaled, IRRewriter &rewriter) {
  fuse(scaled, rewriter);
  Operation *reduce = scaled.reduce;
  rewriter.setInsertionPoint(reduce);
  ImplicitLocOpBuilder b(reduce->getLoc(), rewriter);
  Value scale = getScale(scaled.splat, b);
  auto compare = [&](arith::CmpFPredicate predicate, float bound) -> Value {
    return arith::CmpFOp::create(
        b, predicate, scale,
        arith::ConstantOp::create(b, b.getF32FloatAttr(bound)));
  };
  Value isPositive =
      arith::AndIOp::create(b, compare(arith::CmpFPredicate::OGT, 0),
                            compare(arith::CmpFPredicate::OLT,
                                    std::numeric_limits<float>::infinity()));
  auto type = cast<RankedTensorType>(reduce->getResult(0).getType());
  auto choice = scf::IfOp::create(b, TypeRange(type), isPositive,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  b.setInsertionPointToStart(choice.thenBlock());
  Operation *first = b.clone(*reduce);
  first->setOperand(0, scaled.tile);
  Value splat = tensor::SplatOp::create(b, type, scale);
  Value last = arith::MulFOp::create(b, first->getResult(0), splat);
  scf::YieldOp::create(b, last);
  rewriter.replaceAllUsesWith(reduce->getResult(0), choice.getResult(0));
  b.setInsertionPointToStart(choice.elseBlock());
  auto yield = scf::YieldOp::create(b, reduce->getResult(0));
  rewriter.moveOpBefore(reduce, yield);
  rewriter.moveOpBefore(scaled.product, reduce);
}

void ScaleAfterReduction::runOnOperation() {
  SmallVector<Operation *> reductions;
  getOperation().walk([&](Operation *op) {
    if (match(op))
      reductions.push_back(op);
  });
  IRRewriter rewriter(&getContext());
  for (Operation *reduce : reductions)
    if (std::optional<ScaledReduction> scaled = match(reduce))
      rewrite(*scaled, rewriter);
}
