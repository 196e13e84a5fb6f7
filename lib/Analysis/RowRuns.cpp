//===- RowRuns.cpp - Rows that begin at any element -----------------------===//

#include "tile/Analysis/RowRuns.h"
#include "tile/Analysis/AccessWidth.h"
#include "tile/Analysis/CostModel.h"

using namespace mlir;
using namespace tile;

std::optional<unsigned> tile::findRowRun(LoadOp load, const Chip &chip,
                                         int64_t warps) {
  BufferType buffer = load.getBuffer().getType();
  auto strided = dyn_cast<StridedAttr>(buffer.getLayout());
  if (buffer.isShared() || isSharedTile(load.getType()) || !strided ||
      load.getBuffer().getDefiningOp<PagedOp>() || !hasSingleAccesses(buffer) ||
      buffer.getElementBits() % 8 != 0 ||
      chip.asyncCopy.mechanism != AsyncCopy::CpAsync ||
      !chip.asyncCopy.isDefault || countClusterBlocks(chip, warps) > 1 ||
      !llvm::all_of(load.getIndices(), isKnownNonNegative))
    return std::nullopt;
  std::optional<unsigned> run;
  for (auto [dim, extent] : llvm::enumerate(load.getType().getShape())) {
    if (extent == 1)
      continue;
    if (run || strided.getStrides()[dim] != 1)
      return std::nullopt;
    run = dim;
  }
  return run;
}
