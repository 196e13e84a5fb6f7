//===- TileVectors.cpp - The vector of a tile in registers ----------------===//

#include "TileVectors.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "tile/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace tile;

Layout tile::layoutOf(Value tile) {
  return getCanonicalLayout(cast<RankedTensorType>(tile.getType()));
}

SmallVector<Coordinates> tile::registerCoordinates(const Layout &layout) {
  SmallVector<Coordinates> result;
  for (int64_t r = 0; r < layout.axisSize(kRegister); ++r)
    result.push_back(layout.element(r, 0, 0));
  return result;
}

Value tile::shuffle(Emitter &b, Value vector, ArrayRef<int64_t> indices) {
  auto type = cast<VectorType>(vector.getType());
  if (llvm::equal(indices, llvm::seq<int64_t>(0, type.getNumElements())))
    return vector;
  return vector::ShuffleOp::create(b, vector, vector, indices);
}
