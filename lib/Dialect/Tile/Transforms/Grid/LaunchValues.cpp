//===- LaunchValues.cpp - Numbers that depend on arguments alone ----------===//

#include "LaunchValues.h"

using namespace mlir;

Value tile::cloneLaunchValue(OpBuilder &builder, Value value,
                             IRMapping &mapping) {
  Operation *op = value.getDefiningOp();
  if (!op || mapping.contains(value))
    return mapping.lookupOrDefault(value);
  for (Value operand : op->getOperands())
    cloneLaunchValue(builder, operand, mapping);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}
