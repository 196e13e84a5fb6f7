//===- LoopScheduleTest.cpp - Schedules of loops against brute force ------===//

#include "tile/Analysis/LoopSchedule.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <numeric>
#include <random>

using namespace tile;

namespace {

/// Returns a graph of `count` nodes. Nodes without predecessors and products
/// are frequent enough for all paths of the search.
LoopGraph drawGraph(std::mt19937 &random, unsigned count) {
  auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  LoopGraph graph;
  graph.issueCycles = draw(0, 3);
  graph.productLatency = draw(0, 3);
  graph.registerLimit = draw(10, 60);
  graph.fixedRegisters = draw(0, 4);
  for (unsigned i = 0; i < count; ++i)
    graph.nodes.push_back({draw(1, 20), draw(0, 2) == 0});
  for (unsigned from = 0; from < count; ++from) {
    LoopGraph::Value value;
    value.from = from;
    value.registers = draw(0, 8);
    value.isHeld = draw(0, 1) == 1;
    for (unsigned to = 0; to < count; ++to) {
      if (from < to && draw(0, 2) == 0) {
        graph.dependences.push_back({from, to, 0});
        value.users.push_back(to);
      }
      if (draw(0, 5) == 0) {
        graph.dependences.push_back({from, to, 1});
        value.nextUsers.push_back(to);
        value.isCarried = true;
      }
      if (from < to && draw(0, 20) == 0)
        graph.together.push_back({from, to});
    }
    graph.values.push_back(value);
  }
  graph.units = {{"matrix", draw(0, 60)}, {"arithmetic", draw(0, 60)}};
  return graph;
}

/// Returns the length of a body, or -1 if the order breaks a dependence. Steps
/// through the clock cycle by cycle.
int64_t simulate(const LoopGraph &graph, const std::vector<unsigned> &stages,
                 const std::vector<unsigned> &order) {
  // The cycle at which each result of this execution of the body is ready.
  std::vector<int64_t> ready(order.size(), -1);
  int64_t stream = 0, matrix = 0, end = 0;
  for (unsigned node : order) {
    std::vector<unsigned> needs;
    for (auto [from, to, distance] : graph.dependences) {
      if (to != node)
        continue;
      int later = int(distance) + int(stages[to]) - int(stages[from]);
      if (later < 0)
        return -1;
      if (later == 0)
        needs.push_back(from);
    }
    for (const LoopGraph::Value &value : graph.values)
      if (value.from == node && value.isHeld)
        for (unsigned user : value.users)
          if (graph.nodes[user].isProduct && stages[user] == 1 &&
              stages[node] == 0)
            needs.push_back(user);
    // Results of the products before the back edge are read first.
    if (graph.nodes[node].isProduct &&
        std::find(stages.begin(), stages.end(), 1u) != stages.end())
      for (auto [from, to, distance] : graph.dependences)
        if (graph.nodes[from].isProduct && !graph.nodes[to].isProduct &&
            distance + stages[to] > stages[from])
          needs.push_back(to);
    for (unsigned need : needs) {
      if (ready[need] < 0)
        return -1;
      while (stream < ready[need])
        ++stream;
    }
    if (graph.nodes[node].isProduct) {
      stream += graph.issueCycles;
      while (matrix < stream)
        ++matrix;
      matrix += graph.nodes[node].cycles;
      ready[node] = matrix + graph.productLatency;
    } else {
      stream += graph.nodes[node].cycles;
      ready[node] = stream;
    }
    end = std::max(end, ready[node]);
  }
  return end;
}

TEST(LoopSchedule, AgreesWithBruteForce) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    unsigned count = 2 + round % 4;
    LoopGraph graph = drawGraph(random, count);
    int64_t resource = computeBounds(graph).resource;
    std::vector<LoopSchedule> all;
    for (unsigned mask = 0; mask + 1 < 1u << count; ++mask) {
      std::vector<unsigned> stages, order(count);
      for (unsigned i = 0; i < count; ++i)
        stages.push_back(mask >> i & 1);
      if (llvm::any_of(graph.together, [&](auto pair) {
            return stages[pair.first] != stages[pair.second];
          }))
        continue;
      std::iota(order.begin(), order.end(), 0);
      do {
        int64_t length = simulate(graph, stages, order);
        if (length < 0)
          continue;
        LoopSchedule schedule = evaluateSchedule(graph, stages, order);
        EXPECT_EQ(schedule.length, length);
        EXPECT_EQ(schedule.interval, std::max(length, resource));
        EXPECT_GE(schedule.peak, schedule.carried + graph.fixedRegisters);
        if (schedule.peak <= graph.registerLimit)
          all.push_back(schedule);
      } while (std::next_permutation(order.begin(), order.end()));
    }
    FoundSchedule found = findSchedule(graph);
    EXPECT_TRUE(found.isExact);
    if (all.empty()) {
      EXPECT_FALSE(found.schedule.isRotated());
      continue;
    }
    auto by = [](auto member) {
      return [member](const LoopSchedule &a, const LoopSchedule &b) {
        return a.*member < b.*member;
      };
    };
    int64_t shortest =
        llvm::min_element(all, by(&LoopSchedule::interval))->interval;
    llvm::erase_if(all, [&](const LoopSchedule &schedule) {
      return schedule.length > shortest + shortest * 2 / 100;
    });
    int64_t fewest =
        llvm::min_element(all, by(&LoopSchedule::carried))->carried;
    llvm::erase_if(all, [&](const LoopSchedule &schedule) {
      return schedule.carried > fewest;
    });
    EXPECT_EQ(found.schedule.carried, fewest);
    EXPECT_EQ(found.schedule.length,
              llvm::min_element(all, by(&LoopSchedule::length))->length);
    EXPECT_EQ(
        simulate(graph,
                 {found.schedule.stages.begin(), found.schedule.stages.end()},
                 {found.schedule.order.begin(), found.schedule.order.end()}),
        found.schedule.length);
  }
}

/// Attention with 128 rows and 128 keys, two groups of warps.
enum { QK, Softmax, Sum, Scale, Cast, PV };

LoopGraph attention(int64_t softmax) {
  LoopGraph graph;
  graph.issueCycles = 32;
  graph.productLatency = 40;
  graph.registerLimit = 240;
  graph.nodes = {{632, true},  {softmax, false}, {150, false},
                 {120, false}, {120, false},     {632, true}};
  graph.dependences = {
      {QK, Softmax, 0},      {Softmax, Sum, 0}, {Softmax, Scale, 0},
      {Softmax, Cast, 0},    {Cast, PV, 0},     {Scale, PV, 0},
      {Softmax, Softmax, 1}, {PV, Scale, 1},    {Sum, Sum, 1}};
  auto value = [&](unsigned from, int64_t registers,
                   llvm::ArrayRef<unsigned> users,
                   llvm::ArrayRef<unsigned> nextUsers, bool isHeld = false) {
    graph.values.push_back({registers,
                            from,
                            {users.begin(), users.end()},
                            {nextUsers.begin(), nextUsers.end()},
                            !nextUsers.empty(),
                            isHeld});
  };
  value(QK, 64, {Softmax}, {});
  value(Softmax, 64, {Sum, Cast}, {});
  value(Softmax, 2, {Scale}, {});
  value(Softmax, 2, {}, {Softmax});
  value(Sum, 2, {}, {Sum});
  value(Scale, 64, {PV}, {});
  value(Cast, 32, {PV}, {}, /*isHeld=*/true);
  value(PV, 64, {}, {Scale});
  graph.units = {{"matrix", 2528}};
  return graph;
}

TEST(LoopSchedule, RotatesAttention) {
  LoopGraph graph = attention(1400);
  FoundSchedule found = findSchedule(graph);
  // FlashAttention-3: QK of an iteration, then PV of the one before.
  EXPECT_EQ(found.schedule.stages,
            (llvm::SmallVector<unsigned>{0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(found.schedule.order,
            (llvm::SmallVector<unsigned>{QK, PV, Softmax, Sum, Scale, Cast}));
  EXPECT_TRUE(found.isExact);
  // Weights, output, maximum, sum.
  EXPECT_EQ(found.schedule.carried, 32 + 64 + 2 + 2);
  EXPECT_EQ(found.schedule.length, 32 + 632 + 40 + 1400 + 150 + 120 + 120);
  EXPECT_LT(found.schedule.interval, getWrittenSchedule(graph).interval);
}

TEST(LoopSchedule, KeepsLoopsThatFillTheMatrixUnit) {
  // Three groups hide one another's exponentials.
  LoopGraph graph = attention(400);
  graph.units = {{"matrix", 3792}};
  EXPECT_FALSE(findSchedule(graph).schedule.isRotated());
}

TEST(LoopSchedule, GroupsWithoutTurnsAreInPhase) {
  // Each product takes as long as those of all groups, so exponentials are
  // never hidden in the loop as written.
  LoopGraph graph = attention(400);
  graph.units = {{"matrix", 3792}};
  graph.groups = 3;
  EXPECT_EQ(getWrittenSchedule(graph).length,
            2 * (32 + 3 * 632 + 40) + 400 + 150 + 120 + 120);
  LoopSchedule found = findSchedule(graph).schedule;
  EXPECT_TRUE(found.isRotated());
  EXPECT_EQ(found.interval, 3792);
}

TEST(LoopSchedule, KeepsLoopsWithoutRegisters) {
  LoopGraph graph = attention(1400);
  int64_t needed = findSchedule(graph).schedule.peak;
  graph.registerLimit = needed - 1;
  LoopSchedule fitting = findSchedule(graph).schedule;
  EXPECT_TRUE(!fitting.isRotated() || fitting.peak < needed);
}

TEST(LoopSchedule, ReadsProductsBeforeOthersStart) {
  // However long the exponentials are, none of them run between QK of an
  // iteration and the scaling of what PV left before the back edge.
  for (int64_t softmax : {600, 1000, 1400, 1800}) {
    SCOPED_TRACE(softmax);
    LoopGraph graph = attention(softmax);
    graph.units = {{"matrix", 1000}};
    LoopSchedule found = findSchedule(graph).schedule;
    ASSERT_TRUE(found.isRotated());
    EXPECT_EQ(found.stages[PV], 1u);
    EXPECT_EQ(found.stages[Scale], 0u);
  }
}

TEST(LoopSchedule, LeavesRoomForRegisters) {
  // The sum of an iteration beside QK of the next one: a shorter interval, and
  // weights in f32 that the loop carries.
  LoopGraph graph = attention(1400);
  graph.units = {{"matrix", 1000}};
  LoopSchedule fast = findSchedule(graph).schedule;
  graph.rotationMargin = graph.registerLimit - fast.peak + 1;
  LoopSchedule small = findSchedule(graph).schedule;
  EXPECT_LT(small.peak, fast.peak);
  EXPECT_GT(small.interval, fast.interval);
  EXPECT_LE(small.interval * 100, fast.interval * 115);
  // No rotation needs so few.
  graph.rotationMargin = graph.registerLimit - 100;
  EXPECT_EQ(findSchedule(graph).schedule.peak, fast.peak);
}

TEST(LoopSchedule, OrdersLoopsThatKeepIterations) {
  std::mt19937 random(3);
  for (int i = 0; i < 20; ++i) {
    LoopGraph graph = drawGraph(random, 7);
    graph.registerLimit = 1000;
    graph.keepsIterations = true;
    LoopSchedule found = findSchedule(graph).schedule;
    EXPECT_FALSE(found.isRotated());
    LoopSchedule written = getWrittenSchedule(graph);
    EXPECT_LE(found.interval, written.interval * 102 / 100 + 1);
    EXPECT_FALSE(drawSchedule(graph, i).isRotated());
  }
}

/// Backward attention in the order of its formulas.
enum { S, P, Narrow, DV, DP, DS, DK, DQ, Out };

LoopGraph backward() {
  LoopGraph graph;
  graph.issueCycles = 32;
  graph.productLatency = 40;
  graph.registerLimit = 1000;
  graph.keepsIterations = true;
  graph.groups = 2;
  graph.nodes = {{512, true}, {1400, false}, {100, false},
                 {512, true}, {512, true},   {300, false, 60},
                 {512, true}, {512, true},   {250, false}};
  graph.dependences = {
      {S, P, 0},   {P, Narrow, 0}, {Narrow, DV, 0}, {DV, DV, 1}, {P, DS, 0},
      {DP, DS, 0}, {DS, DK, 0},    {DK, DK, 1},     {DS, DQ, 0}, {DQ, Out, 0}};
  return graph;
}

TEST(LoopSchedule, StartsSumsBehindOperands) {
  // dV and dK wait for dS; P is narrowed behind dS. dQ starts before dK, so
  // that it leaves beside dK.
  EXPECT_EQ(
      findSchedule(backward()).schedule.order,
      (llvm::SmallVector<unsigned>{S, DP, P, DS, Narrow, DV, DQ, DK, Out}));
  // One group alone has nobody to slow down.
  LoopGraph alone = backward();
  alone.groups = 1;
  llvm::SmallVector<unsigned> order = findSchedule(alone).schedule.order;
  EXPECT_LT(llvm::find(order, unsigned(DV)), llvm::find(order, unsigned(DS)));
}

TEST(LoopSchedule, PrefersTheOrderAsWritten) {
  // An order that is less than 2 percent shorter is not worth a change.
  LoopGraph graph = backward();
  llvm::SmallVector<unsigned> stages(graph.nodes.size(), 0);
  llvm::SmallVector<unsigned> other{S, DP, P, DS, DQ, Narrow, DV, DK, Out};
  LoopSchedule found = findSchedule(graph).schedule;
  LoopSchedule shorter = evaluateSchedule(graph, stages, other);
  EXPECT_LT(shorter.length, found.length);
  EXPECT_LE(found.length * 100, shorter.length * 102);
}

TEST(LoopSchedule, LatencyDelaysReadersOnly) {
  LoopGraph graph;
  graph.nodes = {{10, false, 60}, {30, false}, {100, true}};
  graph.dependences = {{0, 2, 0}};
  EXPECT_EQ(evaluateSchedule(graph, {0, 0, 0}, {0, 1, 2}).length, 70 + 100);
  EXPECT_EQ(evaluateSchedule(graph, {0, 0, 0}, {0, 2, 1}).length, 70 + 100);
}

TEST(LoopSchedule, BoundsRecurrences) {
  LoopGraph graph = attention(1400);
  // The maximum of a step needs that of the step before.
  EXPECT_EQ(computeBounds(graph).recurrence, 1400);
  EXPECT_EQ(computeBounds(graph).resource, 2528);
  EXPECT_EQ(computeBounds(graph).unit, "matrix");
  // Scale and PV alternate.
  graph.nodes[Scale].cycles = 1000;
  EXPECT_EQ(computeBounds(graph).recurrence, 1000 + 32 + 632 + 40);
}

TEST(LoopSchedule, StopsAtItsLimit) {
  std::mt19937 random(2);
  LoopGraph graph = drawGraph(random, 16);
  graph.registerLimit = 1000;
  graph.units.clear();
  FoundSchedule cut = findSchedule(graph, /*limit=*/50);
  EXPECT_FALSE(cut.isExact);
  EXPECT_LE(cut.schedule.interval, getWrittenSchedule(graph).interval);
  FoundSchedule again = findSchedule(graph, /*limit=*/50);
  EXPECT_EQ(cut.schedule.order, again.schedule.order);
}

} // namespace
