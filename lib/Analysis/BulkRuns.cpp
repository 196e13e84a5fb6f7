//===- BulkRuns.cpp - Contiguous runs of bulk reductions ------------------===//

#include "tile/Analysis/BulkRuns.h"

using namespace mlir;
using namespace tile;

BulkRuns tile::findBulkRuns(BufferType source, const MemoryOperand &dest) {
  BulkRuns result;
  llvm::Expected<Layout> stored = source.getCanonicalLayout().invert();
  if (!stored) {
    result.refusal = "the tile is not stored without gaps: " +
                     llvm::toString(stored.takeError());
    return result;
  }
  if (stored->inputSwizzle().bits != 0) {
    result.refusal = "the tile is swizzled";
    return result;
  }
  result.order =
      Layout::distributed(Digits(stored->axis(0)), {}, {}, source.getShape());

  // Accesses of 16 bytes by threads are aligned and entirely inside or outside
  // the bounds.
  int64_t piece = kBulkBytes * 8 / source.getElementBits();
  WidthRequest request = anyWidth(dest.type, kBulkBytes);
  AccessWidth width = decideWidth(result.order, dest, request);
  if (width.groups.width != piece) {
    result.refusal = width.limits.front().str();
    return result;
  }
  SmallVector<int64_t> dynamic(dest.type.getRank(), kDynamic);
  Layout memory = dest.type.getTileMemory(dynamic);
  // Along each dimension, the elements of one block are entirely inside the
  // extents, or in storage that the map has beyond them. The start is a
  // multiple of the period; otherwise accesses would be narrower. These are the
  // blocks of all elements, along the dimensions that may end within the tile.
  std::vector<std::vector<int64_t>> blocks;
  for (auto [dim, index] : llvm::enumerate(dest.indices)) {
    if (isInBounds(dest.type, index, dim, source.getShape()[dim]))
      continue;
    int64_t period = dest.type.getPeriod(dim);
    blocks.push_back(registerCoordinates(result.order, dim));
    for (int64_t &block : blocks.back())
      block /= period;
  }
  SmallVector<int64_t> offsets = registerOffsets(result.order, memory);
  result.runs.push_back({0, 1});
  for (size_t i = 1; i < offsets.size(); ++i)
    if (offsets[i] == offsets[i - 1] + 1 &&
        llvm::all_of(blocks, [&](const std::vector<int64_t> &numbers) {
          return numbers[i - 1] == numbers[i];
        }))
      ++result.runs.back().count;
    else
      result.runs.push_back({int64_t(i), 1});
  for (const BulkRun &run : result.runs)
    if (run.begin % piece != 0 || run.count % piece != 0) {
      result.refusal = "neighbours in both buffers are no multiples of " +
                       std::to_string(kBulkBytes) + " bytes";
      result.runs.clear();
      return result;
    }
  return result;
}
