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
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

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
  /// The product, or a selection of its elements and of numbers that no
  /// positive, finite scale changes.
  Value source;
  SmallVector<Operation *> additions;

  arith::SelectOp getMask() const {
    return source.getDefiningOp<arith::SelectOp>();
  }
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

/// Returns true if a product with a positive, finite number is the number that
/// all elements of `value` have.
static bool isUnscaled(Value value) {
  SplatElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)))
    return false;
  auto number = elements.getSplatValue<APFloat>();
  return number.isInfinity() || number.isZero();
}

/// Returns the product that `source` is, or whose elements it selects.
static arith::MulFOp getProduct(Value source) {
  auto mask = source.getDefiningOp<arith::SelectOp>();
  if (!mask)
    return source.getDefiningOp<arith::MulFOp>();
  bool isFirst = isUnscaled(mask.getFalseValue());
  Value product = isFirst ? mask.getTrueValue() : mask.getFalseValue();
  if ((!isFirst && !isUnscaled(mask.getTrueValue())) || !product.hasOneUse())
    return {};
  return product.getDefiningOp<arith::MulFOp>();
}

/// Returns the operands of a scaled reduction; std::nullopt if `op` is none.
static std::optional<ScaledReduction> match(Operation *op) {
  std::optional<arith::AtomicRMWKind> kind = getKind(op);
  if (kind != arith::AtomicRMWKind::maxnumf &&
      kind != arith::AtomicRMWKind::minnumf)
    return std::nullopt;
  ScaledReduction result;
  result.reduce = op;
  result.source = op->getOperand(0);
  result.product = getProduct(result.source);
  if (!result.product ||
      !getElementTypeOrSelf(result.product.getType()).isF32())
    return std::nullopt;
  for (Operation *user : result.source.getUsers()) {
    if (user == op)
      continue;
    auto difference = dyn_cast<arith::SubFOp>(user);
    bool isOnce = user->getOperand(0) != user->getOperand(1);
    if (!(isa<arith::AddFOp>(user) && isOnce) &&
        !(difference && difference.getRhs() != result.source))
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

/// Replaces additions to the product by FMAs of `tile`, so that no single
/// product is needed where the scale is positive.
static void fuse(const ScaledReduction &scaled, Value tile,
                 IRRewriter &rewriter) {
  for (Operation *addition : scaled.additions) {
    rewriter.setInsertionPoint(addition);
    Location loc = addition->getLoc();
    bool isSecond = addition->getOperand(1) == scaled.source;
    Value other = addition->getOperand(isSecond ? 0 : 1);
    if (isa<arith::SubFOp>(addition))
      other = arith::NegFOp::create(rewriter, loc, other);
    rewriter.replaceOpWithNewOp<math::FmaOp>(addition, tile, scaled.splat,
                                             other);
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

/// Returns whether a scale is positive and finite.
static Value isPositive(Value scale, ImplicitLocOpBuilder &b) {
  auto compare = [&](arith::CmpFPredicate predicate, float bound) -> Value {
    return arith::CmpFOp::create(
        b, predicate, scale,
        arith::ConstantOp::create(b, b.getF32FloatAttr(bound)));
  };
  return arith::AndIOp::create(b, compare(arith::CmpFPredicate::OGT, 0),
                               compare(arith::CmpFPredicate::OLT,
                                       std::numeric_limits<float>::infinity()));
}

/// Multiplies the result of a reduction by the scale.
static Value multiply(Value result, Value scale, ImplicitLocOpBuilder &b) {
  Value splat = tensor::SplatOp::create(b, result.getType(), scale);
  return arith::MulFOp::create(b, result, splat);
}

/// Reduces before the multiplication if the scale is positive and finite.
static void rewrite(const ScaledReduction &scaled, IRRewriter &rewriter) {
  fuse(scaled, scaled.tile, rewriter);
  Operation *reduce = scaled.reduce;
  rewriter.setInsertionPoint(reduce);
  ImplicitLocOpBuilder b(reduce->getLoc(), rewriter);
  Value scale = getScale(scaled.splat, b);
  auto choice =
      scf::IfOp::create(b, reduce->getResultTypes(), isPositive(scale, b),
                        /*addThenBlock=*/true, /*addElseBlock=*/true);
  b.setInsertionPointToStart(choice.thenBlock());
  Operation *first = b.clone(*reduce);
  first->setOperand(0, scaled.tile);
  scf::YieldOp::create(b, multiply(first->getResult(0), scale, b));
  rewriter.replaceAllUsesWith(reduce->getResult(0), choice.getResult(0));
  b.setInsertionPointToStart(choice.elseBlock());
  auto yield = scf::YieldOp::create(b, reduce->getResult(0));
  rewriter.moveOpBefore(reduce, yield);
  rewriter.moveOpBefore(scaled.product, reduce);
}

/// Reduces before the multiplication; the scale is positive and finite.
static void rewritePositive(const ScaledReduction &scaled,
                            IRRewriter &rewriter) {
  Value tile = scaled.tile;
  if (arith::SelectOp mask = scaled.getMask()) {
    rewriter.setInsertionPoint(mask);
    IRMapping mapping;
    mapping.map(scaled.product->getResult(0), tile);
    tile = rewriter.clone(*mask, mapping)->getResult(0);
  }
  fuse(scaled, tile, rewriter);
  Operation *reduce = scaled.reduce;
  reduce->setOperand(0, tile);
  rewriter.setInsertionPointAfter(reduce);
  ImplicitLocOpBuilder b(reduce->getLoc(), rewriter);
  Value result = reduce->getResult(0);
  Value most = multiply(result, getScale(scaled.splat, b), b);
  rewriter.replaceAllUsesExcept(result, most, most.getDefiningOp());
}

/// Calls `visit` with the scaled reductions in `root`. It may rewrite them: two
/// reductions may share an addition, which only one of them replaces.
static void
forEachScaled(Operation *root,
              llvm::function_ref<void(const ScaledReduction &)> visit) {
  SmallVector<Operation *> reductions;
  root->walk([&](Operation *op) {
    if (match(op))
      reductions.push_back(op);
  });
  for (Operation *op : reductions)
    if (std::optional<ScaledReduction> scaled = match(op))
      visit(*scaled);
}

/// Returns true if products of a loop are in flight beside other work.
static bool hasAsyncProducts(scf::ForOp loop) {
  return loop
      ->walk([](DotOp dot) {
        return dot.getAsync() ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Gives a loop a copy for positive, finite scales. Returns false, and changes
/// nothing, if a scale is computed in the loop or is another constant, or if
/// the loop carries a product in flight: no branch may continue one.
static bool version(scf::ForOp loop, IRRewriter &rewriter) {
  if (llvm::any_of(loop.getResultTypes(), llvm::IsaPred<PendingType>))
    return false;
  llvm::SetVector<Value> scales;
  bool isKnown = true;
  forEachScaled(loop, [&](const ScaledReduction &scaled) {
    SplatElementsAttr elements;
    if (matchPattern(scaled.splat, m_Constant(&elements))) {
      auto scale = elements.getSplatValue<APFloat>();
      isKnown &= scale.isFiniteNonZero() && !scale.isNegative();
      return;
    }
    Value scale = scaled.splat.getDefiningOp<tensor::SplatOp>().getInput();
    isKnown &= loop.isDefinedOutsideOfLoop(scale);
    scales.insert(scale);
  });
  if (!isKnown)
    return false;
  scf::ForOp positive = loop;
  if (!scales.empty()) {
    rewriter.setInsertionPoint(loop);
    ImplicitLocOpBuilder b(loop.getLoc(), rewriter);
    Value condition;
    for (Value scale : scales) {
      Value each = isPositive(scale, b);
      condition =
          condition ? Value(arith::AndIOp::create(b, condition, each)) : each;
    }
    auto choice =
        scf::IfOp::create(b, loop.getResultTypes(), condition,
                          /*addThenBlock=*/true, /*addElseBlock=*/true);
    rewriter.replaceAllUsesWith(loop.getResults(), choice.getResults());
    auto end = [&](Block *block, scf::ForOp version) {
      b.setInsertionPointToEnd(block);
      scf::YieldOp::create(b, version.getResults());
    };
    b.setInsertionPointToStart(choice.thenBlock());
    positive = cast<scf::ForOp>(b.clone(*loop));
    end(choice.thenBlock(), positive);
    rewriter.moveOpBefore(loop, choice.elseBlock(), choice.elseBlock()->end());
    end(choice.elseBlock(), loop);
  }
  forEachScaled(positive, [&](const ScaledReduction &scaled) {
    rewritePositive(scaled, rewriter);
  });
  return true;
}

void ScaleAfterReduction::runOnOperation() {
  IRRewriter rewriter(&getContext());
  SmallVector<scf::ForOp> loops;
  getOperation()->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (!hasAsyncProducts(loop))
      return WalkResult::advance();
    loops.push_back(loop);
    return WalkResult::skip();
  });
  llvm::SmallPtrSet<Operation *, 4> done;
  for (scf::ForOp loop : loops)
    if (version(loop, rewriter))
      done.insert(loop);
  forEachScaled(getOperation(), [&](const ScaledReduction &scaled) {
    bool isDone = false;
    for (auto loop = scaled.reduce->getParentOfType<scf::ForOp>(); loop;
         loop = loop->getParentOfType<scf::ForOp>())
      isDone |= done.contains(loop);
    if (!isDone && !scaled.getMask())
      rewrite(scaled, rewriter);
  });
}
