//===- ArgumentTile.cpp - Tiles of a kernel's arguments -------------------===//

#include "ArgumentTile.h"

using namespace mlir;
using namespace tile;

std::string tile::findArgumentTile(Value buffer, ValueRange indices,
                                   ArgumentTile &tile) {
  tile.indices.assign(indices.begin(), indices.end());
  tile.dims.clear();
  for (int64_t dim = 0; dim < cast<BufferType>(buffer.getType()).getRank();
       ++dim)
    tile.dims.push_back(dim);
  while (auto slice = buffer.getDefiningOp<SliceOp>()) {
    SmallVector<Value> all;
    SmallVector<int64_t> places;
    size_t kept = 0, fixed = 0;
    for (auto [dim, keep] : llvm::enumerate(slice.getKept())) {
      if (keep)
        places.push_back(dim);
      all.push_back(keep ? tile.indices[kept++] : slice.getIndices()[fixed++]);
    }
    for (int64_t &dim : tile.dims)
      dim = places[dim];
    tile.indices = all;
    buffer = slice.getSource();
  }
  if (buffer.getDefiningOp<NarrowOp>())
    return "the elements past the end of one sequence are those of the next, "
           "which the copy engine would read";
  tile.argument = dyn_cast<BlockArgument>(buffer);
  if (!tile.argument || !isa<KernelOp>(tile.argument.getOwner()->getParentOp()))
    return "its source is no slice of an argument";
  return "";
}
