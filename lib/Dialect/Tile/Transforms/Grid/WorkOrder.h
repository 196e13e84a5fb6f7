//===- WorkOrder.h - The order of a persistent kernel's works ---*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_GRID_WORKORDER_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_GRID_WORKORDER_H

#include "I32Emitter.h"

namespace tile {

/// The numbers of a launch, as i32.
struct Launch {
  /// The extents of the original grid, and their product: the number of works.
  Divisor extents[3];
  mlir::Value works;
  /// The number of this block, and the number of blocks.
  mlir::Value block, blocks;
};

/// The order of works whose length depends on x. A row has the works of one y
/// and z. Rows form groups, which follow each other. The works of a group are
/// in order of their length, the longest first, and dealt to the blocks in
/// rounds. Every other round walks back over the blocks, and so do the rounds
/// of every other group, so that the sums of lengths are about equal.
class LongestFirst : I32Emitter {
public:
  /// Emits the numbers that all works need.
  LongestFirst(mlir::ImplicitLocOpBuilder builder, const Launch &launch);

  /// The number of works of this block.
  mlir::Value getCount() const { return count; }
  /// Returns the row of the `number`-th work of this block, and the number of
  /// its length, of which 0 is the longest.
  std::pair<mlir::Value, mlir::Value>
  emitWork(mlir::ImplicitLocOpBuilder builder, mlir::Value number);

private:
  /// The numbers of works that one block has: in an even group before the last
  /// one, in an even and an odd one, in all groups before the last one.
  struct Counts {
    mlir::Value inEven, inTwo, beforeLast;
  };
  /// The number of groups, and the rows of each before the last one.
  struct Groups {
    mlir::Value count, rows;
  };
  Groups emitGroups(mlir::Value rows, mlir::Value rounds);
  mlir::Value emitRowsOfLast(mlir::Value rows, const Groups &groups);
  mlir::Value emitPlace(mlir::Value round);
  mlir::Value emitCount(mlir::Value worksOfGroup, mlir::Value group);
  Counts emitCounts();

  const Launch &launch;
  /// The number of the last group, and the number of works of this block.
  mlir::Value last, count;
  /// The rows of a group before the last one, and of the last one.
  Divisor rowsOfGroup, rowsOfLast;
  /// The numbers of works of this block, and the divisor counts.inTwo.
  Counts counts;
  Divisor inTwo;
};

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_GRID_WORKORDER_H
