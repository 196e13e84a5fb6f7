//===- LoopSchedule.h - Orders of the operations of a loop ------*- C++ -*-===//
//
// A loop as a graph: its nodes are asynchronous products and groups of other
// operations. One group of warps executes the nodes in order; that is its
// stream. A product takes the stream only while it is issued, and runs on the
// matrix unit beside the nodes that follow. All products end before the back
// edge.
//
// A schedule gives each node a stage, 0 or 1, and an order. One execution of
// the body runs the nodes of stage 0 for an iteration and those of stage 1 for
// the iteration before. So a schedule with two stages is a modulo schedule, and
// its prologue and epilogue are one iteration long.
//
//   interval = max(busiest unit of all groups, length of the body of one group)
//
// Groups share the units. Those of a rotated loop take turns to start products,
// so their phases differ. Without turns, groups that start together stay in
// phase, because the matrix unit serves them all at once: a product takes as
// long as those of all groups.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_LOOPSCHEDULE_H
#define TILE_ANALYSIS_LOOPSCHEDULE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace tile {

struct LoopGraph {
  struct Node {
    /// Cycles of the matrix unit for a product, else of the stream; for one
    /// group.
    int64_t cycles = 0;
    bool isProduct = false;
    /// Cycles after a node that is no product until others can read its
    /// results. The stream goes on meanwhile.
    int64_t latency = 0;
  };
  /// Node `to` needs `from` of the same iteration, or of `distance` iterations
  /// before.
  struct Dependence {
    unsigned from, to, distance;
  };
  /// A value in the registers of a thread.
  struct Value {
    int64_t registers = 0;
    unsigned from = 0;
    /// The nodes that read it in its iteration, and in the next one.
    llvm::SmallVector<unsigned, 2> users, nextUsers;
    /// Whether the loop as written carries it.
    bool isCarried = false;
    /// Whether products read it until they end: operands a and b. An
    /// accumulator becomes the result.
    bool isHeld = false;
  };
  /// Work of all groups on a unit in one iteration, in cycles.
  struct Unit {
    llvm::StringRef name;
    int64_t cycles;
  };

  /// In the order of the loop as written.
  llvm::SmallVector<Node> nodes;
  llvm::SmallVector<Dependence> dependences;
  /// Whether all nodes stay in their iteration: nodes of stage 1 run even if
  /// the loop has no iteration.
  bool keepsIterations = false;
  /// Nodes of one stage: they read one tile in shared memory.
  llvm::SmallVector<std::pair<unsigned, unsigned>> together;
  llvm::SmallVector<Value> values;
  llvm::SmallVector<Unit> units;
  /// The groups of warps, each of which executes the nodes.
  int64_t groups = 1;
  /// Cycles of the stream to issue a product, and cycles from the end of a
  /// product until its result can be read.
  int64_t issueCycles = 0, productLatency = 0;
  /// Registers that are live in the whole loop, beside `values`.
  int64_t fixedRegisters = 0;
  /// The registers of a thread, and those of them that rotated loops may take
  /// beyond the estimate.
  int64_t registerLimit = 0, rotationMargin = 0;
};

struct LoopSchedule {
  llvm::SmallVector<unsigned> stages, order;
  /// Cycles of one execution of the body: of one group, alone or in phase with
  /// the others, and with all groups.
  int64_t length = 0, interval = 0;
  /// Registers of the values that the loop carries, and the most registers that
  /// are live at once.
  int64_t carried = 0, peak = 0;

  /// Whether the body runs nodes of two iterations.
  bool isRotated() const {
    return llvm::is_contained(llvm::ArrayRef<unsigned>(stages), 1u);
  }
};

/// Bounds of the interval that no schedule of two stages or more can pass.
struct LoopBounds {
  /// That of the busiest unit, and the name of the unit.
  int64_t resource = 0;
  llvm::StringRef unit;
  /// That of the cycle of dependences with the most cycles for each iteration.
  int64_t recurrence = 0;
};

LoopBounds computeBounds(const LoopGraph &graph);

/// Returns the schedule with these stages and this order, which must keep the
/// dependences.
LoopSchedule evaluateSchedule(const LoopGraph &graph,
                              llvm::ArrayRef<unsigned> stages,
                              llvm::ArrayRef<unsigned> order);

/// Returns the loop as written.
LoopSchedule getWrittenSchedule(const LoopGraph &graph);

struct FoundSchedule {
  LoopSchedule schedule;
  /// Whether no schedule is better: the search was not cut off.
  bool isExact = true;
};

/// Returns the schedule with the shortest interval among those that fit the
/// registers. Of those whose interval is at most 2 percent longer, takes that
/// which carries the fewest registers, then the shortest length, then the order
/// as written. A rotation that leaves less than the margin of registers gives
/// way to one that leaves it and whose interval is at most 15 percent longer.
/// Returns the loop as written if nothing fits. A search visits at most `limit`
/// nodes, so the result does not depend on the speed of the machine.
FoundSchedule findSchedule(const LoopGraph &graph, int64_t limit = 100000);

/// Returns a schedule that keeps the dependences, drawn from `seed`; for tests.
LoopSchedule drawSchedule(const LoopGraph &graph, uint64_t seed);

} // namespace tile

#endif // TILE_ANALYSIS_LOOPSCHEDULE_H
