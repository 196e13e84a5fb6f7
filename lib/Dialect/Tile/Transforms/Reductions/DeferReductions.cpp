//===- DeferReductions.cpp - Reductions behind loops ----------------------===//
//
// The results of reductions that a loop adds up form a sum: values that flow
// from the reductions through additions, scales and selections to what loops
// carry. Each value of the sum becomes a tile with one more dimension, along
// which each thread has its own part. Where the sum is used otherwise, behind
// the loops, its parts are added. A sum of one element may also be a scalar.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tile/Analysis/Registers.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <vector>

namespace tile {
#define GEN_PASS_DEF_TILEDEFERREDUCTIONS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using Kind = arith::AtomicRMWKind;

/// Returns the type of the parts that threads have of a reduction.
static RankedTensorType getParts(ReduceOp reduce) {
  auto tile = cast<RankedTensorType>(reduce.getSource().getType());
  return withLayout(tile,
                    getCanonicalLayout(tile).reduceInThreads(reduce.getDim()));
}

namespace {
/// The values that flow from reductions of one kind along one dimension.
class Sum {
public:
  /// Collects the values that flow from `reductions`, which are alike.
  explicit Sum(ArrayRef<ReduceOp> reductions);

  /// Returns true if values that flow from `x` and `y` may be combined.
  static bool areAlike(ReduceOp x, ReduceOp y) {
    return x.getKind() == y.getKind() && x.getDim() == y.getDim() &&
           x.getType() == y.getType() && getParts(x) == getParts(y);
  }
  /// Divides the values into those that do not flow to each other.
  std::vector<Sum> divide() const;
  /// Returns true if the exchange of a reduction can move out of a loop. Sets
  /// `missing` to an operation whose flag does not allow it, if it is only
  /// that.
  bool canDefer(Operation *&missing) const;
  /// Returns true if warps exchange their parts of a reduction.
  bool crossesWarps() const;
  /// Makes threads hold parts of the values.
  void defer();
  SmallVector<ReduceOp> getReductions() const;

private:
  void dropUnused();
  void addUses(Value value, SetVector<Value> &found) const;
  SmallVector<OpOperand *> getInputs(Value value) const;
  bool isUseInside(OpOperand &use) const;
  SmallVector<OpOperand *> findUsesOutside(Value value) const;
  bool isInside(Value value) const { return values.contains(value); }
  bool isNeutral(Value value) const;
  bool isIdempotent() const;
  Value makeCopies(OpBuilder &builder, Value value) const;
  Value makeParts(OpBuilder &builder, Value value) const;

  Kind kind;
  int64_t dim;
  /// The type of a whole value and of its parts.
  RankedTensorType whole, parts;
  SetVector<Value> values;
};
} // namespace

/// Returns the number of loops around `op`.
static int64_t countLoops(Operation *op) {
  int64_t count = 0;
  while ((op = op->getParentOp()) && !isa<KernelOp>(op))
    count += isa<LoopLikeOpInterface>(op);
  return count;
}

/// Returns the kind of reduction that `op` combines two tiles by; std::nullopt
/// if it is another operation.
static std::optional<Kind> getCombination(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Kind>>(op)
      .Case([](arith::AddFOp) { return Kind::addf; })
      .Case([](arith::AddIOp) { return Kind::addi; })
      .Case([](arith::MaximumFOp) { return Kind::maximumf; })
      .Case([](arith::MinimumFOp) { return Kind::minimumf; })
      .Case([](arith::MaxNumFOp) { return Kind::maxnumf; })
      .Case([](arith::MinNumFOp) { return Kind::minnumf; })
      .Case([](arith::MaxSIOp) { return Kind::maxs; })
      .Case([](arith::MinSIOp) { return Kind::mins; })
      .Case([](arith::MaxUIOp) { return Kind::maxu; })
      .Case([](arith::MinUIOp) { return Kind::minu; })
      .Case([](arith::AndIOp) { return Kind::andi; })
      .Case([](arith::OrIOp) { return Kind::ori; })
      .Case([](arith::XOrIOp) { return Kind::xori; })
      .Default([](Operation *) { return std::nullopt; });
}

/// Returns true if `op`, which has a value of a sum, computes it from others.
static bool isArithmetic(Operation *op) {
  return !isa<scf::ForOp, scf::IfOp, ReduceOp, tensor::ExtractOp,
              ConvertLayoutOp>(op);
}

/// Returns true if the threads have the same elements before and after.
static bool isNoExchange(ConvertLayoutOp convert) {
  return getCanonicalLayout(convert.getSource().getType()) ==
         getCanonicalLayout(convert.getType());
}

/// Returns true if `op` scales an operand, or adds to a scaled one.
static bool isProduct(Operation *op) {
  return isa<arith::MulFOp, math::FmaOp>(op);
}

/// Returns true if the flags of `op` let parts of a sum be added in another
/// order.
static bool canReassociate(Operation *op) {
  auto flags = dyn_cast<arith::ArithFastMathInterface>(op);
  return !isa<arith::AddFOp, arith::MulFOp, math::FmaOp>(op) ||
         arith::bitEnumContainsAll(flags.getFastMathFlagsAttr().getValue(),
                                   arith::FastMathFlags::reassoc);
}

Sum::Sum(ArrayRef<ReduceOp> reductions) {
  ReduceOp first = reductions.front();
  kind = first.getKind();
  dim = first.getDim();
  whole = cast<RankedTensorType>(first.getType());
  parts = getParts(first);
  for (ReduceOp reduce : reductions)
    values.insert(reduce.getResult());
  for (size_t i = 0; i < values.size(); ++i)
    addUses(values[i], values);
  dropUnused();
}

SmallVector<ReduceOp> Sum::getReductions() const {
  SmallVector<ReduceOp> reductions;
  for (Value value : values)
    if (auto reduce = value.getDefiningOp<ReduceOp>())
      reductions.push_back(reduce);
  return reductions;
}

std::vector<Sum> Sum::divide() const {
  std::vector<Sum> sums;
  SetVector<Value> seen;
  for (Value value : values) {
    if (seen.contains(value))
      continue;
    Sum sum = *this;
    sum.values.clear();
    sum.values.insert(value);
    for (size_t i = 0; i < sum.values.size(); ++i) {
      SetVector<Value> next;
      addUses(sum.values[i], next);
      for (OpOperand *input : getInputs(sum.values[i]))
        next.insert(input->get());
      for (Value other : next)
        if (isInside(other))
          sum.values.insert(other);
    }
    seen.insert_range(sum.values);
    sums.push_back(std::move(sum));
  }
  return sums;
}

/// Returns true if the pass knows how parts of this kind are combined.
static bool combinesParts(Kind kind) {
  return kind != Kind::mulf && kind != Kind::muli && kind != Kind::assign;
}

/// Returns true if a value that is combined with itself stays the same.
bool Sum::isIdempotent() const {
  return kind != Kind::addf && kind != Kind::addi && kind != Kind::xori;
}

/// Adds the values to `found` to which `value` flows.
void Sum::addUses(Value value, SetVector<Value> &found) const {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    unsigned number = use.getOperandNumber();
    if (auto loop = dyn_cast<scf::ForOp>(user)) {
      if (number >= loop.getNumControlOperands()) {
        found.insert(loop.getTiedLoopRegionIterArg(&use));
        found.insert(loop.getTiedLoopResult(&use));
      }
    } else if (isa<scf::YieldOp>(user)) {
      Operation *parent = user->getParentOp();
      if (auto loop = dyn_cast<scf::ForOp>(parent)) {
        found.insert(loop.getRegionIterArg(number));
        found.insert(loop.getResult(number));
      } else if (isa<scf::IfOp>(parent)) {
        found.insert(parent->getResult(number));
      }
    } else if (auto extract = dyn_cast<tensor::ExtractOp>(user)) {
      if (whole.getNumElements() == 1)
        found.insert(extract.getResult());
    } else if (auto convert = dyn_cast<ConvertLayoutOp>(user)) {
      if (isNoExchange(convert))
        found.insert(convert.getResult());
    } else if (auto select = dyn_cast<arith::SelectOp>(user)) {
      if (number != 0)
        found.insert(select.getResult());
    } else if (getCombination(user) == kind) {
      found.insert(user->getResult(0));
    } else if (kind == Kind::addf && isProduct(user)) {
      found.insert(user->getResult(0));
    }
  }
}

/// Returns the operands whose values flow to `value`, one of the sum.
SmallVector<OpOperand *> Sum::getInputs(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return {loop.getTiedLoopInit(argument),
            loop.getTiedLoopYieldedValue(argument)};
  }
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return getInputs(loop.getTiedLoopRegionIterArg(result));
  SmallVector<OpOperand *> inputs;
  // If no factor is a value of the sum, the first one is divided into parts.
  bool isFirst = isProduct(op) && !isInside(op->getOperand(0)) &&
                 !isInside(op->getOperand(1));
  if (isa<scf::IfOp>(op)) {
    for (Region &region : op->getRegions())
      inputs.push_back(&region.front().getTerminator()->getOpOperand(
          result.getResultNumber()));
    return inputs;
  }
  if (isa<ReduceOp>(op))
    return {};
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return {&extract.getTensorMutable()};
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    if (isa<arith::SelectOp>(op) ? number != 0
        : isProduct(op)
            ? number == 2 || isInside(operand.get()) || (isFirst && number == 0)
            : true)
      inputs.push_back(&operand);
  }
  return inputs;
}

/// Drops values that flow to nothing that a loop carries: the whole sum is as
/// good for them.
void Sum::dropUnused() {
  SetVector<Value> used;
  for (Value value : values)
    if (isa<BlockArgument>(value) || value.getDefiningOp<scf::ForOp>())
      used.insert(value);
  for (size_t i = 0; i < used.size(); ++i)
    for (OpOperand *input : getInputs(used[i]))
      if (isInside(input->get()))
        used.insert(input->get());
  values = std::move(used);
}

/// Returns true if `use`, of a value of the sum, takes its parts.
bool Sum::isUseInside(OpOperand &use) const {
  Operation *user = use.getOwner();
  unsigned number = use.getOperandNumber();
  if (auto loop = dyn_cast<scf::ForOp>(user))
    return number >= loop.getNumControlOperands() &&
           isInside(loop.getTiedLoopRegionIterArg(&use));
  if (isa<scf::YieldOp>(user)) {
    Operation *parent = user->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return isInside(loop.getRegionIterArg(number));
    return isa<scf::IfOp>(parent) && isInside(parent->getResult(number));
  }
  return user->getNumResults() == 1 && isInside(user->getResult(0)) &&
         llvm::is_contained(getInputs(user->getResult(0)), &use);
}

/// Returns the uses of `value`, one of the sum, that take the whole.
SmallVector<OpOperand *> Sum::findUsesOutside(Value value) const {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    if (!isUseInside(use))
      uses.push_back(&use);
  return uses;
}

/// Returns the first operation of the block of `value` that has some of `uses`
/// or contains them.
static Operation *findFirstUser(Value value, ArrayRef<OpOperand *> uses) {
  Operation *first = nullptr;
  for (OpOperand *use : uses) {
    Operation *user =
        value.getParentBlock()->findAncestorOpInBlock(*use->getOwner());
    if (!first || user->isBeforeInBlock(first))
      first = user;
  }
  return first;
}

/// Returns the constant that `value`, or each of its elements, is; null if it
/// is none.
static Attribute getConstant(Value value) {
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return {};
  auto elements = dyn_cast<DenseElementsAttr>(constant);
  if (!elements)
    return constant;
  return elements.isSplat() ? elements.getSplatValue<Attribute>() : Attribute();
}

/// Returns true if all elements of `value` are neutral, or zeros of a sum.
bool Sum::isNeutral(Value value) const {
  Attribute element = getConstant(value);
  if (!element)
    return false;
  OpBuilder builder(value.getContext());
  TypedAttr neutral = arith::getIdentityValueAttr(kind, whole.getElementType(),
                                                  builder, value.getLoc());
  if (element == neutral)
    return true;
  auto number = dyn_cast<FloatAttr>(element);
  return kind == Kind::addf && number && number.getValue().isZero();
}

bool Sum::canDefer(Operation *&missing) const {
  missing = nullptr;
  if (parts.getDimSize(dim) == 1)
    return false;
  int64_t depth = 0;
  for (ReduceOp reduce : getReductions())
    depth = std::max(depth, countLoops(reduce));
  for (Value value : values) {
    if (getElementTypeOrSelf(value) != whole.getElementType())
      return false;
    for (OpOperand *input : getInputs(value))
      if (!isInside(input->get()) && !isNeutral(input->get()) &&
          countLoops(input->getOwner()) >= depth)
        return false;
    SmallVector<OpOperand *> outside = findUsesOutside(value);
    if (!outside.empty() && countLoops(findFirstUser(value, outside)) >= depth)
      return false;
    Operation *op = value.getDefiningOp();
    if (!op || !isArithmetic(op))
      continue;
    if (isProduct(op) && isInside(op->getOperand(0)) &&
        isInside(op->getOperand(1)))
      return false;
    if (!canReassociate(op))
      missing = op;
  }
  return depth > 0 && !missing;
}

/// Returns a tile with `value`, or its elements, in all parts.
Value Sum::makeCopies(OpBuilder &builder, Value value) const {
  Location loc = value.getLoc();
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  if (!tile)
    return tensor::SplatOp::create(
        builder, loc, parts.clone(parts.getShape(), value.getType()), value);
  return BroadcastOp::create(
      builder, loc, parts.clone(parts.getShape(), tile.getElementType()), value,
      dim);
}

bool Sum::crossesWarps() const {
  for (const Digit &digit : getCanonicalLayout(parts).axis(kWarp))
    if (digit.stride != 0 && int64_t(digit.dim) == dim)
      return true;
  return false;
}

/// Returns the parts of `value`, which is none of the sum: the value in one
/// thread, and neutral elements in the others.
Value Sum::makeParts(OpBuilder &builder, Value value) const {
  Location loc = value.getLoc();
  TypedAttr neutral =
      arith::getIdentityValueAttr(kind, parts.getElementType(), builder, loc);
  auto splat = [&](RankedTensorType type, Attribute element) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(type, element));
  };
  if (isNeutral(value))
    return splat(parts, getConstant(value));
  Value copies = makeCopies(builder, value);
  if (isIdempotent())
    return copies;
  RankedTensorType numbers =
      parts.clone(parts.getShape(), builder.getI32Type());
  Value isFirst =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                            IotaOp::create(builder, loc, numbers, dim),
                            splat(numbers, builder.getI32IntegerAttr(0)));
  return arith::SelectOp::create(builder, loc, isFirst, copies,
                                 splat(parts, neutral));
}

void Sum::defer() {
  // Uses are told apart before any of them changes.
  SmallVector<std::pair<Value, SmallVector<OpOperand *>>> outside;
  SmallVector<OpOperand *> entries, factors;
  for (Value value : values) {
    if (SmallVector<OpOperand *> uses = findUsesOutside(value); !uses.empty())
      outside.push_back({value, uses});
    SmallVector<OpOperand *> inputs = getInputs(value);
    for (OpOperand *input : inputs)
      if (!isInside(input->get()))
        entries.push_back(input);
    Operation *op = value.getDefiningOp();
    if (op && isArithmetic(op))
      for (OpOperand &operand : op->getOpOperands())
        if (!llvm::is_contained(inputs, &operand))
          factors.push_back(&operand);
  }

  OpBuilder builder(whole.getContext());
  for (OpOperand *entry :
       llvm::SetVector<OpOperand *>(entries.begin(), entries.end())) {
    builder.setInsertionPoint(entry->getOwner());
    entry->set(makeParts(builder, entry->get()));
  }
  for (OpOperand *factor : factors) {
    // One condition of a selection is for all elements.
    if (isa<arith::SelectOp>(factor->getOwner()) &&
        !isa<RankedTensorType>(factor->get().getType()))
      continue;
    builder.setInsertionPoint(factor->getOwner());
    factor->set(makeCopies(builder, factor->get()));
  }
  for (auto &[value, uses] : outside) {
    bool isScalar = !isa<RankedTensorType>(value.getType());
    builder.setInsertionPoint(findFirstUser(value, uses));
    Location loc = value.getLoc();
    Value sum = ReduceOp::create(builder, loc, whole, kind, value, dim);
    if (isScalar)
      sum = tensor::ExtractOp::create(
          builder, loc, sum,
          SmallVector<Value>(whole.getRank(),
                             arith::ConstantIndexOp::create(builder, loc, 0)));
    else if (value.getType() != whole)
      sum = ConvertLayoutOp::create(builder, loc, value.getType(), sum);
    for (OpOperand *use : uses)
      use->set(sum);
  }
  SmallVector<ReduceOp> reductions = getReductions();
  SmallVector<Operation *> passed;
  for (Value value : values) {
    value.setType(parts);
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<tensor::ExtractOp, ConvertLayoutOp>(op))
      passed.push_back(op);
    // The flag has served its purpose.
    if (auto flags = dyn_cast_or_null<arith::ArithFastMathInterface>(op))
      op->setAttr(
          flags.getFastMathAttrName(),
          arith::FastMathFlagsAttr::get(
              op->getContext(), flags.getFastMathFlagsAttr().getValue() &
                                    ~arith::FastMathFlags::reassoc));
  }
  for (Operation *op : passed) {
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  }
  for (ReduceOp reduce : reductions) {
    builder.setInsertionPoint(reduce);
    auto part = ReduceInThreadsOp::create(builder, reduce.getLoc(), kind,
                                          reduce.getSource(), dim);
    reduce.getResult().replaceAllUsesWith(part);
    reduce.erase();
  }
  values.clear();
}

/// Returns true if an eighth of the registers is left. With fewer, ptxas spills
/// more where no exchange limits what it moves (docs/notes/hopper-forward.md).
static bool leavesRegisters(KernelOp kernel, const Chip &chip) {
  int64_t limit = getRegisterLimit(kernel, chip);
  return estimateRegisters(kernel).total <= limit - limit / 8;
}

namespace {
struct DeferReductions : tile::impl::TileDeferReductionsBase<DeferReductions> {
  using TileDeferReductionsBase::TileDeferReductionsBase;

  void runOnOperation() override {
    SmallVector<SmallVector<ReduceOp>> groups;
    getOperation().walk([&](ReduceOp reduce) {
      Type source = reduce.getSource().getType();
      if (!combinesParts(reduce.getKind()) || !getLayoutAttr(source) ||
          isSharedTile(source))
        return;
      auto group = llvm::find_if(groups, [&](ArrayRef<ReduceOp> group) {
        return Sum::areAlike(group.front(), reduce);
      });
      if (group == groups.end())
        groups.push_back({reduce});
      else
        group->push_back(reduce);
    });
    if (groups.empty())
      return;
    const Chip *chip = getTargetChip(getOperation());
    if (!chip)
      return signalPassFailure();
    bool hasRegisters = leavesRegisters(getOperation(), *chip);
    auto options = [](StringRef name) {
      return remark::RemarkOpts::name(name).category("tile-defer-reductions");
    };
    for (ArrayRef<ReduceOp> group : groups)
      for (Sum &sum : Sum(group).divide()) {
        Operation *missing;
        bool canDefer = sum.canDefer(missing);
        if (canDefer && !hasRegisters && !sum.crossesWarps()) {
          remark::missed(sum.getReductions().front().getLoc(),
                         options("reduction-not-deferred"))
              << remark::reason("a thread has few registers left: an exchange "
                                "in the loop limits what the back end moves");
        } else if (canDefer) {
          for (ReduceOp reduce : sum.getReductions())
            remark::passed(reduce.getLoc(), options("reduction-deferred"))
                << remark::reason("threads exchange their parts of the sum "
                                  "behind the loop");
          sum.defer();
        } else if (missing) {
          remark::missed(missing->getLoc(), options("reduction-not-deferred"))
              << remark::reason(
                     "threads exchange their parts of the sum in every "
                     "iteration: '{0}' has no fastmath<reassoc>",
                     missing->getName().getStringRef());
        }
      }
  }
};
} // namespace
