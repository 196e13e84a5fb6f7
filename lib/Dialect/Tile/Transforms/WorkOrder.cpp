//===- WorkOrder.cpp - The order of a persistent kernel's works -----------===//

#include "WorkOrder.h"
#include "tile/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace tile;

/// The rounds of works, one for each block, that a group of rows has at least:
/// with fewer the blocks differ in the sums of their lengths.
static constexpr int64_t kRoundsOfGroup = 2;
/// The blocks that do works of one row at the same time, at least, in groups of
/// more rounds. They read the same memory.
static constexpr int64_t kBlocksOfRow = 16;

LongestFirst::LongestFirst(ImplicitLocOpBuilder builder, const Launch &launch)
    : I32Emitter(builder), launch(launch) {
  Value one = constant(1), two = constant(2);
  Value rows = mul(launch.extents[1], launch.extents[2]);
  Value wanted = b.createOrFold<arith::MaxUIOp>(
      b.createOrFold<arith::CeilDivUIOp>(
          mul(launch.blocks, constant(kRoundsOfGroup)), launch.extents[0]),
      div(launch.blocks, constant(kBlocksOfRow)));
  Value groups = b.createOrFold<arith::MaxUIOp>(
      div(add(rows, div(wanted, two)), wanted), one);
  last = sub(groups, one);
  rowsOfGroup = div(rows, groups);
  Value worksOfLast =
      sub(launch.works, mul(mul(last, rowsOfGroup), launch.extents[0]));
  count = add(emitCounts(rowsOfGroup, launch.block).beforeLast,
              emitCount(worksOfLast, last, launch.block));
}

/// Returns the place in a round of `block`, the number of this block: the
/// number itself, or that from the end in an odd round.
Value LongestFirst::emitPlace(Value round, Value block) {
  Value fromEnd = sub(sub(launch.blocks, constant(1)), block);
  return select(isOdd(round), fromEnd, block);
}

/// Returns how many works of a group `block` has.
Value LongestFirst::emitCount(Value worksOfGroup, Value group, Value block) {
  Value rounds = div(worksOfGroup, launch.blocks);
  Value rest = sub(worksOfGroup, mul(rounds, launch.blocks));
  return addIf(rounds, isLess(emitPlace(add(rounds, group), block), rest));
}

LongestFirst::Counts LongestFirst::emitCounts(Value rowsOfGroup, Value block) {
  Counts counts;
  Value worksOfGroup = mul(rowsOfGroup, launch.extents[0]);
  counts.inEven = emitCount(worksOfGroup, constant(0), block);
  counts.inTwo =
      add(counts.inEven, emitCount(worksOfGroup, constant(1), block));
  Value inPairs = mul(div(last, constant(2)), counts.inTwo);
  counts.beforeLast = select(isOdd(last), add(inPairs, counts.inEven), inPairs);
  return counts;
}

std::pair<Value, Value> LongestFirst::emitWork(ImplicitLocOpBuilder builder,
                                               Value number) {
  b = builder;
  // Computed again for each work, the counts take no registers in between.
  Value block = RecomputeOp::create(b, launch.block);
  Value rowsBeforeLast = RecomputeOp::create(b, rowsOfGroup);
  Counts counts = emitCounts(rowsBeforeLast, block);
  Value isBeforeLast = isLess(number, counts.beforeLast);
  Value two = div(number, counts.inTwo);
  Value inThese = sub(number, mul(two, counts.inTwo));
  Value isEven = isLess(inThese, counts.inEven);
  Value even = mul(two, constant(2));
  Value group =
      select(isBeforeLast, select(isEven, even, add(even, constant(1))), last);
  Value round =
      select(isBeforeLast, select(isEven, inThese, sub(inThese, counts.inEven)),
             sub(number, counts.beforeLast));
  Value position =
      add(mul(round, launch.blocks), emitPlace(add(round, group), block));
  Value firstRow = mul(group, rowsBeforeLast);
  Value allRows = mul(launch.extents[1], launch.extents[2]);
  Value rows = select(isBeforeLast, rowsBeforeLast, sub(allRows, firstRow));
  return {add(firstRow, rem(position, rows)), div(position, rows)};
}
