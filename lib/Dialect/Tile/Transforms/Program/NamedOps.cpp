//===- NamedOps.cpp - The kernels that named operations become ------------===//

#include "tile/Dialect/Tile/Transforms/Program/NamedOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace tile;

bool tile::isNamedOp(Operation *op) {
  return isa<AttentionOp, AttentionBackwardOp, MatmulOp>(op);
}

std::string tile::getKernelName(Operation *op) {
  std::string name = cast<func::FuncOp>(op->getParentOp()).getSymName().str();
  int64_t before = 0, all = 0;
  for (Operation &other : *op->getBlock())
    if (isNamedOp(&other)) {
      before += other.isBeforeInBlock(op);
      ++all;
    }
  return all > 1 ? name + "_" + std::to_string(before) : name;
}
