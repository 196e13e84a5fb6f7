//===- SplitReductionTest.cpp - How blocks share tiles --------------------===//

#include "tile/Analysis/SplitReduction.h"
#include "gtest/gtest.h"

using namespace tile;

// The columns and the rests have a block each for the same number of units, all
// tiles that are left over or none are shared, and no block has many parts.
TEST(SplitReductionTest, streamK) {
  for (int64_t blocks = 2; blocks <= 140; ++blocks)
    for (int64_t tiles = 0; tiles <= 2 * blocks; ++tiles) {
      StreamKPlan plan(tiles, blocks);
      if (plan.left == 0) {
        EXPECT_EQ(plan.columns, 0);
        EXPECT_EQ(plan.rests, 0);
        int64_t left = tiles % blocks;
        // Blocks beyond the tiles are few, and would have most of these.
        EXPECT_TRUE(left == 0 || (blocks - left) * kMostRests < left);
        continue;
      }
      EXPECT_EQ(plan.left, tiles % blocks);
      EXPECT_GE(plan.columns, 1);
      EXPECT_EQ(plan.columns * plan.left + plan.rests, blocks);
      if (plan.rests != 0) {
        EXPECT_LE(plan.left, kMostRests * plan.rests);
      }
    }
}
