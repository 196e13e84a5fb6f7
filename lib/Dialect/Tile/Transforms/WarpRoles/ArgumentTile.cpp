//===- ArgumentTile.cpp - Tiles of a kernel's arguments -------------------===//

#include "ArgumentTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tile/Analysis/AccessWidth.h"

using namespace mlir;
using namespace tile;

void ArgumentTile::addStart(OpBuilder &builder, Location loc) {
  if (!start || isRagged())
    return;
  Value &index = indices[dims.front()];
  index = arith::AddIOp::create(builder, loc, start, index);
  start = Value();
}

Refusal tile::findArgumentTile(Value buffer, ValueRange indices,
                               BufferType dest, ArgumentTile &tile) {
  tile.indices.assign(indices.begin(), indices.end());
  tile.dims.clear();
  tile.start = tile.length = tile.table = Value();
  int64_t narrowed = 0;
  for (int64_t dim = 0; dim < cast<BufferType>(buffer.getType()).getRank();
       ++dim)
    tile.dims.push_back(dim);
  if (auto paged = buffer.getDefiningOp<PagedOp>()) {
    int64_t page = cast<StridedAttr>(paged.getType().getLayout()).getPage();
    int64_t rows = dest.getShape().front();
    if (Refusal refusal = checkPageRows(page, rows))
      return refusal;
    if (knownDivisor(indices.front()) % getPageRows(page, rows) != 0)
      return "its tiles may begin anywhere in a page";
    // Pages have one more dimension, the index along which is not used.
    Value unused = tile.indices.front();
    tile.indices.insert(tile.indices.begin(), unused);
    for (int64_t &dim : tile.dims)
      ++dim;
    narrowed = 1;
    tile.table = paged.getTable();
    tile.length = paged.getLength();
    buffer = paged.getSource();
  }
  while (true) {
    if (auto narrow = buffer.getDefiningOp<NarrowOp>()) {
      if (tile.length)
        return "its source is a part of a part of an argument";
      narrowed = narrow.getDim();
      tile.start = narrow.getStart();
      tile.length = narrow.getLength();
      buffer = narrow.getSource();
      continue;
    }
    auto slice = buffer.getDefiningOp<SliceOp>();
    if (!slice)
      break;
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
    narrowed = places[narrowed];
    if (tile.table)
      tile.pageDim = places[tile.pageDim];
    tile.indices = all;
    buffer = slice.getSource();
  }
  tile.argument = dyn_cast<BlockArgument>(buffer);
  if (!tile.argument || !isa<KernelOp>(tile.argument.getOwner()->getParentOp()))
    return "its source is no slice of an argument";
  if (tile.length && narrowed != tile.dims.front())
    return "its source is a part of other dimensions than its rows";
  // Along columns, TMA starts at multiples of 16 bytes.
  bool canStart =
      tile.start &&
      (tile.dims.size() > 1 ||
       knownDivisor(tile.start) * dest.getElementBits() % (16 * 8) == 0);
  if (canStart &&
      isWithin(tile.indices[narrowed], dest.getShape().front(), tile.length))
    tile.length = Value();
  return checkTensorMap(cast<BufferType>(tile.argument.getType()), tile.dims,
                        dest, tile.isRagged());
}

BufferType tile::findSwizzledTile(RankedTensorType tile) {
  int64_t bytes =
      tile.getDimSize(tile.getRank() - 1) * tile.getElementTypeBitWidth() / 8;
  for (unsigned swizzle : {128, 64, 32})
    if (bytes % swizzle == 0)
      return BufferType::get(
          tile.getContext(), tile.getShape(), tile.getElementType(),
          SwizzleAttr::get(tile.getContext(), swizzle), MemorySpace::Shared);
  return {};
}
