//===- MatrixDescriptorTest.cpp - wgmma operands in shared memory ---------===//
//
// Compares descriptors with the layouts of the PTX ISA, given here as TMA
// writes them: panels of W bytes, row after row, with chunks of 16 bytes
// permuted by the row.
//
//===----------------------------------------------------------------------===//
#include "tile/Chips/NVIDIA/MatrixDescriptor.h"
#include "Layout/BruteForce.h"
#include "gtest/gtest.h"

using namespace tile;
using namespace tile::test;

namespace {

/// #tile.swizzle<W> of rows x columns elements of 16 bits.
Layout swizzled(int64_t rows, int64_t columns, int64_t bytes) {
  int64_t width = bytes / 2;
  Swizzle swizzle;
  swizzle.bits = bytes == 128 ? 3 : bytes == 64 ? 2 : 1;
  swizzle.base = swizzle.shift = 3;
  return Layout::memory(
      {Digits{{rows, 0, width}},
       Digits{{width, 0, 1}, {columns / width, 0, rows * width}}},
      rows * columns, swizzle);
}

/// Returns the byte offset of an element.
int64_t place(int64_t row, int64_t column, int64_t rows, int64_t bytes) {
  int64_t byte = column * 2 % bytes, panel = column * 2 / bytes;
  int64_t address = panel * rows * bytes + row * bytes + byte;
  return address ^ ((address / 128 % (bytes / 16)) * 16);
}

TEST(MatrixDescriptor, LayoutIsThatOfTheDocument) {
  for (int64_t bytes : {32, 64, 128})
    for (int64_t row = 0; row < 64; ++row)
      for (int64_t column = 0; column < 128; ++column)
        EXPECT_EQ(2 * swizzled(64, 128, bytes).offset({row, column}),
                  place(row, column, 64, bytes));
}

TEST(MatrixDescriptor, MajorOfK) {
  for (int64_t bytes : {32, 64, 128}) {
    Layout memory = swizzled(64, 128, bytes);
    for (int64_t k = 0; k < 128; k += 16) {
      auto match = matchMatrixDescriptor(memory, 0, {0, k}, 64, 16, 2);
      ASSERT_TRUE(match) << bytes << " " << k;
      EXPECT_EQ(*match, (MatrixDescriptor{bytes, 0, 8 * bytes, false}));
    }
  }
}

TEST(MatrixDescriptor, MajorOfMN) {
  for (int64_t bytes : {32, 64, 128}) {
    Layout memory = swizzled(64, 128, bytes);
    for (int64_t k = 0; k < 64; k += 16) {
      auto match = matchMatrixDescriptor(memory, 1, {k, 0}, 128, 16, 2);
      ASSERT_TRUE(match) << bytes << " " << k;
      EXPECT_EQ(*match, (MatrixDescriptor{bytes, 64 * bytes, 8 * bytes, true}));
    }
  }
}

TEST(MatrixDescriptor, Bits) {
  MatrixDescriptor descriptor{128, 8192, 1024, true};
  EXPECT_EQ(descriptor.bits(),
            uint64_t(1) << 62 | uint64_t(64) << 32 | uint64_t(512) << 16);
  EXPECT_EQ((MatrixDescriptor{64, 0, 512, false}).bits(),
            uint64_t(2) << 62 | uint64_t(32) << 32);
  EXPECT_EQ((MatrixDescriptor{32, 0, 256, false}).bits(),
            uint64_t(3) << 62 | uint64_t(16) << 32);
}

TEST(MatrixDescriptor, RefusesWhatTheHardwareCannotRead) {
  // No swizzle, padded rows, a start inside the 8 rows of the permutation, and
  // depths that cross a panel.
  Layout plain = Layout::strided({64, 64}, {64, 1});
  EXPECT_FALSE(matchMatrixDescriptor(plain, 0, {0, 0}, 64, 16, 2));
  Layout padded =
      Layout::strided({64, 64}, {72, 1}, swizzled(64, 64, 128).swizzle());
  EXPECT_FALSE(matchMatrixDescriptor(padded, 0, {0, 0}, 64, 16, 2));
  Layout memory = swizzled(64, 128, 32);
  EXPECT_FALSE(matchMatrixDescriptor(memory, 0, {4, 0}, 32, 16, 2));
  EXPECT_FALSE(matchMatrixDescriptor(memory, 0, {0, 8}, 64, 16, 2));
  EXPECT_FALSE(matchMatrixDescriptor(memory, 0, {0, 0}, 64, 8, 2));
}

/// Elements of one byte: the chunks of 16 bytes have 16 elements, and one
/// instruction contracts 32.
TEST(MatrixDescriptor, ElementsOfOneByte) {
  for (unsigned bits : {1u, 2u, 3u}) {
    int64_t bytes = int64_t(16) << bits;
    // 64 rows of `bytes` elements, whose chunks the row permutes.
    Layout memory =
        Layout::strided({64, bytes}, {bytes, 1}, Swizzle{bits, 4, 3});
    for (int64_t k = 0; k < bytes; k += 32) {
      auto match = matchMatrixDescriptor(memory, 0, {0, k}, 64, 32, 1);
      ASSERT_TRUE(match) << bytes << " " << k;
      EXPECT_EQ(*match, (MatrixDescriptor{bytes, 0, 8 * bytes, false}));
    }
    EXPECT_FALSE(matchMatrixDescriptor(memory, 0, {0, 0}, 64, 32, 2));
  }
}

} // namespace
