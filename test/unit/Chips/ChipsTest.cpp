//===- ChipsTest.cpp - Every chip of the table ----------------------------===//
#include "tile/Chips/Chips.h"
#include "tile/Chips/Mma.h"
#include "gtest/gtest.h"
#include <set>

using namespace tile;

namespace {

TEST(Chips, RowsAreConsistent) {
  std::set<std::string> names;
  for (const Chip &chip : chips()) {
    SCOPED_TRACE(chip.name.str());
    EXPECT_TRUE(names.insert(chip.name.str()).second);
    EXPECT_EQ(findChip(chip.name), &chip);
    bool isNVIDIA = chip.vendor == Vendor::NVIDIA;
    EXPECT_EQ(isNVIDIA, chip.name.starts_with("sm_"));
    EXPECT_EQ(chip.ptxVersion != 0, isNVIDIA);
    EXPECT_EQ(chip.sharedBytes % 1024, 0);
    EXPECT_FALSE(chip.mma.empty());
    for (llvm::StringRef name : chip.mma) {
      const Mma *row = findMma(name);
      ASSERT_TRUE(row) << name.str();
      EXPECT_EQ(row->warpSize, chip.warpSize) << name.str();
      EXPECT_EQ(row->operation.starts_with("amdgpu."), !isNVIDIA) << name.str();
    }
  }
  EXPECT_EQ(names, (std::set<std::string>{"sm_80", "sm_89", "sm_90a", "sm_100a",
                                          "sm_103a", "sm_120a", "gfx90a",
                                          "gfx942", "gfx950", "gfx1100",
                                          "gfx1151", "gfx1200", "gfx1201"}));
  EXPECT_EQ(findChip("sm_70"), nullptr);
  EXPECT_EQ(findChip(""), nullptr);
}

TEST(Chips, BlocksOfClusters) {
  const Chip &hopper = *findChip("sm_90a");
  // A block holds 32 warps. Blocks of clusters have 8, if 8 of them are
  // enough.
  const std::pair<int64_t, int64_t> blocks[] = {{1, 1},  {32, 1},  {33, 8},
                                                {64, 8}, {128, 8}, {256, 8}};
  for (auto [warps, expected] : blocks)
    EXPECT_EQ(countClusterBlocks(hopper, warps), expected) << warps;
  EXPECT_EQ(countClusterBlocks(*findChip("sm_80"), 64), 1);
}

// A cluster has its blocks in one group of multiprocessors, so large clusters
// leave some idle. The counts of sm_90a are measured; other chips keep an
// eighth idle.
TEST(Chips, CountsThePlacesOfClusters) {
  const Chip &hopper = *findChip("sm_90a");
  for (auto [blocks, places] : {std::pair<int64_t, int64_t>{1, 132},
                                {2, 132},
                                {3, 117},
                                {4, 120},
                                {8, 120}}) {
    EXPECT_EQ(countClusterPlaces(hopper, 1, blocks), places) << blocks;
    EXPECT_EQ(countClusterPlaces(hopper, 2, blocks), 2 * places) << blocks;
  }
  const Chip &blackwell = *findChip("sm_100a");
  for (int64_t blocks = 1; blocks <= blackwell.clusterBlocks; ++blocks) {
    int64_t places = countClusterPlaces(blackwell, 1, blocks);
    EXPECT_EQ(places % blocks, 0) << blocks;
    EXPECT_LE(places, blackwell.processors) << blocks;
    EXPECT_GT(places, blackwell.processors / 2) << blocks;
  }
}

TEST(Chips, EveryInstructionHasAChip) {
  std::set<std::string> used;
  for (const Chip &chip : chips())
    for (llvm::StringRef name : chip.mma)
      used.insert(name.str());
  for (const Mma &row : mmas())
    EXPECT_EQ(used.count(row.name.str()), 1u) << row.name.str();
}

TEST(Chips, SharedMemory) {
  EXPECT_EQ(findChip("sm_80")->sharedBytes, 163 * 1024);
  EXPECT_EQ(findChip("sm_89")->sharedBytes, 99 * 1024);
  EXPECT_EQ(findChip("sm_90a")->sharedBytes, 227 * 1024);
  EXPECT_EQ(findChip("sm_100a")->sharedBytes, 227 * 1024);
  EXPECT_EQ(findChip("sm_103a")->sharedBytes, 227 * 1024);
  EXPECT_EQ(findChip("sm_120a")->sharedBytes, 99 * 1024);
  EXPECT_EQ(findChip("gfx90a")->sharedBytes, 64 * 1024);
  EXPECT_EQ(findChip("gfx942")->sharedBytes, 64 * 1024);
  EXPECT_EQ(findChip("gfx950")->sharedBytes, 160 * 1024);
}

} // namespace
