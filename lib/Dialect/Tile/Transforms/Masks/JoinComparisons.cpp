//===- JoinComparisons.cpp - One comparison for each element of a mask ----===//
//
// A comparison in a mask often has a coordinate on one side, and numbers on the
// other that are the same along that coordinate. These are computed once for
// each index of the other dimension, and so is their minimum over several
// comparisons. What remains for each element is one comparison.
//
//===----------------------------------------------------------------------===//

#include "ProjectTile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include <set>

namespace tile {
#define GEN_PASS_DEF_TILEJOINCOMPARISONS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using Predicate = arith::CmpIPredicate;

namespace {
/// A part of a conjunction, negated if `isNegated`.
struct Leaf {
  Value value;
  bool isNegated;
};

/// A conjunction, or the complement of one.
struct Conjunction {
  SmallVector<Leaf> leaves;
  bool isComplement;
};

/// A comparison t + rest <= other, with >= in lower bounds, -t in falling ones,
/// and < or > in strict ones. t is a coordinate of the element, and nothing
/// else varies along it.
struct Bound {
  struct Part {
    Value value;
    TileDims dims;
    bool isSubtracted;
  };
  Leaf leaf;
  bool isLower, isFalling = false, isStrict;
  /// Whether the program says that t + rest does not wrap around (nsw).
  bool isMarkedExact = true;
  /// Whether `emit` puts `rest` between two numbers.
  bool isClamped = false;
  SmallVector<Part> rest;
  Value other;
  CoordinateSum restSum, otherSum;
  /// The tile with the coordinate.
  Value moving;

  /// Returns true if t has a lower bound.
  bool boundsBelow() const { return isLower != isFalling; }
  /// What is added to `rest` so that the comparison is not strict.
  int64_t getMargin() const { return !isStrict ? 0 : isLower ? -1 : 1; }
};

/// A number for all elements of a tile, or one for each index of a dimension.
using Number = Value;

/// What a mask becomes if one of the coordinates is compared.
struct Plan {
  unsigned along = 0;
  SmallVector<Bound> bounds;
  /// Leaves that are the same along the coordinate, and others.
  SmallVector<Leaf> constant, remaining;
  /// Operations of a thread.
  int64_t before = 0, after = 0;
};

/// Rewrites one mask.
class MaskJoiner {
public:
  MaskJoiner(Value mask, CoordinateSums &sums)
      : mask(mask), type(cast<RankedTensorType>(mask.getType())), sums(sums),
        projection(type), b(mask.getLoc(), mask.getContext()) {
    sums.setShape(type.getShape());
    b.setInsertionPointAfterValue(mask);
  }
  /// Returns the new mask; null if it would not be cheaper.
  Value run(const Conjunction &conjunction);

private:
  Plan makePlan(const Conjunction &conjunction, unsigned along);
  std::optional<Bound> analyze(Leaf leaf, unsigned along);
  bool addSide(Value value, const TileDims &dims, bool isSubtracted,
               unsigned along, int64_t &factor, Bound &bound);
  bool isDifferenceExact(const Bound &bound);
  std::optional<SignedRange> findClamp(const Bound &bound, unsigned along);
  bool isExact(const Bound &bound, unsigned along, ArrayRef<Bound> known);
  std::optional<unsigned> getDim(const Bound &bound, unsigned along);
  int64_t countElements(unsigned dims);

  Number emit(const Bound &bound, unsigned along);
  Number emitRest(const Bound &bound, unsigned along);
  void align(Number &x, Number &y);
  template <typename OpT> Number combine(Number x, Number y);
  Number number(Type type, int64_t value) {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  }

  Value mask;
  RankedTensorType type;
  CoordinateSums &sums;
  TileProjection projection;
  ImplicitLocOpBuilder b;
};
} // namespace

static const TileDims kBoth = {0, 1};

static unsigned getBits(Value value) {
  return getElementTypeOrSelf(value).getIntOrFloatBitWidth();
}

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

/// Adds `value`, a part of one side of a comparison, to `bound`. `factor`
/// counts the coordinate. Returns false if something else varies along it.
bool MaskJoiner::addSide(Value value, const TileDims &dims, bool isSubtracted,
                         unsigned along, int64_t &factor, Bound &bound) {
  unsigned variance = projection.getVariance(value, dims);
  int64_t sign = isSubtracted ? -1 : 1;
  if (!(variance & (1u << along))) {
    std::optional<unsigned> dim;
    if (variance)
      dim = 1 - along;
    bound.rest.push_back({value, dims, isSubtracted});
    return projection.canProject(value, dims, dim) &&
           bound.restSum.add(sums.getModular(value, dims), sign);
  }
  Operation *op = value.getDefiningOp();
  if (isa_and_present<IotaOp>(op)) {
    factor += sign;
    return true;
  }
  if (auto convert = dyn_cast_if_present<ConvertLayoutOp>(op))
    return addSide(convert.getSource(), dims, isSubtracted, along, factor,
                   bound);
  if (auto broadcast = dyn_cast_if_present<BroadcastOp>(op)) {
    TileDims source = dims;
    source.erase(source.begin() + broadcast.getDim());
    return addSide(broadcast.getSource(), source, isSubtracted, along, factor,
                   bound);
  }
  auto flags =
      dyn_cast_if_present<arith::ArithIntegerOverflowFlagsInterface>(op);
  bound.isMarkedExact &= flags && flags.hasNoSignedWrap();
  return isa_and_present<arith::AddIOp, arith::SubIOp>(op) &&
         bound.rest.size() < 8 &&
         addSide(op->getOperand(0), dims, isSubtracted, along, factor, bound) &&
         addSide(op->getOperand(1), dims,
                 isSubtracted != isa<arith::SubIOp>(op), along, factor, bound);
}

/// Returns the signed predicate that is the same for the operands of `compare`;
/// std::nullopt if there is none.
static std::optional<Predicate> getSigned(arith::CmpIOp compare,
                                          CoordinateSums &sums) {
  Predicate predicate = compare.getPredicate();
  if (predicate == Predicate::slt || predicate == Predicate::sle ||
      predicate == Predicate::sgt || predicate == Predicate::sge)
    return predicate;
  for (Value operand : compare->getOperands()) {
    std::optional<SignedRange> range =
        sums.getRange(sums.getExact(operand, kBoth));
    if (!range || range->least < 0)
      return std::nullopt;
  }
  switch (predicate) {
  case Predicate::ult:
    return Predicate::slt;
  case Predicate::ule:
    return Predicate::sle;
  case Predicate::ugt:
    return Predicate::sgt;
  case Predicate::uge:
    return Predicate::sge;
  default:
    return std::nullopt;
  }
}

/// Returns the comparison as a bound of the coordinate; std::nullopt if it is
/// none.
std::optional<Bound> MaskJoiner::analyze(Leaf leaf, unsigned along) {
  auto compare = leaf.value.getDefiningOp<arith::CmpIOp>();
  if (!compare || !llvm::is_contained({32u, 64u}, getBits(compare.getLhs())))
    return std::nullopt;
  std::optional<Predicate> predicate = getSigned(compare, sums);
  if (!predicate)
    return std::nullopt;
  if (leaf.isNegated)
    predicate = arith::invertPredicate(*predicate);
  Bound bound;
  bound.leaf = leaf;
  bound.isLower = *predicate == Predicate::sgt || *predicate == Predicate::sge;
  bound.isStrict = *predicate == Predicate::slt || *predicate == Predicate::sgt;
  bound.moving = compare.getLhs();
  bound.other = compare.getRhs();
  auto varies = [&](Value value) {
    return (projection.getVariance(value, kBoth) & (1u << along)) != 0;
  };
  if (!varies(bound.moving)) {
    std::swap(bound.moving, bound.other);
    bound.isLower = !bound.isLower;
  }
  std::optional<unsigned> dim;
  if (projection.getVariance(bound.other, kBoth))
    dim = 1 - along;
  int64_t factor = 0;
  if (!varies(bound.moving) || varies(bound.other) ||
      !projection.canProject(bound.other, kBoth, dim) ||
      !addSide(bound.moving, kBoth, /*isSubtracted=*/false, along, factor,
               bound) ||
      (factor != 1 && factor != -1))
    return std::nullopt;
  bound.isFalling = factor < 0;
  bound.otherSum = sums.getExact(bound.other, kBoth);
  return bound;
}

/// Returns true if `bound.other` minus `rest` (falling: `rest` minus
/// `bound.other`) fits the type.
bool MaskJoiner::isDifferenceExact(const Bound &bound) {
  CoordinateSum difference = bound.otherSum;
  return difference.add(bound.restSum, -1) &&
         difference.add({bound.getMargin(), {0, 0}, {}}, -1) &&
         fits(sums.getRange(difference),
              getBits(bound.other) - bound.isFalling);
}

/// Returns numbers between which `rest` may be put without a change of the
/// result: below the first one the coordinate does not reach `bound.other`, and
/// from the second one on all coordinates are beyond it. Returns std::nullopt
/// if the sum may wrap around, or what `emit` computes of the numbers.
std::optional<SignedRange> MaskJoiner::findClamp(const Bound &bound,
                                                 unsigned along) {
  if (!bound.isMarkedExact || bound.isFalling || bound.rest.size() != 1 ||
      bound.rest.front().isSubtracted)
    return std::nullopt;
  std::optional<SignedRange> other = sums.getRange(bound.otherSum);
  unsigned bits = getBits(bound.other);
  if (!fits(other, bits - 1))
    return std::nullopt;
  SignedRange clamp{other->least - type.getDimSize(along), other->most + 1};
  if (!fits(SignedRange{clamp.least - 1, clamp.most + 1}, bits - 1))
    return std::nullopt;
  return clamp;
}

/// Returns true if neither the sum of `bound` nor what `emit` computes of it
/// wraps around for the coordinates that the bounds `known` leave.
bool MaskJoiner::isExact(const Bound &bound, unsigned along,
                         ArrayRef<Bound> known) {
  unsigned bits = getBits(bound.other);
  std::optional<SignedRange> rest = sums.getRange(bound.restSum);
  if (!fits(rest, bits))
    return false;
  rest->least += bound.getMargin();
  rest->most += bound.getMargin();
  if (!fits(rest, bits))
    return false;
  // `emit` saturates a difference on the side that the sign of `rest` tells.
  bool hasSign = rest->least >= 0 || rest->most < 0;
  if (!hasSign && !isDifferenceExact(bound))
    return false;
  // The sum is monotonic in the coordinate, which starts at 0.
  int64_t sign = bound.isFalling ? -1 : 1;
  auto reaches = [&](const CoordinateSum &coordinate, int64_t factor) {
    CoordinateSum last = bound.restSum;
    if (!last.add(coordinate, sign * factor))
      return false;
    std::optional<SignedRange> range = sums.getRange(last);
    return range && (bound.isFalling ? range->least >= llvm::minIntN(bits)
                                     : range->most <= llvm::maxIntN(bits));
  };
  if (reaches({type.getDimSize(along) - 1, {0, 0}, {}}, 1))
    return true;
  return llvm::any_of(known, [&](const Bound &upper) {
    // t <= other - rest, or t <= rest - other if it falls.
    CoordinateSum most = upper.otherSum;
    return !upper.boundsBelow() && most.add(upper.restSum, -1) &&
           most.add({upper.getMargin(), {0, 0}, {}}, -1) &&
           reaches(most, upper.isFalling ? -1 : 1);
  });
}

/// Returns the dimension along which the number of `bound` varies.
std::optional<unsigned> MaskJoiner::getDim(const Bound &bound, unsigned along) {
  unsigned variance = projection.getVariance(bound.other, kBoth);
  for (const Bound::Part &part : bound.rest)
    variance |= projection.getVariance(part.value, part.dims);
  return variance ? std::optional(1 - along) : std::nullopt;
}

/// Returns how many elements a thread has that differ along `dims`, one bit for
/// each dimension.
int64_t MaskJoiner::countElements(unsigned dims) {
  Layout layout = getCanonicalLayout(type);
  std::set<std::pair<int64_t, int64_t>> elements;
  for (int64_t r = 0; r < layout.axisSize(kRegister); ++r) {
    auto coordinates = layout.element(r, 0, 0);
    elements.insert(
        {dims & 1 ? coordinates[0] : 0, dims & 2 ? coordinates[1] : 0});
  }
  return elements.size();
}

Plan MaskJoiner::makePlan(const Conjunction &conjunction, unsigned along) {
  Plan plan;
  plan.along = along;
  SmallVector<Bound> open;
  for (Leaf leaf : conjunction.leaves) {
    unsigned variance = projection.getVariance(leaf.value, kBoth);
    std::optional<unsigned> dim;
    if (variance)
      dim = 1 - along;
    std::optional<Bound> bound = analyze(leaf, along);
    if (bound &&
        (open.empty() || getBits(bound->other) == getBits(open.front().other)))
      open.push_back(*bound);
    else if (!(variance & (1u << along)) &&
             projection.canProject(leaf.value, kBoth, dim))
      plan.constant.push_back(leaf);
    else
      plan.remaining.push_back(leaf);
  }
  // One bound may show that the sum of another one does not wrap around.
  for (bool hasChanged = true; hasChanged;) {
    hasChanged = false;
    for (Bound &bound : open)
      if (bound.moving) {
        bound.isClamped = !isExact(bound, along, plan.bounds);
        if (bound.isClamped && !findClamp(bound, along))
          continue;
        plan.bounds.push_back(bound);
        bound.moving = {};
        hasChanged = true;
      }
  }
  for (const Bound &bound : open)
    if (bound.moving)
      plan.remaining.push_back(bound.leaf);

  if (plan.bounds.empty())
    return plan;
  int64_t all = countElements(3), rows = countElements(1u << (1 - along));
  llvm::SmallDenseSet<Value> sides;
  bool isBounded[2] = {false, false};
  for (const Bound &bound : plan.bounds) {
    isBounded[bound.boundsBelow()] = true;
    if (bound.leaf.value == mask || bound.leaf.value.hasOneUse())
      plan.before += all;
    if (!bound.rest.empty() && sides.insert(bound.moving).second)
      plan.before += countElements(projection.getVariance(bound.moving, kBoth));
    int64_t operations = bound.rest.empty() && !bound.isStrict ? 1 : 3;
    plan.after += operations * (getDim(bound, along) ? rows : 1);
  }
  plan.before += plan.constant.size() * all;
  plan.after +=
      plan.constant.size() * rows + (isBounded[0] + isBounded[1]) * all;
  return plan;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// Makes tiles of both numbers if one is a tile.
void MaskJoiner::align(Number &x, Number &y) {
  auto tileX = dyn_cast<RankedTensorType>(x.getType());
  auto tileY = dyn_cast<RankedTensorType>(y.getType());
  if (tileX && !tileY)
    y = tensor::SplatOp::create(b, tileX.clone(y.getType()), y);
  else if (tileY && !tileX)
    x = tensor::SplatOp::create(b, tileY.clone(x.getType()), x);
}

template <typename OpT> Number MaskJoiner::combine(Number x, Number y) {
  align(x, y);
  return b.createOrFold<OpT>(x, y);
}

/// Emits the sum of `rest` and the margin.
Number MaskJoiner::emitRest(const Bound &bound, unsigned along) {
  Type element = getElementTypeOrSelf(bound.other);
  Number sum = number(element, bound.isClamped ? 0 : bound.getMargin());
  for (const Bound::Part &part : bound.rest) {
    std::optional<unsigned> dim;
    if (projection.getVariance(part.value, part.dims))
      dim = 1 - along;
    Number value = projection.project(b, part.value, part.dims, dim);
    sum = part.isSubtracted ? combine<arith::SubIOp>(sum, value)
                            : combine<arith::AddIOp>(value, sum);
  }
  return sum;
}

/// Emits the number that the coordinate is compared with: the difference of
/// `bound.other` and `rest`. Where that would wrap around, it is one that has
/// the same relation to all coordinates.
Number MaskJoiner::emit(const Bound &bound, unsigned along) {
  Type element = getElementTypeOrSelf(bound.other);
  unsigned bits = getBits(bound.other);
  std::optional<unsigned> dim;
  if (projection.getVariance(bound.other, kBoth))
    dim = 1 - along;
  Number other = projection.project(b, bound.other, kBoth, dim);
  if (bound.rest.empty() && !bound.isStrict && !bound.isFalling)
    return other;
  Number rest = emitRest(bound, along);
  if (bound.isClamped) {
    SignedRange clamp = *findClamp(bound, along);
    rest = combine<arith::MaxSIOp>(rest, number(element, clamp.least));
    rest = combine<arith::MinSIOp>(rest, number(element, clamp.most));
    if (bound.isStrict)
      rest = combine<arith::AddIOp>(rest, number(element, bound.getMargin()));
  } else if (!isDifferenceExact(bound)) {
    bool isPositive =
        sums.getRange(bound.restSum)->least + bound.getMargin() >= 0;
    int64_t distance = isPositive ? bound.isFalling ? -llvm::maxIntN(bits) : -1
                       : bound.isFalling ? llvm::minIntN(bits)
                                         : llvm::maxIntN(bits);
    Number limit =
        isPositive || !bound.isFalling
            ? combine<arith::AddIOp>(rest, number(element, distance))
            : combine<arith::SubIOp>(rest, number(element, distance));
    other = isPositive ? combine<arith::MaxSIOp>(other, limit)
                       : combine<arith::MinSIOp>(other, limit);
  }
  return bound.isFalling ? combine<arith::SubIOp>(rest, other)
                         : combine<arith::SubIOp>(other, rest);
}

Value MaskJoiner::run(const Conjunction &conjunction) {
  Plan plan = makePlan(conjunction, 1), rows = makePlan(conjunction, 0);
  if (rows.after - rows.before < plan.after - plan.before)
    plan = std::move(rows);
  if (plan.after >= plan.before)
    return {};
  unsigned along = plan.along;
  Type element = getElementTypeOrSelf(plan.bounds.front().other);
  Number upper, lower;
  for (const Bound &bound : plan.bounds) {
    Number next = emit(bound, along);
    if (bound.boundsBelow())
      lower = lower ? combine<arith::MaxSIOp>(lower, next) : next;
    else
      upper = upper ? combine<arith::MinSIOp>(upper, next) : next;
  }
  for (Leaf leaf : plan.constant) {
    std::optional<unsigned> dim;
    if (projection.getVariance(leaf.value, kBoth))
      dim = 1 - along;
    Value condition = projection.project(b, leaf.value, kBoth, dim);
    Number &bound = upper ? upper : lower;
    // No coordinate is below 0, or as large as the greatest number.
    Number none = number(
        element, upper ? -1 : llvm::maxIntN(element.getIntOrFloatBitWidth()));
    align(condition, bound);
    align(bound, none);
    bound = leaf.isNegated
                ? b.createOrFold<arith::SelectOp>(condition, none, bound)
                : b.createOrFold<arith::SelectOp>(condition, bound, none);
  }
  Value result;
  auto add = [&](Value part) {
    if (!result)
      result = part;
    else if (conjunction.isComplement)
      result = arith::OrIOp::create(b, result, part);
    else
      result = arith::AndIOp::create(b, result, part);
  };
  auto compare = [&](Predicate predicate, Number bound) {
    if (!bound)
      return;
    RankedTensorType tile = type.clone(element);
    Value bounds = isa<RankedTensorType>(bound.getType())
                       ? BroadcastOp::create(b, tile, bound, along).getResult()
                       : tensor::SplatOp::create(b, tile, bound).getResult();
    if (conjunction.isComplement)
      predicate = arith::invertPredicate(predicate);
    add(arith::CmpIOp::create(b, predicate, IotaOp::create(b, tile, along),
                              bounds));
  };
  compare(Predicate::sle, upper);
  compare(Predicate::sge, lower);
  for (Leaf leaf : plan.remaining) {
    Value value = leaf.value;
    if (leaf.isNegated != conjunction.isComplement)
      value = arith::XOrIOp::create(
          b, value,
          arith::ConstantOp::create(b, SplatElementsAttr::get(type, true)));
    add(value);
  }
  remark::passed(mask.getLoc(), remark::RemarkOpts::name("comparisons-joined")
                                    .category("tile-join-comparisons"))
      << remark::metric("operations", plan.after)
      << remark::metric("operations-as-written", plan.before);
  return result;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

/// The most comparisons of a mask.
static constexpr size_t kMostLeaves = 16;

/// Adds the parts of `value`, negated if `isNegated`, to a conjunction.
static void addLeaves(Value value, bool isNegated, unsigned depth,
                      SmallVector<Leaf> &leaves) {
  Operation *op = value.getDefiningOp();
  // What has other uses is computed anyway.
  bool isOwn = leaves.empty() || value.hasOneUse();
  if (depth > 0 && isOwn && leaves.size() < kMostLeaves) {
    if (isNegated ? isa_and_present<arith::OrIOp>(op)
                  : isa_and_present<arith::AndIOp>(op)) {
      addLeaves(op->getOperand(0), isNegated, depth - 1, leaves);
      addLeaves(op->getOperand(1), isNegated, depth - 1, leaves);
      return;
    }
    if (isa_and_present<arith::XOrIOp>(op) &&
        matchPattern(op->getOperand(1), m_One())) {
      addLeaves(op->getOperand(0), !isNegated, depth - 1, leaves);
      return;
    }
  }
  leaves.push_back({value, isNegated});
}

/// Makes one selection of two nested ones with the same alternative. Returns
/// the address of the inner one, which is erased; null if there is none.
static Operation *joinSelections(arith::SelectOp outer) {
  for (bool isTrue : {true, false}) {
    auto inner =
        outer.getOperand(isTrue ? 1 : 2).getDefiningOp<arith::SelectOp>();
    Value other = outer.getOperand(isTrue ? 2 : 1);
    if (!inner || !inner->hasOneUse() ||
        inner.getOperand(isTrue ? 2 : 1) != other ||
        inner.getCondition().getType() != outer.getCondition().getType())
      continue;
    OpBuilder b(outer);
    Value conditions[] = {outer.getCondition(), inner.getCondition()};
    Value both =
        isTrue
            ? arith::AndIOp::create(b, outer.getLoc(), conditions).getResult()
            : arith::OrIOp::create(b, outer.getLoc(), conditions).getResult();
    outer.setOperand(0, both);
    outer.setOperand(isTrue ? 1 : 2, inner.getOperand(isTrue ? 1 : 2));
    Operation *address = inner;
    inner.erase();
    return address;
  }
  return nullptr;
}

static bool isMask(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 2 && type.getElementType().isInteger(1) &&
         getLayoutAttr(type) && !isSharedTile(type);
}

namespace {
struct JoinComparisons : tile::impl::TileJoinComparisonsBase<JoinComparisons> {
  using TileJoinComparisonsBase::TileJoinComparisonsBase;
  void runOnOperation() override;

private:
  void removeUnused(Operation *op);

  /// Removed operations. They remain in memory until the end, because the
  /// analysis knows values by their addresses.
  llvm::SetVector<Operation *> removed;
};
} // namespace

void JoinComparisons::removeUnused(Operation *op) {
  SmallVector<Operation *> worklist = {op};
  while (!worklist.empty()) {
    Operation *next = worklist.pop_back_val();
    if (!next || removed.contains(next) || !isOpTriviallyDead(next))
      continue;
    for (Value operand : next->getOperands())
      worklist.push_back(operand.getDefiningOp());
    next->dropAllReferences();
    next->remove();
    removed.insert(next);
  }
}

void JoinComparisons::runOnOperation() {
  KernelOp kernel = getOperation();
  SmallVector<arith::SelectOp> selections;
  kernel.walk([&](arith::SelectOp op) {
    if (isMask(op.getCondition()))
      selections.push_back(op);
  });
  // The outermost comes first and takes in the others.
  llvm::SmallDenseSet<Operation *> erased;
  for (arith::SelectOp op : llvm::reverse(selections))
    if (!erased.contains(op))
      while (Operation *inner = joinSelections(op))
        erased.insert(inner);

  SmallVector<Operation *> masks;
  kernel.walk([&](Operation *op) {
    if (isa<arith::CmpIOp, arith::AndIOp, arith::OrIOp>(op) &&
        isMask(op->getResult(0)))
      masks.push_back(op);
  });
  if (masks.empty())
    return;
  CoordinateSums sums(kernel);
  // Users come before what they use.
  for (Operation *op : llvm::reverse(masks)) {
    if (removed.contains(op))
      continue;
    Value mask = op->getResult(0);
    Conjunction conjunction;
    conjunction.isComplement = isa<arith::OrIOp>(op);
    addLeaves(mask, conjunction.isComplement, /*depth=*/8, conjunction.leaves);
    if (Value joined = MaskJoiner(mask, sums).run(conjunction)) {
      mask.replaceAllUsesWith(joined);
      removeUnused(op);
    }
  }
  for (Operation *op : removed)
    op->destroy();
  removed.clear();
}
