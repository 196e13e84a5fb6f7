//===- GlobalMemory.cpp - Queries on the arguments of a kernel ------------===//

#include "tile/Analysis/GlobalMemory.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tile/Dialect/Tile/IR/Contains.h"

using namespace mlir;
using namespace tile;

BlockArgument tile::getRootArgument(Value buffer) {
  Operation *op = buffer.getDefiningOp();
  while (isa_and_nonnull<SliceOp, NarrowOp, PagedOp, TransposeOp>(op)) {
    buffer = op->getOperand(0);
    op = buffer.getDefiningOp();
  }
  auto argument = dyn_cast<BlockArgument>(buffer);
  bool isOfKernel =
      argument && isa<KernelOp>(argument.getOwner()->getParentOp());
  return isOfKernel ? argument : BlockArgument();
}

bool tile::areDisjointSlices(Value buffer, Value other) {
  auto findSlices = [](Value view) {
    SmallVector<SliceOp> slices;
    while (auto slice = view.getDefiningOp<SliceOp>()) {
      slices.push_back(slice);
      view = slice.getSource();
    }
    std::reverse(slices.begin(), slices.end());
    return std::pair(slices, view);
  };
  auto [slices, root] = findSlices(buffer);
  auto [others, otherRoot] = findSlices(other);
  if (root != otherRoot)
    return false;
  for (auto [a, b] : llvm::zip(slices, others)) {
    if (a.getKept() != b.getKept())
      return false;
    for (auto [i, j] : llvm::zip_equal(a.getIndices(), b.getIndices())) {
      std::optional<int64_t> x = getConstantIntValue(i),
                             y = getConstantIntValue(j);
      if (x && y && *x != *y)
        return true;
    }
  }
  return false;
}

bool tile::areDisjointStores(StoreOp store, StoreOp other) {
  if (areDisjointSlices(store.getBuffer(), other.getBuffer()))
    return true;
  if (store.getBuffer() != other.getBuffer())
    return false;
  auto shape = cast<ShapedType>(store.getValue().getType()).getShape();
  auto otherShape = cast<ShapedType>(other.getValue().getType()).getShape();
  for (auto [i, j, extent, otherExtent] : llvm::zip_equal(
           store.getIndices(), other.getIndices(), shape, otherShape)) {
    std::optional<int64_t> x = getConstantIntValue(i),
                           y = getConstantIntValue(j);
    if (x && y && (*x + extent <= *y || *y + otherExtent <= *x))
      return true;
  }
  return false;
}

SmallVector<GlobalAccess, 2> tile::getGlobalAccesses(Operation *op) {
  SmallVector<GlobalAccess, 2> accesses;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return accesses;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects) {
    bool isWrite = isa<MemoryEffects::Write>(effect.getEffect());
    if (!isWrite && !isa<MemoryEffects::Read>(effect.getEffect()))
      continue;
    Value value = effect.getValue();
    auto buffer = value ? dyn_cast<BufferType>(value.getType()) : BufferType();
    if (!buffer || buffer.isShared())
      continue;
    accesses.push_back({getRootArgument(value), isWrite, value});
    if (auto paged = value.getDefiningOp<PagedOp>())
      accesses.push_back({getRootArgument(paged.getTable()),
                          /*isWrite=*/false, paged.getTable()});
  }
  return accesses;
}

bool tile::isAccessedIn(Operation *scope, BlockArgument argument,
                        bool isWrite) {
  return containsOp(scope, [&](Operation *op) {
    return llvm::any_of(getGlobalAccesses(op), [&](const GlobalAccess &access) {
      return access.isWrite == isWrite && access.mayOverlap(argument);
    });
  });
}

/// Returns true if `op` is an atomic operation of this order or of both.
static bool hasOrder(Operation *op, MemoryOrder order) {
  auto atomic = dyn_cast<AtomicRMWOp>(op);
  return atomic && (atomic.getOrder() == order ||
                    atomic.getOrder() == MemoryOrder::AcqRel);
}

bool tile::releasesAccesses(Operation *op) {
  return hasOrder(op, MemoryOrder::Release);
}

bool tile::acquiresAccesses(Operation *op) {
  return hasOrder(op, MemoryOrder::Acquire);
}
