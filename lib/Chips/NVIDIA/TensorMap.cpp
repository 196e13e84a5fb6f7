//===- TensorMap.cpp - Boxes of tiles that TMA copies ---------------------===//

#include "tile/Chips/NVIDIA/TensorMap.h"

using namespace tile;

/// Returns the box of a row of contiguous elements.
static std::optional<TensorMapBoxes> matchRow(const Layout &memory,
                                              int64_t elementBytes) {
  TensorMapBoxes boxes{/*swizzle=*/0, /*rows=*/1, memory.axisSize(0),
                       /*count=*/1};
  if (memory.swizzle().bits != 0 || boxes.columns > kTensorMapBox ||
      boxes.columns * elementBytes % 128 != 0)
    return std::nullopt;
  for (int64_t column = 0; column < boxes.columns; ++column)
    if (memory.offset({column}) != column)
      return std::nullopt;
  return boxes;
}

std::optional<TensorMapBoxes> tile::matchTensorMap(const Layout &memory,
                                                   int64_t elementBytes) {
  if (memory.numAxes() == 1)
    return matchRow(memory, elementBytes);
  const Swizzle &swizzle = memory.swizzle();
  if (memory.numAxes() != 2 || swizzle.bits < 1 || swizzle.bits > 3)
    return std::nullopt;
  TensorMapBoxes boxes;
  boxes.swizzle = int64_t(16) << swizzle.bits;
  boxes.rows = memory.axisSize(0);
  boxes.columns = boxes.swizzle / elementBytes;
  if (memory.axisSize(1) % boxes.columns != 0 || boxes.rows > kTensorMapBox ||
      boxes.distance() * elementBytes % 1024 != 0)
    return std::nullopt;
  boxes.count = memory.axisSize(1) / boxes.columns;
  // The hardware permutes chunks of 16 bytes by the address bits from 128 bytes
  // on.
  int64_t chunk = 16 / elementBytes;
  Layout linear = Layout::memory(
      {Digits(memory.axis(0)), Digits(memory.axis(1))}, kDynamic);
  llvm::SmallVector<int64_t> columnOffsets;
  for (int64_t column = 0; column < memory.axisSize(1); ++column)
    columnOffsets.push_back(linear.offset({0, column}));
  for (int64_t row = 0; row < boxes.rows; ++row) {
    int64_t rowOffset = linear.offset({row, 0});
    for (auto [column, columnOffset] : llvm::enumerate(columnOffsets)) {
      int64_t offset = int64_t(column) / boxes.columns * boxes.distance() +
                       row * boxes.columns + int64_t(column) % boxes.columns;
      int64_t permuted =
          offset ^
          (offset * elementBytes / 128 & (boxes.swizzle / 16 - 1)) * chunk;
      if (swizzle(rowOffset + columnOffset) != permuted)
        return std::nullopt;
    }
  }
  return boxes;
}
