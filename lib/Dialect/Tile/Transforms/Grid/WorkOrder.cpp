//===- WorkOrder.cpp - The order of a persistent kernel's works -----------===//

#include "WorkOrder.h"
#include "tile/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace tile;

/// The rounds of works, one for each block, that a group of rows has at least,
/// unless two groups of one round balance each other: with fewer the blocks
/// differ in the sums of their lengths.
static constexpr int64_t kRoundsOfGroup = 2;
/// The blocks that do works of one row at the same time, at most, in groups of
/// more rounds. They read the same memory.
static constexpr int64_t kBlocksOfRow = 16;
/// The share of the wanted rows that groups of equal rows may lack: one group
/// of as many rows as two would read twice the memory at the same time.
static constexpr int64_t kMissingShare = 8;

LongestFirst::LongestFirst(ImplicitLocOpBuilder builder, const Launch &launch)
    : I32Emitter(builder), launch(launch) {
  Value one = constant(1);
  Value rows = mul(launch.extents[1].value, launch.extents[2].value);
  Value worksOfRow = launch.extents[0].value;
  Value rounds =
      b.createOrFold<arith::CeilDivUIOp>(worksOfRow, constant(kBlocksOfRow));
  Groups most = emitGroups(rows, max(rounds, constant(kRoundsOfGroup)));
  // Groups of one round read the least memory at the same time. An even and an
  // odd one give each block about the same.
  Groups least = emitGroups(rows, one);
  Value worksOfLast = mul(emitRowsOfLast(rows, least), worksOfRow);
  auto takeLeast = [&](Value x, Value y) {
    x = select(isOdd(least.count), y, x);
    x = select(isLess(launch.blocks, worksOfLast), y, x);
    return select(isLess(one, rounds), y, x);
  };
  Groups groups = {takeLeast(least.count, most.count),
                   takeLeast(least.rows, most.rows)};
  last = sub(groups.count, one);
  rowsOfGroup = invert(groups.rows);
  rowsOfLast = invert(emitRowsOfLast(rows, groups));
  counts = emitCounts();
  inTwo = invert(counts.inTwo);
  count = add(counts.beforeLast,
              emitCount(mul(rowsOfLast.value, worksOfRow), last));
}

/// Emits groups of rows that fill `rounds` rounds.
LongestFirst::Groups LongestFirst::emitGroups(Value rows, Value rounds) {
  Value one = constant(1);
  // The last round of a group is nearly full: a short one would always add to
  // the same blocks.
  Value wanted =
      max(div(mul(rounds, launch.blocks), launch.extents[0].value), one);
  Value missing = div(wanted, constant(kMissingShare));
  Value count = max(div(add(rows, missing), wanted), one);
  return {count, min(wanted, div(rows, count))};
}

Value LongestFirst::emitRowsOfLast(Value rows, const Groups &groups) {
  return sub(rows, mul(sub(groups.count, constant(1)), groups.rows));
}

/// Returns the place of this block in a round: its number, or that from the end
/// in an odd round.
Value LongestFirst::emitPlace(Value round) {
  Value fromEnd = sub(sub(launch.blocks, constant(1)), launch.block);
  return select(isOdd(round), fromEnd, launch.block);
}

/// Returns how many works of a group this block has.
Value LongestFirst::emitCount(Value worksOfGroup, Value group) {
  Value rounds = div(worksOfGroup, launch.blocks);
  Value rest = sub(worksOfGroup, mul(rounds, launch.blocks));
  return addIf(rounds, isLess(emitPlace(add(rounds, group)), rest));
}

LongestFirst::Counts LongestFirst::emitCounts() {
  Counts counts;
  Value worksOfGroup = mul(rowsOfGroup.value, launch.extents[0].value);
  counts.inEven = emitCount(worksOfGroup, constant(0));
  counts.inTwo = add(counts.inEven, emitCount(worksOfGroup, constant(1)));
  Value inPairs = mul(div(last, constant(2)), counts.inTwo);
  counts.beforeLast = select(isOdd(last), add(inPairs, counts.inEven), inPairs);
  return counts;
}

std::pair<Value, Value> LongestFirst::emitWork(ImplicitLocOpBuilder builder,
                                               Value number) {
  b = builder;
  Value isBeforeLast = isLess(number, counts.beforeLast);
  auto [two, inThese] = divide(number, inTwo);
  Value isEven = isLess(inThese, counts.inEven);
  Value even = mul(two, constant(2));
  Value group =
      select(isBeforeLast, select(isEven, even, add(even, constant(1))), last);
  Value round =
      select(isBeforeLast, select(isEven, inThese, sub(inThese, counts.inEven)),
             sub(number, counts.beforeLast));
  Value position = add(mul(round, launch.blocks), emitPlace(add(round, group)));
  Divisor rows = {
      select(isBeforeLast, rowsOfGroup.value, rowsOfLast.value),
      select(isBeforeLast, rowsOfGroup.reciprocal, rowsOfLast.reciprocal)};
  auto [length, row] = divide(position, rows);
  return {add(mul(group, rowsOfGroup.value), row), length};
}
