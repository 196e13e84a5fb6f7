//===- ClocksTest.cpp - Vector clocks, against paths of messages ----------===//
//
// A run is a list of steps and of messages between threads. Compares the clocks
// with a search of the messages for what happened before a step.
//
//===----------------------------------------------------------------------===//

#include "Executor/Clocks.h"
#include "gtest/gtest.h"
#include <random>
#include <set>

using namespace tile::cpu;

namespace {

using Point = std::pair<unsigned, uint32_t>; // thread, step

TEST(Clocks, KnowWhatMessagesTell) {
  constexpr unsigned threads = 5;
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    std::vector<Clock> clocks(threads);
    // For each thread, all points that it knows of.
    std::vector<std::set<Point>> heard(threads);
    for (unsigned t = 0; t < threads; ++t) {
      clocks[t].own.resize(threads);
      clocks[t].own[t] = 1;
      heard[t].insert({t, 1});
    }
    for (unsigned i = 0; i < 60; ++i) {
      unsigned from = random() % threads, to = random() % threads;
      if (from == to)
        continue;
      clocks[to].join(clocks[from]);
      heard[to].insert(heard[from].begin(), heard[from].end());
      uint32_t next = ++clocks[from].own[from];
      heard[from].insert({from, next});
      for (unsigned t = 0; t < threads; ++t)
        for (unsigned u = 0; u < threads; ++u)
          for (uint32_t step = 1; step <= clocks[u].own[u]; ++step)
            EXPECT_EQ(step <= clocks[t].own[u], heard[t].count({u, step}) != 0)
                << t << " of " << u << " at " << step << ", seed " << seed;
    }
  }
}

TEST(Clocks, JoinTakesTheLatestOfEverything) {
  Clock a, b;
  a.own = {3, 1};
  b.own = {2, 5, 7};
  a.others[4] = {1, 9};
  b.others[4] = {6};
  b.others[8] = {2};
  b.fenced = {0, 4};
  a.join(b);
  EXPECT_EQ(a.own, (std::vector<uint32_t>{3, 5, 7}));
  EXPECT_EQ(a.others[4], (std::vector<uint32_t>{6, 9}));
  EXPECT_EQ(a.others[8], (std::vector<uint32_t>{2}));
  EXPECT_EQ(a.fenced, (std::vector<uint32_t>{0, 4}));
  Clock same = a;
  a.join(b);
  a.join(Clock());
  EXPECT_EQ(a.own, same.own);
  EXPECT_EQ(a.others, same.others);
  a.clear();
  EXPECT_TRUE(a.own.empty());
  EXPECT_TRUE(a.others.empty());
  EXPECT_TRUE(a.fenced.empty());
}

} // namespace
