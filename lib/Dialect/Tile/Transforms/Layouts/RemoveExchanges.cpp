//===- RemoveExchanges.cpp - Conversions that need no exchange ------------===//
//
// A conversion that moves elements between threads takes a write to shared
// memory, a barrier and a read. Of several conversions of one tile, all read
// what the first one writes. Two conversions to equal layouts are one. And few
// elements that are computed from tiles in shared memory are computed in the
// other layout instead.
//
//===----------------------------------------------------------------------===//

#include "RemoveExchanges.h"
#include "DotOperands.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "tile/Analysis/Registers.h"
#include "tile/Layout/Queries.h"

using namespace mlir;
using namespace tile;

/// The instructions of a thread that take no longer than an exchange, and those
/// of a function like exp2.
static constexpr int64_t kExchangeInstructions = 32;
static constexpr int64_t kFunctionInstructions = 4;

static RankedTensorType tileType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Returns true if `convert` moves elements between threads.
static bool isExchange(ConvertLayoutOp convert) {
  RankedTensorType from = tileType(convert.getSource());
  return !isSharedTile(from) && !isSharedTile(convert.getType()) &&
         crossesThreads(from, convert.getType());
}

namespace {
/// Computes tiles again in another layout.
class Recomputation {
public:
  Recomputation(Operation *place, LayoutAttrInterface layout)
      : builder(place), layout(layout) {}

  /// Returns the instructions of a thread that computes `value` in the layout
  /// without an exchange, none if it cannot.
  std::optional<int64_t> countInstructions(Value value);

  /// Emits these.
  Value emit(Value value);

private:
  OpBuilder builder;
  LayoutAttrInterface layout;
  IRMapping mapping;
};
} // namespace

std::optional<int64_t> Recomputation::countInstructions(Value value) {
  RankedTensorType type = tileType(value);
  RankedTensorType wanted = withLayout(type, layout);
  if (isSharedTile(type))
    return countRegisters(wanted);
  if (!crossesThreads(type, wanted))
    return 0;
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto convert = dyn_cast<ConvertLayoutOp>(op))
    return countInstructions(convert.getSource());
  if (isa<tensor::SplatOp>(op))
    return 0;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue()) ? std::optional(0)
                                                       : std::nullopt;
  if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1 ||
      op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return std::nullopt;
  int64_t sum =
      countRegisters(wanted) *
      (isa<math::MathDialect>(op->getDialect()) ? kFunctionInstructions : 1);
  for (Value operand : op->getOperands()) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    std::optional<int64_t> count = countInstructions(operand);
    if (!count)
      return std::nullopt;
    sum += *count;
    // Operands of operands may be many.
    if (sum > kExchangeInstructions)
      return std::nullopt;
  }
  return sum;
}

Value Recomputation::emit(Value value) {
  if (mapping.contains(value))
    return mapping.lookup(value);
  RankedTensorType type = tileType(value);
  Operation *op = value.getDefiningOp();
  Value result;
  if (isSharedTile(type) || !crossesThreads(type, withLayout(type, layout))) {
    result = convertTile(builder, value, layout);
  } else if (auto convert = dyn_cast<ConvertLayoutOp>(op)) {
    result = emit(convert.getSource());
  } else {
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        emit(operand);
    Operation *clone = builder.clone(*op, mapping);
    result = clone->getResult(0);
    // Splats, constants of one value and elementwise operations can have any
    // layout.
    (void)cast<TileLayoutOpInterface>(clone).setLayout(cast<OpResult>(result),
                                                       layout);
  }
  mapping.map(value, result);
  return result;
}

/// Returns one of `tiles`, from which `convert` gets its elements without an
/// exchange; null if there is none. `tiles` were computed before `convert`. CSE
/// finds those of the same type.
static Value findEqual(ArrayRef<Value> tiles, ConvertLayoutOp convert) {
  for (Value tile : tiles)
    if (tile.getType() != convert.getType() &&
        tile.getParentBlock()->findAncestorOpInBlock(*convert) &&
        !crossesThreads(tileType(tile), convert.getType()))
      return tile;
  return {};
}

/// Erases `op` if nothing uses it, and then what only it used. `erased` is
/// what has been erased.
static void eraseUnused(Operation *op, DenseSet<Operation *> &erased) {
  if (!op || erased.contains(op) || !isOpTriviallyDead(op))
    return;
  SmallVector<Operation *> definitions;
  for (Value operand : op->getOperands())
    definitions.push_back(operand.getDefiningOp());
  erased.insert(op);
  op->erase();
  for (Operation *definition : definitions)
    eraseUnused(definition, erased);
}

void tile::removeExchanges(KernelOp kernel) {
  SmallVector<ConvertLayoutOp> exchanges;
  kernel.walk([&](ConvertLayoutOp convert) {
    if (isExchange(convert))
      exchanges.push_back(convert);
  });
  // The tiles that conversions of a tile became.
  DenseMap<Value, SmallVector<Value>> converted;
  SmallVector<Operation *> replaced;
  for (ConvertLayoutOp convert : exchanges) {
    // The exchange of the source serves this conversion, too.
    while (auto other = convert.getSource().getDefiningOp<ConvertLayoutOp>()) {
      if (isSharedTile(tileType(other.getSource())) || !isExchange(other))
        break;
      convert.getSourceMutable().assign(other.getSource());
    }
    Value source = convert.getSource();
    LayoutAttrInterface layout = getLayoutAttr(convert.getType());
    Value result = convert;
    Recomputation recomputation(convert, layout);
    if (Value equal = findEqual(converted[source], convert)) {
      convert.getSourceMutable().assign(equal);
    } else if (std::optional<int64_t> count =
                   recomputation.countInstructions(source);
               count && *count <= kExchangeInstructions) {
      result = recomputation.emit(source);
      convert.replaceAllUsesWith(result);
      replaced.push_back(convert);
    }
    converted[source].push_back(result);
  }
  DenseSet<Operation *> erased;
  for (Operation *convert : replaced)
    eraseUnused(convert, erased);
}
