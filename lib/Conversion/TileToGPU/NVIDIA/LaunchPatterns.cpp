//===- LaunchPatterns.cpp - Dependent kernel launches ---------------------===//

#include "../Lowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tile/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace tile;

/// Converts an operation of dependent launches; erases it on chips without
/// dependent launches.
template <typename OpT, NVVM::GridDepActionKind kind>
static LogicalResult convertLaunch(OpT op, Parts<OpT>, Lowering &b) {
  if (b.chip.dependentLaunch)
    NVVM::GriddepcontrolOp::create(b, kind);
  return b.erase(op);
}

void tile::addLaunchConversions(ConversionAdder &conversions) {
  using Kind = NVVM::GridDepActionKind;
  conversions.addAll(
      convertLaunch<WaitPrerequisitesOp, Kind::wait>,
      convertLaunch<LaunchDependentsOp, Kind::launch_dependents>);
}
