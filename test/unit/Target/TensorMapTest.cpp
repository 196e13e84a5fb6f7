//===- TensorMapTest.cpp - Boxes of the copy engine -----------------------===//
//
// Every layout against what the copy engine writes, element by element.
//
//===----------------------------------------------------------------------===//

#include "tile/Target/TensorMap.h"
#include "mlir/IR/MLIRContext.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "gtest/gtest.h"

using namespace tile;

namespace {

class TensorMapTest : public ::testing::Test {
protected:
  TensorMapTest() { context.loadDialect<TileDialect>(); }

  Layout swizzled(int64_t rows, int64_t columns, unsigned bytes,
                  unsigned bits) {
    return *SwizzleAttr::get(&context, bytes)
                .getLayout({rows, columns}, bits, nullptr);
  }

  mlir::MLIRContext context;
};

/// Where the copy engine puts an element of a box at the start of memory: rows
/// of `swizzle` bytes, whose chunks of 16 bytes change places with the number
/// of the row, taken modulo what the swizzle covers of 128-byte lines.
int64_t engineByte(int64_t swizzle, int64_t row, int64_t byte) {
  int64_t linear = row * swizzle + byte;
  int64_t chunk = linear / 16, line = linear / 128;
  int64_t chunks = swizzle / 16;
  return (chunk ^ (line % chunks)) * 16 + linear % 16;
}

TEST_F(TensorMapTest, SwizzledTilesAreBoxes) {
  for (unsigned bytes : {32, 64, 128})
    for (unsigned bits : {16, 32})
      for (int64_t rows : {8, 64, 80, 112, 256})
        for (int64_t boxes : {1, 2, 4}) {
          int64_t width = bytes * 8 / bits;
          Layout layout = swizzled(rows, boxes * width, bytes, bits);
          std::optional<TensorMapBoxes> match =
              matchTensorMap(layout, bits / 8);
          if (rows * bytes % 1024 != 0) {
            EXPECT_FALSE(match);
            continue;
          }
          ASSERT_TRUE(match) << bytes << ' ' << bits << ' ' << rows;
          EXPECT_EQ(match->swizzle, bytes);
          EXPECT_EQ(match->rows, rows);
          EXPECT_EQ(match->columns, width);
          EXPECT_EQ(match->count, boxes);
          for (int64_t row = 0; row < rows; ++row)
            for (int64_t column = 0; column < boxes * width; ++column) {
              int64_t byte = column / width * match->distance() * bits / 8 +
                             engineByte(bytes, row, column % width * bits / 8);
              ASSERT_EQ(layout.offset({row, column}) * bits / 8, byte)
                  << bytes << ' ' << bits << " (" << row << ", " << column
                  << ')';
            }
        }
}

TEST_F(TensorMapTest, RowsAreOneBox) {
  for (int64_t columns : {32, 64, 256}) {
    std::optional<TensorMapBoxes> match = matchTensorMap(
        *PaddedAttr::get(&context, 0, {0}).getLayout({columns}, 32, nullptr),
        4);
    ASSERT_TRUE(match);
    EXPECT_EQ(match->swizzle, 0);
    EXPECT_EQ(match->rows, 1);
    EXPECT_EQ(match->columns, columns);
    EXPECT_EQ(match->count, 1);
  }
  // Too long, no whole 128 bytes.
  for (int64_t columns : {512, 16, 24})
    EXPECT_FALSE(matchTensorMap(
        *PaddedAttr::get(&context, 0, {0}).getLayout({columns}, 32, nullptr),
        4));
}

TEST_F(TensorMapTest, OthersAreNone) {
  // More rows than a box has.
  EXPECT_FALSE(matchTensorMap(swizzled(264, 64, 128, 16), 2));
  // Not permuted at all, and of another rank.
  Layout padded =
      *PaddedAttr::get(&context, 8, {1, 0}).getLayout({64, 64}, 16, nullptr);
  EXPECT_FALSE(matchTensorMap(padded, 2));
  Layout ring =
      *SwizzleAttr::get(&context, 128).getLayout({2, 64, 64}, 16, nullptr);
  EXPECT_FALSE(matchTensorMap(ring, 2));
  // Permuted as elements of 16 bits, taken for elements of 32.
  EXPECT_FALSE(matchTensorMap(swizzled(64, 64, 128, 16), 4));
}

} // namespace
