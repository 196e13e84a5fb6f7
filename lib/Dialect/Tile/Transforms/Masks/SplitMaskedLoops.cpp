//===- SplitMaskedLoops.cpp - Iterations without a mask -------------------===//
//
// A comparison of coordinates hides elements of a tile in some iterations of a
// loop only: those after the last key, or on the diagonal of a causal mask. Its
// operands are affine functions of the induction variable and of coordinates in
// the tile. So it holds for all elements of the tile in the iterations before
// some iteration, from some iteration on, or in all iterations or none. The
// loop is split there:
//
//   lower .. begin   with all comparisons
//   begin .. end     without any
//   end .. upper     with those that hold at the beginning only
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILESPLITMASKEDLOOPS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {
/// The elements of an integer tile: `base` plus a number of `least` to `most`.
/// In `base`, d0 is the induction variable and the symbols are values from
/// outside the loop.
struct Elements {
  AffineExpr base;
  int64_t least = 0, most = 0;
};

/// Splits one loop.
class LoopSplitter {
public:
  LoopSplitter(scf::ForOp loop, int64_t step)
      : loop(loop), step(step), builder(loop), loc(loop.getLoc()) {}

  /// Returns false, with an unchanged loop, if no comparison of the loop can be
  /// left out.
  bool run();

private:
  /// A signed comparison that holds for all elements where `margin` >= 0. One
  /// without signs is two of them.
  struct Comparison {
    Value mask;
    AffineExpr margin;
    /// The growth of `margin` from one iteration to the next; 0 if the
    /// comparison is the same in all iterations.
    int64_t growth;
    /// The comparisons that `mask` consists of.
    unsigned parts = 1;
  };

  std::optional<Elements> analyze(Value value);
  SmallVector<Comparison> analyze(arith::CmpIOp op);
  std::optional<Comparison> analyze(Value mask, Value small, Value large,
                                    bool isStrict);
  Value emit(AffineExpr expr, Value iv);
  Value emitFits();
  Value emitFirst(const Comparison &comparison);
  scf::ForOp emitLoop(Value lower, Value upper, ValueRange inits,
                      ArrayRef<Comparison> omitted);

  Value keepHere(Value bound);

  Value number(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  scf::ForOp loop;
  int64_t step;
  OpBuilder builder;
  Location loc;
  SmallVector<Value> symbols;
  /// Elements that must be representable in a type of some bits, since a
  /// comparison or an extension reads them. Additions may wrap around.
  SmallVector<std::pair<Elements, unsigned>> representable;
  Value lower, upper;
  /// The induction variable after the last iteration, or `lower`. It is a
  /// multiple of what divides `lower` and the step.
  Value after;
};
} // namespace

/// Returns the bits in which `type`, an integer, an index or a tile of these,
/// is computed.
static unsigned getBits(Type type) {
  return ConstantIntRanges::getStorageBitwidth(type);
}

std::optional<Elements> LoopSplitter::analyze(Value value) {
  MLIRContext *context = loop.getContext();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return Elements{getAffineConstantExpr(constant.getSExtValue(), context)};
  if (value == loop.getInductionVar())
    return Elements{getAffineDimExpr(0, context)};
  if (!isa<RankedTensorType>(value.getType()) &&
      loop.isDefinedOutsideOfLoop(value)) {
    auto *it = llvm::find(symbols, value);
    unsigned position = it - symbols.begin();
    if (it == symbols.end())
      symbols.push_back(value);
    return Elements{getAffineSymbolExpr(position, context)};
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto iota = dyn_cast<IotaOp>(op))
    return Elements{getAffineConstantExpr(0, context), 0,
                    iota.getType().getDimSize(iota.getDim()) - 1};
  if (isa<tensor::SplatOp, BroadcastOp, TransposeOp, arith::TruncIOp>(op))
    return analyze(op->getOperand(0));
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op)) {
    std::optional<Elements> source = analyze(op->getOperand(0));
    unsigned bits = getBits(op->getOperand(0).getType());
    if (source && bits < getBits(value.getType()))
      representable.push_back({*source, bits});
    return source;
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<Elements> a = analyze(op->getOperand(0));
  std::optional<Elements> b = a ? analyze(op->getOperand(1)) : std::nullopt;
  if (!b)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return Elements{a->base + b->base, a->least + b->least, a->most + b->most};
  if (isa<arith::SubIOp>(op))
    return Elements{a->base - b->base, a->least - b->most, a->most - b->least};
  auto factor = dyn_cast<AffineConstantExpr>(b->base);
  if (!factor || b->least != b->most)
    return std::nullopt;
  int64_t by = factor.getValue() + b->least;
  Elements product{a->base * by, a->least * by, a->most * by};
  if (by < 0)
    std::swap(product.least, product.most);
  return product;
}

/// Returns the signed comparisons that hold if `op` does, and of which all
/// together make it hold; none if one of them is no function of the iteration.
SmallVector<LoopSplitter::Comparison> LoopSplitter::analyze(arith::CmpIOp op) {
  using Predicate = arith::CmpIPredicate;
  Value small = op.getLhs(), large = op.getRhs();
  Predicate predicate = op.getPredicate();
  auto isOneOf = [&](auto... predicates) {
    return ((predicate == predicates) || ...);
  };
  if (isOneOf(Predicate::sgt, Predicate::sge, Predicate::ugt, Predicate::uge))
    std::swap(small, large);
  else if (!isOneOf(Predicate::slt, Predicate::sle, Predicate::ult,
                    Predicate::ule))
    return {};
  bool isStrict =
      isOneOf(Predicate::slt, Predicate::sgt, Predicate::ult, Predicate::ugt);
  bool isUnsigned =
      isOneOf(Predicate::ult, Predicate::ule, Predicate::ugt, Predicate::uge);
  size_t known = representable.size();
  SmallVector<Comparison> found;
  std::optional<Comparison> above = analyze(op, small, large, isStrict);
  if (above)
    found.push_back(*above);
  // x < y without signs if 0 <= x < y with signs.
  if (above && isUnsigned) {
    std::optional<Comparison> below = analyze(op, Value(), small, false);
    if (below)
      found.push_back(*below);
    else
      found.clear();
    for (Comparison &part : found)
      part.parts = 2;
  }
  if (found.empty())
    representable.truncate(known);
  return found;
}

/// Analyzes small <= large, or small < large if `isStrict`. A null `small`
/// stands for 0.
std::optional<LoopSplitter::Comparison>
LoopSplitter::analyze(Value mask, Value small, Value large, bool isStrict) {
  size_t known = representable.size();
  std::optional<Elements> a =
      small ? analyze(small)
            : Elements{getAffineConstantExpr(0, loop.getContext())};
  std::optional<Elements> b = a ? analyze(large) : std::nullopt;
  if (!b) {
    representable.truncate(known);
    return std::nullopt;
  }
  MLIRContext *context = loop.getContext();
  AffineExpr margin = simplifyAffineExpr(
      b->base - a->base + (b->least - a->most - isStrict), 1, symbols.size());
  AffineExpr iv = getAffineDimExpr(0, context);
  auto growth = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(
      margin.replace(iv, iv + step) - margin, 1, symbols.size()));
  // A comparison with a constant margin is the same in every launch: nothing is
  // left to decide at run time.
  if (!growth || isa<AffineConstantExpr>(margin)) {
    representable.truncate(known);
    return std::nullopt;
  }
  unsigned bits = getBits(large.getType());
  representable.push_back({*a, bits});
  representable.push_back({*b, bits});
  return Comparison{mask, margin, growth.getValue()};
}

Value LoopSplitter::emit(AffineExpr expr, Value iv) {
  SmallVector<Value> operands;
  for (Value symbol : symbols)
    operands.push_back(builder.createOrFold<arith::IndexCastOp>(
        loc, builder.getIndexType(), symbol));
  return affine::expandAffineExpr(builder, loc, expr, {iv}, operands);
}

/// Emits whether no value of the comparisons wraps around in its type. The
/// values are affine, so both ends of the loop tell.
Value LoopSplitter::emitFits() {
  Value fits = arith::ConstantIntOp::create(builder, loc, 1, 1);
  for (const auto &[elements, bits] : representable) {
    if (bits >= 64)
      continue;
    int64_t most = llvm::maxIntN(bits) - elements.most;
    int64_t least = llvm::minIntN(bits) - elements.least;
    for (Value iv : {lower, upper}) {
      Value base = emit(elements.base, iv);
      for (auto [predicate, bound] :
           {std::pair(arith::CmpIPredicate::sle, most),
            std::pair(arith::CmpIPredicate::sge, least)})
        fits =
            arith::AndIOp::create(builder, loc, fits,
                                  arith::CmpIOp::create(builder, loc, predicate,
                                                        base, number(bound)));
    }
  }
  return fits;
}

/// Emits the first iteration in which the comparison holds, if `margin` does
/// not shrink, or else the first one in which it does not.
Value LoopSplitter::emitFirst(const Comparison &comparison) {
  bool isGrowing = comparison.growth > 0;
  int64_t growth = std::abs(comparison.growth);
  Value margin = emit(comparison.margin, lower);
  if (growth == 0)
    return arith::SelectOp::create(
        builder, loc,
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, margin,
                              number(0)),
        lower, after);
  // Iterations until the margin is not negative, or until it is.
  Value distance = margin;
  if (isGrowing)
    distance = arith::SubIOp::create(builder, loc, number(0), margin);
  distance = arith::AddIOp::create(builder, loc, distance,
                                   number(isGrowing ? growth - 1 : growth));
  Value count = arith::DivUIOp::create(builder, loc, distance, number(growth));
  Value change = arith::AddIOp::create(
      builder, loc, lower,
      arith::MulIOp::create(builder, loc, count, number(step)));
  // There is no change if the first iteration is one of those that are wanted.
  Value isAtOnce = arith::CmpIOp::create(builder, loc,
                                         isGrowing ? arith::CmpIPredicate::sge
                                                   : arith::CmpIPredicate::slt,
                                         margin, number(0));
  Value first = arith::SelectOp::create(builder, loc, isAtOnce, lower, change);
  return arith::MinSIOp::create(builder, loc, first, after);
}

/// Returns a bound that is computed here, in 32 bits. Otherwise LLVM computes
/// it after the loops before, and its operands take registers in these.
Value LoopSplitter::keepHere(Value bound) {
  if (matchPattern(bound, m_Constant()))
    return bound;
  Value narrow = builder.createOrFold<arith::IndexCastOp>(
      loc, builder.getI32Type(), bound);
  return arith::IndexCastOp::create(builder, loc, bound.getType(),
                                    RecomputeOp::create(builder, loc, narrow));
}

/// Emits the iterations from `begin` to `end`, in which the comparisons
/// `omitted` hold.
scf::ForOp LoopSplitter::emitLoop(Value begin, Value end, ValueRange inits,
                                  ArrayRef<Comparison> omitted) {
  Type type = loop.getInductionVar().getType();
  begin = builder.createOrFold<arith::IndexCastOp>(loc, type, begin);
  end = builder.createOrFold<arith::IndexCastOp>(loc, type, end);
  IRMapping mapping;
  auto part = cast<scf::ForOp>(builder.clone(*loop, mapping));
  part.setLowerBound(begin);
  part.setUpperBound(end);
  part.getInitArgsMutable().assign(inits);
  Schedule schedule = getSchedule(part);
  schedule.keepLoops = true;
  setSchedule(part, schedule);
  OpBuilder::InsertionGuard guard(builder);
  for (const Comparison &comparison : omitted) {
    if (llvm::count_if(omitted, [&](const Comparison &other) {
          return other.mask == comparison.mask;
        }) != comparison.parts)
      continue;
    Value mask = mapping.lookup(comparison.mask);
    builder.setInsertionPointAfterValue(mask);
    mask.replaceAllUsesWith(arith::ConstantOp::create(
        builder, loc,
        SplatElementsAttr::get(cast<ShapedType>(mask.getType()), true)));
  }
  return part;
}

bool LoopSplitter::run() {
  bool hasProduct = false;
  SmallVector<Comparison> growing, shrinking;
  loop.getBody()->walk([&](Operation *op) {
    if (op->getParentOfType<scf::ForOp>() != loop)
      return;
    hasProduct |= isa<DotOp>(op);
    auto compare = dyn_cast<arith::CmpIOp>(op);
    auto tile = compare ? dyn_cast<RankedTensorType>(compare.getType())
                        : RankedTensorType();
    if (!tile || tile.getRank() < 2)
      return;
    for (const Comparison &found : analyze(compare))
      (found.growth >= 0 ? growing : shrinking).push_back(found);
  });
  if (!hasProduct || (growing.empty() && shrinking.empty()))
    return false;

  Type index = builder.getIndexType();
  lower = builder.createOrFold<arith::IndexCastOp>(loc, index,
                                                   loop.getLowerBound());
  upper = builder.createOrFold<arith::IndexCastOp>(loc, index,
                                                   loop.getUpperBound());
  Value distance = arith::MaxSIOp::create(
      builder, loc, arith::SubIOp::create(builder, loc, upper, lower),
      number(0));
  Value count = arith::DivUIOp::create(
      builder, loc,
      arith::AddIOp::create(builder, loc, distance, number(step - 1)),
      number(step));
  after = arith::AddIOp::create(
      builder, loc, lower,
      arith::MulIOp::create(builder, loc, count, number(step)));
  Value begin = lower, end = shrinking.empty() ? upper : after;
  for (const Comparison &comparison : growing)
    begin = arith::MaxSIOp::create(builder, loc, begin, emitFirst(comparison));
  for (const Comparison &comparison : shrinking)
    end = arith::MinSIOp::create(builder, loc, end, emitFirst(comparison));
  Value fits = emitFits();
  if (growing.empty())
    end = arith::SelectOp::create(builder, loc, fits, end, lower);
  else
    begin = arith::SelectOp::create(builder, loc, fits, begin, after);
  if (!shrinking.empty())
    end = arith::MaxSIOp::create(builder, loc, begin, end);
  bool isNarrow = loop.getInductionVar().getType().isInteger(32);
  auto keep = [&](Value bound) { return isNarrow ? keepHere(bound) : bound; };
  // `begin` and `end` are whole steps from `lower`, perhaps behind `upper`. TMA
  // copies numbers of the rows of a part of a buffer only if they are known to
  // lie within it, so loops with such loads end at `upper` at most.
  bool loadsNumbers =
      llvm::any_of(loop.getBody()->getOps<LoadOp>(),
                   [](LoadOp load) { return load.getType().getRank() == 1; });
  auto limit = [&](Value bound) {
    return loadsNumbers
               ? builder.createOrFold<arith::MinSIOp>(loc, bound, upper)
               : bound;
  };
  Value beginOrUpper;
  if (!growing.empty()) {
    beginOrUpper = keep(limit(begin));
    begin = loadsNumbers ? keep(begin) : beginOrUpper;
  }
  if (!shrinking.empty())
    end = keep(end);

  ValueRange values = loop.getInitArgs();
  if (!growing.empty())
    values = emitLoop(lower, beginOrUpper, values, {}).getResults();
  SmallVector<Comparison> all(growing);
  llvm::append_range(all, shrinking);
  values = emitLoop(begin, shrinking.empty() ? upper : limit(end), values, all)
               .getResults();
  if (!shrinking.empty())
    values = emitLoop(end, upper, values, growing).getResults();
  remark::passed(loc, remark::RemarkOpts::name("loop-split")
                          .category("tile-split-masked-loops"))
      << remark::reason("{0} {1} for the whole tile in some iterations: {2} "
                        "loops",
                        all.size(),
                        all.size() == 1 ? "comparison holds"
                                        : "comparisons hold",
                        1 + !growing.empty() + !shrinking.empty());
  loop.replaceAllUsesWith(values);
  loop.erase();
  return true;
}

namespace {
struct SplitMaskedLoops
    : tile::impl::TileSplitMaskedLoopsBase<SplitMaskedLoops> {
  using TileSplitMaskedLoopsBase::TileSplitMaskedLoopsBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (getSchedule(kernel).keepsLoops())
      return;
    SmallVector<std::pair<scf::ForOp, int64_t>> loops;
    kernel.walk([&](scf::ForOp loop) {
      std::optional<APInt> step = loop.getConstantStep();
      if (step && step->isStrictlyPositive() && !loop.getUnsignedCmp() &&
          !getSchedule(loop).keepsLoops())
        loops.push_back({loop, step->getSExtValue()});
    });
    bool hasSplit = false;
    for (auto [loop, step] : loops)
      hasSplit |= LoopSplitter(loop, step).run();
    // Omitted comparisons fold, and with them the selections that read them.
    RewritePatternSet patterns(&getContext());
    if (hasSplit && failed(applyPatternsGreedily(kernel, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
