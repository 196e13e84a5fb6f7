//===- AlgebraTest.cpp - The layout algebra on known layouts --------------===//
//
// The results and errors of each operation on small layouts.
// RandomLayoutTest.cpp compares many layouts with enumeration.
//
//===----------------------------------------------------------------------===//
#include "Layout/BruteForce.h"
#include "Layout/Samples.h"
#include "gtest/gtest.h"
#include <map>
#include <set>

using namespace tile;
using namespace tile::test;

namespace {

/// Returns the accumulator of mma.m16n8k16.
Layout accumulator() {
  return Layout::distributed({{2, 1, 1}, {2, 0, 8}}, {{4, 1, 2}, {8, 0, 1}}, {},
                             {16, 8});
}

std::string message(llvm::Error error) {
  return llvm::toString(std::move(error));
}
std::string message(llvm::Expected<Layout> result) {
  return result ? "" : llvm::toString(result.takeError());
}
std::string text(llvm::Expected<Layout> result) {
  return result ? result->str()
                : "error: " + llvm::toString(result.takeError());
}

/// Checks that the composition at x is outer(inner(x)) for all x.
void expectComposed(const Layout &outer, const Layout &inner) {
  llvm::Expected<Layout> result = outer.compose(inner);
  ASSERT_TRUE(bool(result)) << message(std::move(result));
  EXPECT_EQ(message(result->verify()), "");
  for (const auto &[index, coords] : table(inner))
    ASSERT_EQ(define(*result, index), define(outer, coords)) << result->str();
}

TEST(Layout, HeaderExample) {
  Layout acc = accumulator();
  EXPECT_EQ(Tuple({9, 2}), toTuple(acc.element(2, 5, 0)));
  EXPECT_EQ(acc.str(), "register = [2 -> d1, 2 -> d0 * 8], "
                       "lane = [4 -> d1 * 2, 8 -> d0], warp = [] : 16x8");
  EXPECT_EQ(acc.axisSize(kRegister), 4);
  EXPECT_EQ(acc.axisSize(kLane), 32);
  EXPECT_EQ(acc.axisSize(kWarp), 1);
  EXPECT_EQ(acc.inputSize(), 128);
}

TEST(Layout, PrintsReplicationDynamicAndSwizzle) {
  Layout memory = Layout::memory(
      {{{8, 0, 64}, {kDynamic, 0, 512}}, {{64, 0, 1}, {2, 0, 0}}}, kDynamic,
      {3, 3, 3});
  EXPECT_EQ(memory.str(), "x0 = [8 -> d0 * 64, ? -> d0 * 512], "
                          "x1 = [64 -> d0, 2 -> 0] : ?, swizzle<3, 3, 3>");
  Layout inverse = llvm::cantFail(tmaSwizzled(8, 64, 128).invert());
  EXPECT_EQ(inverse.str(),
            "x0 = [64 -> d1, 8 -> d0] : 8x64, input swizzle<3, 3, 3>");
}

TEST(Layout, StridedSize) {
  EXPECT_EQ(Layout::strided({4, 8}, {10, 1}).shape()[0], 38);
  EXPECT_EQ(Layout::strided({4, kDynamic}, {10, 1}).shape()[0], kDynamic);
  // The swizzle permutes blocks of 2^(3+3) elements.
  EXPECT_EQ(Layout::strided({8, 60}, {64, 1}, {3, 3, 3}).shape()[0], 512);
  EXPECT_EQ(message(Layout::strided({8, 60}, {64, 1}, {3, 3, 3}).verify()), "");
}

TEST(Layout, VerifyNamesTheFault) {
  auto verify = [](const Layout &layout) { return message(layout.verify()); };
  EXPECT_EQ(verify(accumulator()), "");
  EXPECT_EQ(verify(Layout::distributed({{4, 0, 1}}, {{4, 0, 4}}, {}, {15})),
            "index (3, 3, 0) has the coordinate 15 in dimension 0, which has "
            "the extent 15");
  EXPECT_EQ(verify(Layout::map({{{4, 1, 1}}}, {4})),
            "digit 0 (4 -> d1) of axis x0 names dimension 1, but there are 1");
  EXPECT_EQ(verify(Layout::map({{{0, 0, 1}}}, {4})),
            "digit 0 (0 -> d0) of axis x0 has an extent that is not positive");
  EXPECT_EQ(verify(Layout::map({{{2, 0, -3}}}, {4})),
            "digit 0 (2 -> d0 * -3) of axis x0 has a negative stride");
  EXPECT_EQ(verify(Layout::map({{{2, 0, 1}}}, {0})),
            "dimension 0 has the extent 0; a positive number is needed");
  EXPECT_EQ(verify(Layout::map({{{kDynamic, 0, 1}, {2, 0, 1}}}, {kDynamic})),
            "digit 0 (? -> d0) of axis x0 is dynamic; only the last digit of "
            "an axis may be");
  EXPECT_EQ(verify(Layout::map({{{kDynamic, 0, 4}}}, {64})),
            "digit 0 (? -> d0 * 4) of axis x0 is dynamic, but dimension 0 has "
            "the extent 64");
  EXPECT_EQ(verify(Layout::distributed({{kDynamic, 0, 1}}, {}, {}, {64})),
            "digit 0 (? -> d0) of axis register is dynamic, but the layout is "
            "distributed");
  EXPECT_EQ(verify(Layout::memory({{{8, 0, 1}}}, 8, {3, 0, 2})),
            "swizzle with 3 bits needs a shift of at least that, but it is 2");
  EXPECT_EQ(verify(Layout::memory({{{8, 0, 1}}}, 8, {33, 0, 40})),
            "swizzle <33, 0, 40> is out of range; each number may be 32 at "
            "most");
  // The offsets are 0 to 4; 4 = 0b100 becomes 5 = 0b101.
  EXPECT_EQ(verify(Layout::memory({{{5, 0, 1}}}, 5, {1, 0, 2})),
            "the swizzle moves index (4) to offset 5 of a storage of 5 "
            "elements");
  EXPECT_EQ(verify(Layout::memory({{{5, 0, 1}}}, 6, {1, 0, 2})), "");
  int64_t huge = int64_t(1) << 50;
  EXPECT_EQ(verify(Layout::map({{{huge, 0, huge}, {huge, 0, huge}}}, {8})),
            "the layout has more than 1099511627776 indices");
  EXPECT_EQ(verify(Layout::distributed({{huge, 0, 0}}, {}, {}, {1})),
            "axis register has more than 1048576 values");
  EXPECT_EQ(verify(Layout::map({{{2, 0, huge}}}, {8})),
            "index (1) has the coordinate 1125899906842624 in dimension 0, "
            "which has the extent 8");
  // A digit of replication may have any dimension.
  EXPECT_EQ(verify(Layout::distributed({}, {{32, 7, 0}}, {}, {1})), "");
}

TEST(Layout, ComposeSplitsDigitsEvenly) {
  // 576 = 8 * 72 columns into panels of 64: a digit of 16 columns at a stride
  // of 8 straddles the panels evenly.
  Layout outer = Layout::memory({{{64, 0, 1}, {9, 0, 4096}}}, 9 * 4096);
  Layout inner = Layout::map({{{8, 0, 1}}, {{72, 0, 8}}}, {576});
  EXPECT_EQ(text(outer.compose(inner)),
            "x0 = [8 -> d0], x1 = [8 -> d0 * 8, 9 -> d0 * 4096] : 36864");
  expectComposed(outer, inner);
}

TEST(Layout, ComposeMixedRadix) {
  for (int64_t columns : {80, 96, 176, 192, 576}) {
    Layout memory = Layout::memory({{{16, 0, 16}, {2, 0, 16 * columns}},
                                    {{16, 0, 1}, {columns / 16, 0, 256}}},
                                   32 * columns);
    expectComposed(memory, tiled(accumulator(), 32, columns, 2));
    expectComposed(memory, blocked(32, columns, 8, 2, 32, 2));
  }
}

TEST(Layout, ComposeKeepsReplicationAndFamily) {
  Layout memory = Layout::strided({16, 8}, {8, 1}, {1, 3, 2});
  Layout dist = Layout::distributed({{2, 1, 1}}, {{4, 1, 2}, {8, 0, 0}},
                                    {{4, 0, 1}}, {16, 8});
  Layout result = llvm::cantFail(memory.compose(dist));
  EXPECT_EQ(result.family(), LayoutFamily::Distributed);
  EXPECT_EQ(result.replication(kLane), 8);
  EXPECT_EQ(result.swizzle(), memory.swizzle());
  expectComposed(memory, dist);
  EXPECT_EQ(llvm::cantFail(memory.compose(Layout::identity({16, 8}))).family(),
            LayoutFamily::Memory);
}

TEST(Layout, ComposePermutedAccumulator) {
  Layout dist = tiled(accumulator(), 64, 128, 4);
  expectComposed(dqMap(64, 128), dist);
  Layout memory = Layout::strided({8, 16, 2, 32}, {1024, 64, 32, 1});
  Layout whole = llvm::cantFail(memory.compose(dqMap(64, 128)));
  expectComposed(whole, dist);
  // The distance of neighbours in a row is 32 elements.
  EXPECT_EQ(whole.offset({0, 1}), 32);

  // The number of rows may be dynamic.
  Layout dynamic =
      llvm::cantFail(Layout::strided({kDynamic, 16, 2, 32}, {1024, 64, 32, 1})
                         .compose(dqMap(kDynamic, 128)));
  EXPECT_EQ(dynamic.str(), "x0 = [8 -> d0 * 4, ? -> d0 * 1024], "
                           "x1 = [2 -> d0 * 32, 4 -> d0, 16 -> d0 * 64] : ?");
  EXPECT_EQ(dynamic.offset({61, 77}), whole.offset({61, 77}));
  EXPECT_TRUE(llvm::cantFail(dynamic.compose(dist)).coalesced().axis(kLane) ==
              llvm::cantFail(whole.compose(dist)).coalesced().axis(kLane));
}

TEST(Layout, ComposeSaysWhyNot) {
  Layout outer = Layout::map({{{4, 0, 1}, {8, 0, 100}}}, {704});
  EXPECT_EQ(message(outer.compose(Layout::map({{{8, 0, 3}}}, {24}))),
            "digit 8 -> d0 * 3 of the inner layout crosses the digit boundary "
            "4 of axis 0");
  EXPECT_EQ(message(outer.compose(Layout::map({{{6, 0, 1}}}, {6}))),
            "digit 6 -> d0 of the inner layout crosses the digit boundary 4 of "
            "axis 0");
  EXPECT_EQ(
      message(outer.compose(Layout::map({{{3, 0, 1}}, {{2, 0, 2}}}, {5}))),
      "the digits of the inner layout that move d0 carry over the digit "
      "boundary 4 of axis 0: they add up to 4");
  EXPECT_EQ(message(outer.compose(Layout::map({{{2, 0, 32}}}, {33}))),
            "coordinate 32 of dimension 0 of the inner layout is outside axis "
            "0 of the outer layout, which has 32 values");
  EXPECT_EQ(message(outer.compose(Layout::identity({4, 4}))),
            "the inner layout has 2 dimensions, but the outer one has 1 axes");
  EXPECT_EQ(
      message(outer.compose(Layout::map({{{kDynamic, 0, 1}}}, {kDynamic}))),
      "coordinate ? of dimension 0 of the inner layout is outside axis 0 "
      "of the outer layout, which has 32 values");
  Layout unbounded = Layout::map({{{4, 0, 1}, {kDynamic, 0, 100}}}, {kDynamic});
  EXPECT_EQ(
      message(unbounded.compose(Layout::map({{{kDynamic, 0, 2}}}, {kDynamic}))),
      "digit ? -> d0 * 2 of the inner layout crosses the digit boundary "
      "4 of axis 0");
  EXPECT_EQ(message(Layout::map({{{4, 0, 1}, {2, 1, 1}}}, {4, 2})
                        .compose(Layout::map({{{2, 0, 5}}}, {6}))),
            "digit 2 -> d0 * 5 of the inner layout crosses the digit boundary "
            "4 of axis 0");
  EXPECT_EQ(message(Layout::identity({512}).compose(tmaSwizzled(8, 64, 128))),
            "the swizzle between the inner and the outer layout does not "
            "cancel");
}

TEST(Layout, InvertSwizzledMemory) {
  Layout memory = tmaSwizzled(64, 192, 128);
  Layout inverse = llvm::cantFail(memory.invert());
  EXPECT_EQ(inverse.inputSwizzle(), memory.swizzle());
  for (const auto &[index, offset] : table(memory))
    ASSERT_EQ(define(inverse, offset), index);
  EXPECT_TRUE(llvm::cantFail(inverse.compose(memory))
                  .equivalent(Layout::identity({64, 192})));
  EXPECT_EQ(llvm::cantFail(inverse.invert()), memory.coalesced());
  // In the other order both swizzles remain, and they cancel each other.
  EXPECT_TRUE(llvm::cantFail(memory.compose(inverse))
                  .equivalent(Layout::identity({64 * 192})));
}

TEST(Layout, InvertSaysWhyNot) {
  EXPECT_EQ(
      message(
          Layout::distributed({}, {{4, 0, 0}, {8, 0, 1}}, {}, {8}).invert()),
      "the layout is not injective: indices (0, 0, 0) and (0, 1, 0) have "
      "the same coordinates");
  EXPECT_EQ(message(Layout::map({{{3, 0, 1}}, {{2, 0, 2}}}, {5}).invert()),
            "the layout is not injective: indices (2, 0) and (0, 1) have the "
            "same coordinates");
  EXPECT_EQ(message(Layout::map({{{4, 0, 2}}}, {8}).invert()),
            "the layout is not surjective: no index has the coordinate 1 in "
            "dimension 0");
  EXPECT_EQ(message(dqMap(kDynamic, 64).invert()),
            "a layout with dynamic extents cannot be inverted");
}

TEST(Layout, Complement) {
  Layout layout = Layout::map({{{2, 0, 3}, {4, 1, 1}}}, {12, 8});
  EXPECT_EQ(text(layout.complement()),
            "x0 = [2 -> d1 * 4, 3 -> d0, 2 -> d0 * 6] : 12x8");
  EXPECT_EQ(message(Layout::map({{{4, 0, 1}, {2, 0, 2}}}, {8}).complement()),
            "the layout is not injective: indices (2) and (4) have the same "
            "coordinates");
  EXPECT_EQ(message(Layout::map({{{4, 0, 1}, {2, 0, 6}}}, {12}).complement()),
            "stride 6 in dimension 0 is not a multiple of the 4 values that "
            "the smaller strides cover");
  EXPECT_EQ(message(Layout::map({{{4, 0, 1}}}, {6}).complement()),
            "the extent 6 of dimension 0 is not a multiple of the 4 values "
            "that the layout spans");
  EXPECT_EQ(message(tmaSwizzled(8, 64, 128).complement()),
            "a swizzled layout has no complement");
}

TEST(Layout, Divide) {
  EXPECT_EQ(text(tmaSwizzled(64, 192, 128).divide({16, 96})),
            "error: a tile of 96 values of axis 1 does not divide evenly at "
            "digit 64 -> d0");
  EXPECT_EQ(text(tmaSwizzled(64, 192, 128).divide({16, 32})),
            "x0 = [16 -> d0 * 64], x1 = [4 -> d0 * 1024], x2 = [32 -> d0], "
            "x3 = [2 -> d0 * 32, 3 -> d0 * 4096] : 12288, swizzle<3, 3, 3>");
  EXPECT_EQ(text(Layout::strided({kDynamic}, {3}).divide({5})),
            "x0 = [5 -> d0 * 3], x1 = [? -> d0 * 15] : ?");
  EXPECT_EQ(message(Layout::strided({8}, {1}).divide({16})),
            "a tile of 16 values is larger than axis 0, which has 8");
  EXPECT_EQ(message(Layout::strided({8}, {1}).divide({0})),
            "the tile of axis 0 has the extent 0; a positive number is needed");
}

TEST(Layout, ProductRepeatsATile) {
  Layout tile = tiled(accumulator(), 64, 80, 4);
  EXPECT_EQ(tile.str(), "register = [2 -> d1, 2 -> d0 * 8, 10 -> d1 * 8, "
                        "1 -> d0 * 64], lane = [4 -> d1 * 2, 8 -> d0], "
                        "warp = [4 -> d0 * 16] : 64x80");
  EXPECT_EQ(message(tile.verify()), "");
  EXPECT_TRUE(tile.isSurjective());
  EXPECT_TRUE(tile.isInjective());
  EXPECT_EQ(message(tmaSwizzled(8, 64, 128).product(tmaSwizzled(8, 64, 128))),
            "a swizzled layout has no product");
}

TEST(Layout, DropDimLeavesReplicatedThreads) {
  Layout rows = accumulator().dropDim(1);
  EXPECT_EQ(rows.str(), "register = [2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], "
                        "warp = [] : 16");
  EXPECT_EQ(rows.replication(kLane), 4);
  Layout scalar = rows.dropDim(0);
  EXPECT_EQ(scalar.rank(), 0u);
  EXPECT_EQ(scalar.axisSize(kRegister), 1);
  EXPECT_EQ(scalar.replication(kLane), 32);
  EXPECT_TRUE(scalar.element(0, 31, 0).empty());
}

TEST(Layout, SaysWhatItCannotDo) {
  Layout dynamic = Layout::map({{{kDynamic, 0, 1}}}, {kDynamic});
  Layout rows = Layout::identity({6, 8});
  EXPECT_EQ(message(dynamic.complement()),
            "a layout with dynamic extents has no complement");
  EXPECT_EQ(message(rows.divide({2})),
            "the tiler has 1 extents, but the layout has 2 axes");
  EXPECT_EQ(message(rows.product(Layout::identity({6}))),
            "the factors have 2 and 1 axes and 2 and 1 dimensions; they must "
            "agree");
  EXPECT_EQ(message(dynamic.product(Layout::identity({2}))),
            "dimension 0 of the repeated layout has a dynamic extent");
  EXPECT_EQ(message(dynamic.reshape({4, 4})),
            "a dynamic shape cannot be reshaped");
  EXPECT_EQ(
      message(Layout::strided({4, 4}, {4, 1}).reshape({16})),
      "the offsets of a memory layout cannot be reshaped; compose it with "
      "a map of its coordinates");
}

TEST(Layout, ReduceInWarpsKeepsOneElementPerWarp) {
  // 2 x 4 warps; along the columns, the ranges of two of the four are not
  // adjacent.
  Layout tile = Layout::distributed(
      {{2, 1, 1}, {2, 0, 0}, {2, 0, 16}}, {{4, 1, 2}, {8, 0, 1}},
      {{2, 0, 8}, {2, 1, 8}, {2, 1, 16}, {3, 0, 0}}, {32, 32});
  Layout partial = tile.reduceInWarps(1);
  EXPECT_EQ(partial.str(),
            "register = [2 -> d0 * 16], lane = [4 -> 0, 8 -> d0], "
            "warp = [2 -> d0 * 8, 2 -> d1, 2 -> d1 * 2, 3 -> 0] : 32x4");
  // Reducing the remaining dimension gives the layout of the complete
  // reduction.
  EXPECT_EQ(partial.dropDim(1), tile.dropDim(1));
  EXPECT_EQ(accumulator().reduceInWarps(1).shape()[1], 1);
}

TEST(Layout, ReduceInThreadsKeepsOneElementPerThread) {
  Layout tile = Layout::distributed(
      {{2, 1, 1}, {2, 0, 0}, {2, 0, 16}}, {{4, 1, 2}, {8, 0, 1}},
      {{2, 0, 8}, {2, 1, 8}, {2, 1, 16}, {3, 0, 0}}, {32, 32});
  Layout partial = tile.reduceInThreads(1);
  EXPECT_EQ(partial.str(),
            "register = [2 -> d0 * 16], lane = [4 -> d1, 8 -> d0], "
            "warp = [2 -> d0 * 8, 2 -> d1 * 4, 2 -> d1 * 8, 3 -> 0] : 32x16");
  EXPECT_EQ(partial.dropDim(1), tile.dropDim(1));
  // Threads share an element of the result if they hold the same elements.
  for (unsigned dim : {0u, 1u}) {
    Layout parts = tile.reduceInThreads(dim);
    EXPECT_TRUE(parts.isSurjective());
    std::map<std::vector<int64_t>, std::set<std::vector<int64_t>>> owners;
    for (int64_t warp = 0; warp < tile.axisSize(kWarp); ++warp)
      for (int64_t lane = 0; lane < tile.axisSize(kLane); ++lane)
        for (int64_t r = 0; r < tile.axisSize(kRegister); ++r) {
          auto from = tile.element(r, lane, warp);
          auto to = parts.element(0, lane, warp);
          owners[{to.begin(), to.end()}].insert({from.begin(), from.end()});
        }
    // Each element of the tile counts once.
    std::set<std::vector<int64_t>> seen;
    size_t count = 0;
    for (auto &[part, elements] : owners) {
      count += elements.size();
      seen.insert(elements.begin(), elements.end());
    }
    EXPECT_EQ(count, seen.size());
  }
}

TEST(Layout, ReduceRunsOfWarps) {
  // Warps are between registers of the columns, and lanes above them.
  Layout tile = Layout::distributed(
      {{2, 1, 1}, {2, 0, 0}, {2, 1, 32}}, {{4, 1, 2}, {2, 1, 64}, {4, 0, 1}},
      {{2, 1, 8}, {2, 0, 4}, {2, 1, 16}}, {8, 128});
  EXPECT_EQ(tile.runInWarps(0), 4);
  EXPECT_EQ(tile.runInWarps(1), 8);
  EXPECT_EQ(accumulator().runInWarps(1), 8);
  EXPECT_EQ(tile.reduceRuns(1, 8).str(),
            "register = [2 -> d1 * 4], lane = [4 -> 0, 2 -> d1 * 8, 4 -> d0], "
            "warp = [2 -> d1, 2 -> d0 * 4, 2 -> d1 * 2] : 8x16");
  EXPECT_EQ(tile.allRuns(1).str(),
            "register = [16 -> d1], lane = [4 -> 0, 2 -> 0, 4 -> d0], "
            "warp = [2 -> 0, 2 -> d0 * 4, 2 -> 0] : 8x16");
  // All elements of a run are in the warps that hold its result, and in no
  // others.
  for (unsigned dim : {0u, 1u}) {
    int64_t length = tile.runInWarps(dim);
    Layout totals = tile.reduceRuns(dim, length);
    std::map<llvm::SmallVector<int64_t, 4>, std::set<int64_t>> elements, runs;
    for (int64_t warp = 0; warp < tile.axisSize(kWarp); ++warp)
      for (int64_t lane = 0; lane < tile.axisSize(kLane); ++lane) {
        for (int64_t reg = 0; reg < tile.axisSize(kRegister); ++reg)
          elements[tile.element(reg, lane, warp)].insert(warp);
        for (int64_t reg = 0; reg < totals.axisSize(kRegister); ++reg)
          runs[totals.element(reg, lane, warp)].insert(warp);
      }
    EXPECT_EQ(elements.size(), 1024u);
    for (auto &[element, warps] : elements) {
      llvm::SmallVector<int64_t, 4> run = element;
      run[dim] /= length;
      EXPECT_EQ(runs[run], warps);
    }
  }
}

TEST(Layout, InsertDimGivesEveryThreadAllOfIt) {
  Layout rows = accumulator().dropDim(1);
  Layout tile = rows.insertDim(1, 3);
  EXPECT_EQ(tile.str(), "register = [3 -> d1, 2 -> d0 * 8], "
                        "lane = [4 -> 0, 8 -> d0], warp = [] : 16x3");
  EXPECT_EQ(tile.dropDim(1), rows);
  EXPECT_EQ(rows.insertDim(0, 3).str(),
            "register = [3 -> d0, 2 -> d1 * 8], lane = [4 -> 0, 8 -> d1], "
            "warp = [] : 3x16");
}

/// Returns the elements that each thread holds, in the order of its registers.
static std::vector<std::vector<llvm::SmallVector<int64_t, 4>>>
elementsOfThreads(const Layout &layout) {
  std::vector<std::vector<llvm::SmallVector<int64_t, 4>>> threads;
  for (int64_t warp = 0; warp < layout.axisSize(kWarp); ++warp)
    for (int64_t lane = 0; lane < layout.axisSize(kLane); ++lane) {
      threads.emplace_back();
      for (int64_t reg = 0; reg < layout.axisSize(kRegister); ++reg)
        threads.back().push_back(layout.element(reg, lane, warp));
    }
  return threads;
}

TEST(Layout, PartsOfTiles) {
  Layout tile = Layout::distributed({{2, 1, 1}, {8, 1, 8}, {3, 0, 8}},
                                    {{4, 1, 2}, {8, 0, 1}}, {}, {24, 64});
  for (auto [rows, columns] :
       {std::pair<int64_t, int64_t>{8, 64}, {24, 32}, {8, 8}, {24, 16}}) {
    std::optional<Layout> part = tile.part({rows, columns});
    ASSERT_TRUE(part);
    EXPECT_EQ(part->shape(), (llvm::ArrayRef<int64_t>{rows, columns}));
    // A thread has the elements of the tile that are in the part.
    auto expected = elementsOfThreads(tile);
    for (auto &thread : expected)
      llvm::erase_if(thread, [&, r = rows, c = columns](auto &element) {
        return element[0] >= r || element[1] >= c;
      });
    EXPECT_EQ(elementsOfThreads(*part), expected);
    Layout again = part->repeated({24 / rows, 64 / columns});
    EXPECT_TRUE(again.equivalentUpToRegisters(tile));
    EXPECT_EQ(again.part({rows, columns}), part);
  }
  // The lanes divide 8 rows and 8 columns, and 3 has no half.
  EXPECT_FALSE(tile.part({4, 64}));
  EXPECT_FALSE(tile.part({24, 4}));
  EXPECT_FALSE(tile.part({12, 64}));
  // Copies stay.
  Layout row = tile.dropDim(0);
  EXPECT_EQ(
      row.part({8})->str(),
      "register = [2 -> d0], lane = [4 -> d0 * 2, 8 -> 0], warp = [] : 8");
}

TEST(Layout, Reshape) {
  EXPECT_EQ(text(Layout::identity({6, 8}).reshape({2, 3, 2, 4})),
            "x0 = [3 -> d1, 2 -> d0], x1 = [4 -> d3, 2 -> d2] : 2x3x2x4");
  EXPECT_EQ(text(Layout::identity({6, 8}).reshape({48})),
            "x0 = [6 -> d0 * 8], x1 = [8 -> d0] : 48");
  EXPECT_EQ(message(Layout::identity({6, 8}).reshape({5, 8})),
            "the shapes (6, 8) and (5, 8) have 48 and 40 elements");
  EXPECT_EQ(message(Layout::identity({6, 8}).reshape({16, 3})),
            "digit 6 -> d0 * 8 of the inner layout crosses the digit boundary "
            "3 of axis 0");
}

TEST(Layout, Equivalence) {
  Layout split = Layout::map({{{2, 0, 1}, {1, 0, 9}, {6, 0, 2}}}, {12});
  EXPECT_TRUE(split.equivalent(Layout::identity({12})));
  EXPECT_FALSE(split == Layout::identity({12}));
  EXPECT_EQ(split.coalesced(), Layout::identity({12}));
  // The bits that the swizzle reads are zero in all offsets.
  EXPECT_TRUE(Layout::memory({{{8, 0, 1}}}, 8, {2, 0, 3})
                  .equivalent(Layout::memory({{{8, 0, 1}}}, 8)));
  EXPECT_FALSE(Layout::memory({{{9, 0, 1}}}, 12, {2, 0, 3})
                   .equivalent(Layout::memory({{{9, 0, 1}}}, 12)));
  Layout reordered = Layout::distributed({{2, 0, 8}, {2, 1, 1}},
                                         {{4, 1, 2}, {8, 0, 1}}, {}, {16, 8});
  EXPECT_FALSE(accumulator().equivalent(reordered));
  EXPECT_TRUE(accumulator().equivalentUpToRegisters(reordered));
  EXPECT_FALSE(
      accumulator().equivalentUpToRegisters(accumulator().permuteDims({1, 0})));
}

TEST(Layout, Contiguity) {
  EXPECT_EQ(accumulator().contiguity(kRegister, 1), 2);
  EXPECT_EQ(accumulator().contiguity(kRegister, 0), 1);
  EXPECT_EQ(tmaSwizzled(64, 128, 128).contiguity(1, 0), 8);
  EXPECT_EQ(padded(64, 64, 4).contiguity(1, 0), 4);
  EXPECT_EQ(padded(64, 96, 0).contiguity(1, 0), 32);
  // Only the row stride limits the contiguity of rows of dynamic length.
  EXPECT_EQ(Layout::strided({8, kDynamic}, {4096, 1}).contiguity(1, 0), 4096);
  EXPECT_EQ(llvm::cantFail(tmaSwizzled(8, 64, 32).invert()).contiguity(0, 1),
            8);
}

TEST(Layout, DynamicQueries) {
  Layout map = dqMap(kDynamic, 64);
  EXPECT_TRUE(map.isInjective());
  EXPECT_TRUE(map.isSurjective());
  EXPECT_EQ(map.imageSize(), kDynamic);
  EXPECT_FALSE(map.isStatic());
  // Rows of dynamic length overlap the next row.
  Layout rows = Layout::strided({kDynamic, kDynamic}, {6, 4});
  Layout::Witness witness;
  EXPECT_FALSE(rows.isInjective(false, &witness));
  EXPECT_NE(witness.first, witness.second);
  EXPECT_EQ(rows.offset(witness.first), rows.offset(witness.second));
  EXPECT_TRUE(Layout::strided({kDynamic, 6}, {6, 1}).isInjective());
  EXPECT_FALSE(Layout::strided({kDynamic, 7}, {6, 1}).isInjective());
  EXPECT_FALSE(Layout::strided({kDynamic, 5}, {6, 1}).isSurjective());
}

} // namespace
