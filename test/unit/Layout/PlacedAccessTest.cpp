//===- PlacedAccessTest.cpp - Accesses to several placed memories ---------===//
//
// Compares widestAccess and findObstacle, for a tile with any start in one or
// two memories, with an enumeration of all threads.
//
//===----------------------------------------------------------------------===//
#include "Layout/BruteForce.h"
#include "Layout/Samples.h"
#include "tile/Layout/Queries.h"
#include "gtest/gtest.h"
#include <random>

using namespace tile;
using namespace tile::test;

namespace {

/// Returns the offset of a register in a placed memory, by the definition.
int64_t offsetOf(const Layout &dist, const PlacedMemory &memory, int64_t reg,
                 int64_t thread) {
  int64_t lanes = dist.axisSize(kLane);
  Tuple element = define(dist, {reg, thread % lanes, thread / lanes});
  for (size_t d = 0; d < memory.start.size(); ++d)
    element[d] += memory.start[d];
  return define(memory.layout, element)[0];
}

bool isGrouped(const Layout &dist, llvm::ArrayRef<PlacedMemory> memories,
               llvm::ArrayRef<int64_t> order, int64_t width) {
  if (order.size() % width != 0)
    return false;
  int64_t threads = dist.axisSize(kLane) * dist.axisSize(kWarp);
  for (const PlacedMemory &memory : memories)
    for (int64_t thread = 0; thread < threads; ++thread)
      for (size_t i = 0; i < order.size(); ++i) {
        int64_t first = offsetOf(dist, memory, order[i - i % width], thread);
        if (first % width != 0 || offsetOf(dist, memory, order[i], thread) !=
                                      first + int64_t(i % width))
          return false;
      }
  return true;
}

void check(const Layout &dist, llvm::ArrayRef<PlacedMemory> memories) {
  AccessGroups groups = widestAccess(dist, memories, 8);
  EXPECT_TRUE(isGrouped(dist, memories, groups.order, groups.width));
  for (int64_t width : {2, 4, 8}) {
    bool holds = isGrouped(dist, memories, groups.order, width);
    EXPECT_EQ(holds, width <= groups.width) << width;
    std::optional<AccessObstacle> obstacle =
        findObstacle(dist, memories, width);
    EXPECT_EQ(holds, !obstacle) << width;
    if (!obstacle || obstacle->kind == AccessObstacle::Count)
      continue;
    // The witness has the property that it claims.
    const PlacedMemory &memory = memories[obstacle->memory];
    auto offset = [&](llvm::ArrayRef<int64_t> element) {
      Tuple coordinates(element.begin(), element.end());
      for (size_t d = 0; d < memory.start.size(); ++d)
        coordinates[d] += memory.start[d];
      return define(memory.layout, coordinates)[0];
    };
    if (obstacle->kind == AccessObstacle::Alignment) {
      EXPECT_EQ(offset(obstacle->first), obstacle->distance);
      EXPECT_NE(obstacle->distance % width, 0);
      continue;
    }
    EXPECT_EQ(offset(obstacle->second) - offset(obstacle->first),
              obstacle->distance);
    EXPECT_NE(obstacle->distance, 1);
  }
}

class RandomPlacedAccess : public testing::TestWithParam<unsigned> {};

TEST_P(RandomPlacedAccess, AgreesWithEnumeration) {
  std::mt19937 random(GetParam());
  auto pick = [&](int64_t n) { return int64_t(random() % n); };
  constexpr int64_t rows = 16, columns = 32;
  // 16 lanes and 32 registers, in random order.
  Digits registers = {{2, 1, 1}, {2, 1, 2}, {2, 1, 4}, {2, 0, 1}, {2, 0, 8}},
         lanes = {{4, 1, 8}, {4, 0, 2}};
  std::shuffle(registers.begin(), registers.end(), random);
  if (pick(2))
    lanes.push_back({2, 0, 0});
  Layout dist = Layout::distributed(registers, lanes, {}, {rows, columns});

  auto memory = [&]() -> PlacedMemory {
    PlacedMemory placed;
    switch (pick(4)) {
    case 0:
      placed.layout = tmaSwizzled(32, 64, 64);
      break;
    case 1:
      placed.layout = padded(32, 64, 4 * pick(3));
      break;
    case 2: // transposed
      placed.layout = Layout::strided({32, 64}, {1, 32 + 8 * pick(2)});
      break;
    default: // blocks of 4 x 8
      placed.layout = Layout::memory({{Digit{4, 0, 8}, Digit{8, 0, 256}},
                                      {Digit{8, 0, 1}, Digit{8, 0, 32}}},
                                     2048);
    }
    if (pick(3))
      placed.start = {pick(3) * pick(6), pick(9) * (1 << pick(3)) % 32};
    return placed;
  };
  check(dist, {memory()});
  check(dist, {memory(), memory()});
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPlacedAccess, testing::Range(0u, 150u));

/// Both sides allow accesses of 4, but of different elements: together they
/// allow 1. A copy with the groups of one side would write wrong elements.
TEST(PlacedAccess, SidesMustAgree) {
  Layout dist =
      Layout::distributed({{4, 1, 1}, {4, 0, 1}}, {{4, 1, 4}}, {}, {4, 16});
  PlacedMemory rowMajor{Layout::strided({4, 16}, {16, 1})};
  PlacedMemory columnMajor{Layout::strided({4, 16}, {1, 4})};
  EXPECT_EQ(widestAccess(dist, {rowMajor}, 4).width, 4);
  EXPECT_EQ(widestAccess(dist, {columnMajor}, 4).width, 4);
  EXPECT_EQ(widestAccess(dist, {rowMajor, columnMajor}, 4).width, 1);
  auto obstacle = findObstacle(dist, {rowMajor, columnMajor}, 4);
  ASSERT_TRUE(obstacle);
  EXPECT_EQ(obstacle->memory, 1u);
}

} // namespace
