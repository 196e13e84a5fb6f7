//===- SlotAccesses.cpp - Accesses to slots of shared buffers -------------===//

#include "tile/Analysis/SlotAccesses.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tile/Analysis/SharedMemory.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Numbers of slots
//===----------------------------------------------------------------------===//

/// Returns the number from which tile-lower-rings or tile-alternate-buffers has
/// computed `number`, which is `distance` slots further; null if there is none.
static Value getPrevious(Value number, int64_t stages, int64_t &distance) {
  distance = 0;
  if (auto cast = number.getDefiningOp<arith::IndexCastUIOp>())
    return cast.getIn();
  // A count of tiles.
  if (auto rem = number.getDefiningOp<arith::RemUIOp>();
      rem && isConstantIntValue(rem.getRhs(), stages))
    return rem.getLhs();
  if (auto add = number.getDefiningOp<arith::AddIOp>())
    if (std::optional<int64_t> step = getConstantIntValue(add.getRhs())) {
      distance = *step;
      return add.getLhs();
    }
  // Of two slots, the other one.
  if (auto sub = number.getDefiningOp<arith::SubIOp>();
      sub && stages == 2 && isConstantIntValue(sub.getLhs(), 1)) {
    distance = 1;
    return sub.getRhs();
  }
  // The next slot, or the first after the last one; backwards likewise.
  auto select = number.getDefiningOp<arith::SelectOp>();
  if (!select)
    return {};
  auto wraps = select.getCondition().getDefiningOp<arith::CmpIOp>();
  auto add = select.getFalseValue().getDefiningOp<arith::AddIOp>();
  if (!wraps || wraps.getPredicate() != arith::CmpIPredicate::eq || !add ||
      wraps.getLhs() != add.getLhs())
    return {};
  for (int64_t step : {1, -1}) {
    int64_t start = step == 1 ? 0 : stages - 1;
    if (isConstantIntValue(add.getRhs(), step) &&
        isConstantIntValue(wraps.getRhs(), stages - 1 - start) &&
        isConstantIntValue(select.getTrueValue(), start)) {
      distance = step;
      return add.getLhs();
    }
  }
  return {};
}

/// Sets the slot of `access`, to a ring of its stages, to `number`.
static void setSlot(SlotAccess &access, Value number) {
  int64_t distance, offset = 0;
  while (Value previous = getPrevious(number, access.stages, distance)) {
    number = previous;
    offset += distance;
  }
  std::optional<int64_t> constant = getConstantIntValue(number);
  access.base = constant ? Value() : number;
  access.offset = llvm::mod(offset + constant.value_or(0), access.stages);
}

/// Returns the slice of `alloc` that `buffer` is a part of and that fixes the
/// first dimension; null if there is none.
static SliceOp findSlot(Value buffer, AllocOp alloc) {
  for (Operation *op = buffer.getDefiningOp();
       isa_and_nonnull<SliceOp, TransposeOp>(op);
       op = op->getOperand(0).getDefiningOp()) {
    auto slice = dyn_cast<SliceOp>(op);
    if (slice && slice.getSource() == alloc.getResult() && !slice.getKept()[0])
      return slice;
  }
  return {};
}

SlotAccess SlotAccess::get(Operation *op, AllocOp root, unsigned allocation) {
  SlotAccess access{allocation};
  bool isFirst = true;
  for (Value operand : op->getOperands()) {
    if (!isa<BufferType>(operand.getType()) || getRootAlloc(operand) != root)
      continue;
    SliceOp slot = findSlot(operand, root);
    if (!slot || !isFirst)
      return getWhole(allocation);
    isFirst = false;
    access.stages = root.getType().getShape()[0];
    setSlot(access, slot.getIndices().front());
  }
  return access;
}

//===----------------------------------------------------------------------===//
// Sets of accesses
//===----------------------------------------------------------------------===//

bool SlotAccesses::reach(
    const SlotAccess &access,
    llvm::function_ref<bool(unsigned allocation)> overlaps) const {
  return llvm::any_of(accesses, [&](const SlotAccess &other) {
    return overlaps(other.allocation) && !other.isOtherSlot(access);
  });
}

void SlotAccesses::renameInLoop(LoopLikeOpInterface loop,
                                llvm::function_ref<void(SlotAccess &)> rename) {
  std::set<SlotAccess> renamed;
  for (SlotAccess access : accesses) {
    if (access.base && !loop.isDefinedOutsideOfLoop(access.base))
      rename(access);
    renamed.insert(access);
  }
  accesses = std::move(renamed);
}

void SlotAccesses::endIteration(LoopLikeOpInterface loop) {
  renameInLoop(loop, [&](SlotAccess &access) {
    auto argument = dyn_cast<BlockArgument>(access.base);
    // The regions of other loops have different arguments.
    bool isCarried = argument && loop->getNumRegions() == 1;
    OpOperand *yielded =
        isCarried ? loop.getTiedLoopYieldedValue(argument) : nullptr;
    SlotAccess next = access;
    if (yielded)
      setSlot(next, yielded->get());
    if (yielded && next.base == access.base)
      access.offset = llvm::mod(access.offset - next.offset, access.stages);
    else
      access = SlotAccess::getWhole(access.allocation);
  });
}

void SlotAccesses::leaveLoop(LoopLikeOpInterface loop) {
  renameInLoop(loop, [](SlotAccess &access) {
    access = SlotAccess::getWhole(access.allocation);
  });
}
