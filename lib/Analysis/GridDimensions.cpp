//===- GridDimensions.cpp - Dependence on the grid ------------------------===//

#include "tile/Analysis/GridDimensions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace tile;

unsigned GridDimensions::find(Value value) {
  auto [it, isNew] = known.try_emplace(value, 0);
  if (!isNew)
    return it->second;
  unsigned found = compute(value);
  known[value] = found;
  return found;
}

unsigned GridDimensions::find(ValueRange values) {
  unsigned found = 0;
  for (Value value : values)
    found |= find(value);
  return found;
}

unsigned GridDimensions::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *owner = argument.getOwner()->getParentOp();
    if (isa<KernelOp>(owner))
      return 0;
    auto loop = dyn_cast<scf::ForOp>(owner);
    if (!loop || value != loop.getInductionVar())
      return Unknown;
    return ignoresIterations
               ? 0
               : find(loop.getLowerBound()) | find(loop.getStep());
  }
  Operation *op = value.getDefiningOp();
  if (auto id = dyn_cast<ProgramIdOp>(op))
    return 1u << unsigned(id.getAxis());
  if (op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return Unknown;
  if (auto select = dyn_cast<arith::SelectOp>(op); select && ignoresConditions)
    return find(select.getTrueValue()) | find(select.getFalseValue());
  return find(op->getOperands());
}
