//===- SkipByBounds.cpp - Loads that bounds skip --------------------------===//

#include "SkipByBounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace tile;

/// Returns a dimension of the buffer along which `load` may start at the end;
/// nothing if there is none. The width of accesses depends on what is known of
/// the start along contiguous dimensions, and in a permuted layout along all.
/// The places of rows in pages come from a table, which is read in a branch.
static std::optional<unsigned> findDim(LoadOp load) {
  BufferType type = load.getBuffer().getType();
  auto strided = dyn_cast<StridedAttr>(type.getLayout());
  if (type.isShared() || type.isPaged() || !strided)
    return std::nullopt;
  for (auto [dim, stride] : llvm::enumerate(strided.getStrides()))
    if (stride != 1)
      return dim;
  return std::nullopt;
}

bool tile::skipByBounds(scf::IfOp branch, const Chip &chip) {
  if (chip.bufferFlags == 0)
    return false;
  auto operations = branch.thenBlock()->without_terminator();
  if (!llvm::all_of(operations, [](Operation &op) {
        if (auto load = dyn_cast<LoadOp>(op))
          return findDim(load).has_value();
        return isPure(&op);
      }))
    return false;
  Value condition = branch.getCondition();
  for (Operation &op : llvm::make_early_inc_range(operations)) {
    op.moveBefore(branch);
    auto load = dyn_cast<LoadOp>(op);
    if (!load)
      continue;
    ImplicitLocOpBuilder b(load.getLoc(), load);
    unsigned dim = *findDim(load);
    Value end = DimOp::create(b, load.getBuffer(), dim);
    OpOperand &start = load.getIndicesMutable()[dim];
    start.set(arith::SelectOp::create(b, condition, start.get(), end));
  }
  return true;
}
