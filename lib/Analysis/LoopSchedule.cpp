//===- LoopSchedule.cpp - Orders of the operations of a loop --------------===//
//
// The stages of all nodes are enumerated, as far as dependences allow; a loop
// of attention has less than a hundred such assignments. For each one, a branch
// and bound over the orders of the body finds the shortest. The matrix unit
// works in the order of issue.
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/LoopSchedule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <algorithm>
#include <limits>
#include <optional>
#include <random>

using namespace tile;

static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
/// Percent by which intervals may differ and count as equal: cycles are known
/// less exactly.
static constexpr int64_t kTolerance = 2;
/// Percent by which an interval may be longer if spills become less likely.
static constexpr int64_t kRoomTolerance = 15;

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// Returns the cycles from the start of a node until its result can be read.
static int64_t getLatency(const LoopGraph &graph, unsigned node) {
  const LoopGraph::Node &each = graph.nodes[node];
  return each.isProduct ? graph.issueCycles + each.cycles + graph.productLatency
                        : each.cycles + each.latency;
}

/// Returns true if a cycle of dependences takes longer than `interval` for each
/// iteration.
static bool hasLongerRecurrence(const LoopGraph &graph, int64_t interval) {
  llvm::SmallVector<int64_t> start(graph.nodes.size(), 0);
  for (size_t round = 0; round <= graph.nodes.size(); ++round) {
    bool changed = false;
    for (auto [from, to, distance] : graph.dependences) {
      int64_t earliest =
          start[from] + getLatency(graph, from) - int64_t(distance) * interval;
      changed |= earliest > start[to];
      start[to] = std::max(start[to], earliest);
    }
    if (!changed)
      return false;
  }
  return true;
}

LoopBounds tile::computeBounds(const LoopGraph &graph) {
  LoopBounds bounds;
  for (const LoopGraph::Unit &unit : graph.units)
    if (unit.cycles > bounds.resource) {
      bounds.resource = unit.cycles;
      bounds.unit = unit.name;
    }
  // The recurrence is at most the time of all nodes one after the other.
  int64_t high = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    high += getLatency(graph, i);
  int64_t low = 0;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (hasLongerRecurrence(graph, middle))
      low = middle + 1;
    else
      high = middle;
  }
  bounds.recurrence = low;
  return bounds;
}

//===----------------------------------------------------------------------===//
// One body
//===----------------------------------------------------------------------===//

namespace {
/// The nodes that a node follows in an execution of the body: those whose
/// results it waits for, and those that it only starts after.
struct Before {
  llvm::SmallVector<unsigned, 4> awaited, others;
};

/// The nodes before which each node may not run.
using Predecessors = llvm::SmallVector<Before>;

/// The clocks of a body after some of its nodes.
struct Clocks {
  int64_t stream = 0, matrix = 0, end = 0;
};
} // namespace

/// Delays sums: products whose results no node of the iteration reads. Sums
/// start after the operands of all products. Operands that only sums read are
/// computed after the other operands. Without turns, a sum that starts early
/// slows down the products that other groups wait for
/// (docs/notes/hopper-backward.md, "Start dV before dS").
static void delaySums(const LoopGraph &graph, Predecessors &predecessors) {
  unsigned size = graph.nodes.size();
  llvm::SmallVector<bool> isSum(size), isOperand(size, false),
      isOfSums(size, true);
  // Nodes are in the order as written, so readers come later.
  for (unsigned node = size; node-- > 0;) {
    bool isProduct = graph.nodes[node].isProduct;
    isSum[node] = isProduct;
    for (auto [from, to, distance] : graph.dependences) {
      if (from != node || distance != 0)
        continue;
      isSum[node] = false;
      isOperand[node] |=
          !isProduct && (graph.nodes[to].isProduct || isOperand[to]);
      isOfSums[node] &= isSum[to];
    }
  }
  for (unsigned node = 0; node < size; ++node) {
    bool isDelayed = isOperand[node] && isOfSums[node];
    for (unsigned other = 0; other < size; ++other)
      if (isOperand[other] && (isSum[node] || (isDelayed && !isOfSums[other])))
        predecessors[node].others.push_back(other);
  }
}

/// Returns true if all nodes that come before a node are placed.
static bool follows(const Before &before,
                    llvm::function_ref<bool(unsigned)> isPlaced) {
  return llvm::all_of(before.awaited, isPlaced) &&
         llvm::all_of(before.others, isPlaced);
}

/// Returns what comes before each node. The register operands of a
/// product are computed for the next iteration while those of this one are
/// still read, so the product ends first.
///
/// In a rotated loop, a node that reads the result of a product across the back
/// edge comes before all products. If one is in flight, ptxas does not know
/// that the other has ended, and waits for both (warning C7517).
static Predecessors findPredecessors(const LoopGraph &graph,
                                     llvm::ArrayRef<unsigned> stages) {
  Predecessors predecessors(graph.nodes.size());
  for (auto [from, to, distance] : graph.dependences)
    if (distance + stages[to] == stages[from])
      predecessors[to].awaited.push_back(from);
  for (const LoopGraph::Value &value : graph.values)
    for (unsigned user : value.users)
      if (value.isHeld && graph.nodes[user].isProduct &&
          stages[user] > stages[value.from])
        predecessors[value.from].awaited.push_back(user);
  if (!llvm::is_contained(stages, 1u)) {
    if (graph.groups > 1)
      delaySums(graph, predecessors);
    return predecessors;
  }
  for (auto [from, to, distance] : graph.dependences)
    if (graph.nodes[from].isProduct && !graph.nodes[to].isProduct &&
        distance + stages[to] > stages[from])
      for (unsigned node = 0; node < graph.nodes.size(); ++node)
        if (graph.nodes[node].isProduct)
          predecessors[node].awaited.push_back(to);
  return predecessors;
}

/// Returns the groups whose products run at the same time.
static int64_t countGroupsInPhase(const LoopGraph &graph,
                                  llvm::ArrayRef<unsigned> stages) {
  return llvm::is_contained(stages, 1u) ? 1 : graph.groups;
}

/// Runs `node` after the nodes whose results are ready at the cycles `ready`,
/// beside those of other groups in phase.
static void place(const LoopGraph &graph, const Predecessors &predecessors,
                  unsigned node, int64_t groups,
                  llvm::MutableArrayRef<int64_t> ready, Clocks &clocks) {
  const LoopGraph::Node &each = graph.nodes[node];
  for (unsigned before : predecessors[node].awaited)
    clocks.stream = std::max(clocks.stream, ready[before]);
  if (each.isProduct) {
    clocks.stream += graph.issueCycles;
    clocks.matrix =
        std::max(clocks.matrix, clocks.stream) + each.cycles * groups;
    ready[node] = clocks.matrix + graph.productLatency;
  } else {
    clocks.stream += each.cycles;
    ready[node] = clocks.stream + each.latency;
  }
  clocks.end = std::max(clocks.end, ready[node]);
}

/// Returns the registers of the values that the loop carries.
static int64_t countCarried(const LoopGraph &graph,
                            llvm::ArrayRef<unsigned> stages) {
  int64_t registers = 0;
  for (const LoopGraph::Value &value : graph.values) {
    auto isLate = [&](unsigned user) { return stages[user] == 1; };
    bool isUsedLate = llvm::any_of(value.nextUsers, isLate);
    if (stages[value.from] == 1) {
      // The rest of the same body reads it, or the next one.
      registers += isUsedLate ? value.registers : 0;
      continue;
    }
    if (value.isCarried || llvm::any_of(value.users, isLate))
      registers += value.registers;
    // It is two iterations old then.
    if (isUsedLate)
      registers += value.registers;
  }
  return registers;
}

/// Returns the most registers that are live at once. Results replace operands
/// that are not needed any more; a product reads its operands until its result
/// is used.
static int64_t countPeak(const LoopGraph &graph,
                         llvm::ArrayRef<unsigned> stages,
                         llvm::ArrayRef<unsigned> order) {
  int64_t size = order.size();
  llvm::SmallVector<int64_t> position(size), ends(size);
  for (auto [i, node] : llvm::enumerate(order))
    position[node] = i;
  for (unsigned node = 0; node < graph.nodes.size(); ++node) {
    ends[node] = position[node];
    if (!graph.nodes[node].isProduct)
      continue;
    ends[node] = size;
    for (auto [from, to, distance] : graph.dependences)
      if (from == node && distance + stages[to] == stages[from])
        ends[node] = std::min(ends[node], position[to]);
  }
  // live[p] are the registers that are live before the node at position p. A
  // value of several executions of the body counts several times.
  int64_t period = size + 1;
  llvm::SmallVector<int64_t> live(period, graph.fixedRegisters);
  for (const LoopGraph::Value &value : graph.values) {
    int64_t begin = position[value.from] + 1, end = begin;
    auto addReader = [&](unsigned user, unsigned distance) {
      int64_t later = distance + stages[user] - stages[value.from];
      end = std::max(end, later * period +
                              (value.isHeld ? ends[user] : position[user]));
    };
    for (unsigned user : value.users)
      addReader(user, 0);
    for (unsigned user : value.nextUsers)
      addReader(user, 1);
    if (value.isCarried && stages[value.from] == 0)
      end = std::max(end, period);
    for (int64_t p = begin; p <= end; ++p)
      live[p % period] += value.registers;
  }
  return *llvm::max_element(live);
}

LoopSchedule tile::evaluateSchedule(const LoopGraph &graph,
                                    llvm::ArrayRef<unsigned> stages,
                                    llvm::ArrayRef<unsigned> order) {
  LoopSchedule schedule;
  schedule.stages.assign(stages.begin(), stages.end());
  schedule.order.assign(order.begin(), order.end());
  Predecessors predecessors = findPredecessors(graph, stages);
  llvm::SmallVector<int64_t> ready(graph.nodes.size(), 0);
  Clocks clocks;
  int64_t groups = countGroupsInPhase(graph, stages);
  for (unsigned node : order)
    place(graph, predecessors, node, groups, ready, clocks);
  schedule.length = clocks.end;
  schedule.interval = std::max(clocks.end, computeBounds(graph).resource);
  schedule.carried = countCarried(graph, stages);
  schedule.peak = countPeak(graph, stages, order);
  return schedule;
}

LoopSchedule tile::getWrittenSchedule(const LoopGraph &graph) {
  llvm::SmallVector<unsigned> stages(graph.nodes.size(), 0);
  return evaluateSchedule(
      graph, stages,
      llvm::to_vector(llvm::seq<unsigned>(0, graph.nodes.size())));
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

namespace {
/// Searches the shortest order of a body with given stages.
class OrderSearch {
public:
  OrderSearch(const LoopGraph &graph, llvm::ArrayRef<unsigned> stages,
              int64_t limit, int64_t &visited);

  /// Returns an order shorter than `bound`, the shortest if the search is not
  /// cut off; nothing if there is none. If `takesFirst`, it is the first one
  /// where nodes as written come first.
  std::optional<llvm::SmallVector<unsigned>> run(int64_t bound,
                                                 bool takesFirst = false);

private:
  void extend(const Clocks &clocks);
  int64_t getBound(const Clocks &clocks) const;

  const LoopGraph &graph;
  llvm::ArrayRef<unsigned> stages;
  int64_t groups, limit, &visited;
  Predecessors predecessors;
  /// The cycles from the start of a node to the end of the body, at least.
  llvm::SmallVector<int64_t> tails;
  llvm::SmallVector<bool> isPlaced;
  llvm::SmallVector<int64_t> ready;
  llvm::SmallVector<unsigned> order;
  int64_t streamLeft = 0, matrixLeft = 0, best = kNever;
  bool takesFirst = false;
  std::optional<llvm::SmallVector<unsigned>> found;
};
} // namespace

OrderSearch::OrderSearch(const LoopGraph &graph,
                         llvm::ArrayRef<unsigned> stages, int64_t limit,
                         int64_t &visited)
    : graph(graph), stages(stages), groups(countGroupsInPhase(graph, stages)),
      limit(limit), visited(visited),
      predecessors(findPredecessors(graph, stages)),
      tails(graph.nodes.size(), 0), isPlaced(graph.nodes.size(), false),
      ready(graph.nodes.size(), 0) {
  for (unsigned i = 0; i < graph.nodes.size(); ++i) {
    const LoopGraph::Node &node = graph.nodes[i];
    streamLeft += node.isProduct ? graph.issueCycles : node.cycles;
    matrixLeft += node.isProduct ? node.cycles : 0;
    tails[i] = getLatency(graph, i);
  }
  // Stage 1 comes before stage 0 where one needs the other, and nodes of one
  // stage are in the order as written.
  for (unsigned stage : {0u, 1u})
    for (unsigned i = graph.nodes.size(); i-- > 0;)
      if (stages[i] == stage)
        for (unsigned before : predecessors[i].awaited)
          tails[before] =
              std::max(tails[before], getLatency(graph, before) + tails[i]);
}

/// Returns a length that no order which begins with the placed nodes is below.
int64_t OrderSearch::getBound(const Clocks &clocks) const {
  int64_t bound = std::max(clocks.end, clocks.stream + streamLeft);
  if (matrixLeft != 0)
    bound = std::max(
        bound, std::max(clocks.matrix, clocks.stream + graph.issueCycles) +
                   matrixLeft + graph.productLatency);
  for (unsigned i = 0; i < graph.nodes.size(); ++i) {
    if (isPlaced[i])
      continue;
    int64_t start = clocks.stream;
    for (unsigned before : predecessors[i].awaited)
      if (isPlaced[before])
        start = std::max(start, ready[before]);
    bound = std::max(bound, start + tails[i]);
  }
  return bound;
}

void OrderSearch::extend(const Clocks &clocks) {
  if (order.size() == graph.nodes.size()) {
    if (countPeak(graph, stages, order) <= graph.registerLimit) {
      best = clocks.end;
      found = order;
    }
    return;
  }
  for (unsigned i = 0; i < graph.nodes.size() && visited < limit; ++i) {
    if (takesFirst && found)
      return;
    if (isPlaced[i] || !follows(predecessors[i], [&](unsigned before) {
          return isPlaced[before];
        }))
      continue;
    ++visited;
    const LoopGraph::Node &node = graph.nodes[i];
    int64_t stream = node.isProduct ? graph.issueCycles : node.cycles;
    int64_t matrix = node.isProduct ? node.cycles : 0;
    Clocks next = clocks;
    place(graph, predecessors, i, groups, ready, next);
    isPlaced[i] = true;
    order.push_back(i);
    streamLeft -= stream;
    matrixLeft -= matrix;
    if (getBound(next) < best)
      extend(next);
    streamLeft += stream;
    matrixLeft += matrix;
    order.pop_back();
    isPlaced[i] = false;
  }
}

std::optional<llvm::SmallVector<unsigned>> OrderSearch::run(int64_t bound,
                                                            bool takesFirst) {
  best = bound;
  this->takesFirst = takesFirst;
  if (getBound(Clocks()) < best)
    extend(Clocks());
  return std::move(found);
}

/// Returns all assignments of stages that dependences allow, at most `limit`.
static llvm::SmallVector<llvm::SmallVector<unsigned>>
enumerateStages(const LoopGraph &graph, size_t limit, bool &isComplete) {
  llvm::SmallVector<llvm::SmallVector<unsigned>> all;
  llvm::SmallVector<unsigned> stages;
  // Nodes are in the order as written, so those before a node have a stage.
  auto isLegal = [&](unsigned node) {
    for (auto [from, to, distance] : graph.dependences)
      if (distance == 0 && std::max(from, to) == node &&
          stages[from] > stages[to])
        return false;
    for (auto [one, other] : graph.together)
      if (std::max(one, other) == node && stages[one] != stages[other])
        return false;
    return true;
  };
  auto extend = [&](auto &self) -> void {
    if (all.size() == limit) {
      isComplete = false;
      return;
    }
    if (stages.size() == graph.nodes.size()) {
      // Everything one iteration later is the loop as written.
      if (stages.empty() || llvm::is_contained(stages, 0u))
        all.push_back(stages);
      return;
    }
    for (unsigned stage = 0; stage < (graph.keepsIterations ? 1 : 2); ++stage) {
      stages.push_back(stage);
      if (isLegal(stages.size() - 1))
        self(self);
      stages.pop_back();
    }
  };
  extend(extend);
  return all;
}

/// Returns the best schedule with at most `graph.registerLimit` registers.
static FoundSchedule findFitting(const LoopGraph &graph, int64_t limit) {
  FoundSchedule result{getWrittenSchedule(graph)};
  LoopSchedule &best = result.schedule;
  int64_t resource = computeBounds(graph).resource;
  constexpr size_t kMostAssignments = 4096;
  auto candidates = enumerateStages(graph, kMostAssignments, result.isExact);
  llvm::SmallVector<std::pair<int64_t, unsigned>> byCarried;
  for (auto [number, stages] : llvm::enumerate(candidates))
    byCarried.push_back({countCarried(graph, stages), number});
  llvm::sort(byCarried);

  // The shortest interval.
  int64_t visited = 0;
  int64_t interval = best.peak <= graph.registerLimit ? best.interval : kNever;
  for (auto [carried, number] : byCarried) {
    if (interval == resource)
      break;
    OrderSearch search(graph, candidates[number], limit, visited);
    if (auto order = search.run(interval))
      interval = evaluateSchedule(graph, candidates[number], *order).interval;
  }
  if (interval == kNever)
    return result;

  int64_t bound = interval + interval * kTolerance / 100 + 1;
  // Loops that keep their iterations have one assignment of stages. Of the
  // orders with about this interval, the first one as written.
  if (graph.keepsIterations) {
    OrderSearch search(graph, candidates.front(), limit, visited);
    if (auto order = search.run(bound, /*takesFirst=*/true))
      best = evaluateSchedule(graph, candidates.front(), *order);
    result.isExact &= visited < limit;
    return result;
  }

  // The fewest carried registers and the shortest length with about this
  // interval.
  std::optional<LoopSchedule> chosen;
  for (auto [carried, number] : byCarried) {
    if (chosen && carried > chosen->carried)
      break;
    OrderSearch search(graph, candidates[number], limit, visited);
    if (auto order = search.run(bound)) {
      chosen = evaluateSchedule(graph, candidates[number], *order);
      bound = chosen->length;
    }
  }
  if (chosen)
    best = std::move(*chosen);
  result.isExact &= visited < limit;
  return result;
}

FoundSchedule tile::findSchedule(const LoopGraph &graph, int64_t limit) {
  FoundSchedule fastest = findFitting(graph, limit);
  const LoopSchedule &fast = fastest.schedule;
  int64_t roomy = graph.registerLimit - graph.rotationMargin;
  if (!fast.isRotated() || fast.peak <= roomy)
    return fastest;
  LoopGraph smaller = graph;
  smaller.registerLimit = roomy;
  FoundSchedule found = findFitting(smaller, limit);
  const LoopSchedule &small = found.schedule;
  bool isPreferred =
      small.isRotated() &&
      small.interval * 100 <= fast.interval * (100 + kRoomTolerance);
  return isPreferred ? found : fastest;
}

LoopSchedule tile::drawSchedule(const LoopGraph &graph, uint64_t seed) {
  std::mt19937_64 random(seed);
  auto draw = [&](size_t count) { return random() % count; };
  bool isComplete = true;
  auto candidates = enumerateStages(graph, /*limit=*/4096, isComplete);
  // Stages for which no order keeps the dependences are drawn again.
  while (true) {
    llvm::ArrayRef<unsigned> stages = candidates[draw(candidates.size())];
    Predecessors predecessors = findPredecessors(graph, stages);
    llvm::SmallVector<unsigned> order, next;
    do {
      next.clear();
      for (unsigned node = 0; node < graph.nodes.size(); ++node)
        if (!llvm::is_contained(order, node) &&
            follows(predecessors[node], [&](unsigned before) {
              return llvm::is_contained(order, before);
            }))
          next.push_back(node);
      if (!next.empty())
        order.push_back(next[draw(next.size())]);
    } while (!next.empty());
    if (order.size() == graph.nodes.size())
      return evaluateSchedule(graph, stages, order);
  }
}
