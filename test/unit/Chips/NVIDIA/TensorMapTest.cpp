//===- TensorMapTest.cpp - Boxes of tiles that TMA copies -----------------===//
//
// Compares every layout with the addresses that TMA writes, element by element.
//
//===----------------------------------------------------------------------===//

#include "tile/Chips/NVIDIA/TensorMap.h"
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

/// Returns the address at which TMA writes an element of a box at address 0.
/// Rows have `swizzle` bytes. Their chunks of 16 bytes are permuted by the row
/// number, modulo the number of 128-byte lines that the swizzle covers.
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
  // Too long, and not a multiple of 128 bytes.
  for (int64_t columns : {512, 16, 24})
    EXPECT_FALSE(matchTensorMap(
        *PaddedAttr::get(&context, 0, {0}).getLayout({columns}, 32, nullptr),
        4));
}

TEST_F(TensorMapTest, OthersAreNone) {
  // More rows than a box can have.
  EXPECT_FALSE(matchTensorMap(swizzled(264, 64, 128, 16), 2));
  // Not permuted, and of another rank.
  Layout padded =
      *PaddedAttr::get(&context, 8, {1, 0}).getLayout({64, 64}, 16, nullptr);
  EXPECT_FALSE(matchTensorMap(padded, 2));
  Layout ring =
      *SwizzleAttr::get(&context, 128).getLayout({2, 64, 64}, 16, nullptr);
  EXPECT_FALSE(matchTensorMap(ring, 2));
  // Chunks of 8 bytes.
  Layout chunks =
      *SwizzleAttr::get(&context, 64, 32, 8).getLayout({64, 64}, 16, nullptr);
  EXPECT_FALSE(matchTensorMap(chunks, 2));
  // Permuted as 16-bit elements, but used with 32-bit elements.
  EXPECT_FALSE(matchTensorMap(swizzled(64, 64, 128, 16), 4));
}

} // namespace
