//===- Works.cpp - Shares of a batch of different lengths -----------------===//
//
// A block of threads owns a sequence. It reads the lengths of all sequences,
// kSequencesAtOnce at a time: first for the cost of the batch, in steps of the
// walk over the keys, and then for the works that come before its own.
//
// A tile whose walk has s steps gets ceil(s / e) parts. Of T steps in all, a
// multiprocessor does A. e is the largest of
//  - A / kMostShares: the last works, during which other multiprocessors have
//    none, are a small part of all,
//  - 2 T r / R, for tiles of r queries and R rows of the buffers of parts. The
//    tiles with several parts have less than s / e parts beyond the first,
//    hence less than 2 s / e parts, and all of them less than R rows,
//  - kLeastGain times what a part adds to the steps, but not more than
//    A / kLeastShares.
// R is kPartsOfBlock * n * multiprocessors / heads, for tiles of up to n
// queries: this gives A.
//
// Beside a concurrent kernel, which computes the sequences with fewer queries,
// the blocks of this one share n of the P multiprocessors. L is the time of
// this kernel on all of them, the sum of its MMAs and its exponentials at peak
// rates, and S the time in which the memory delivers the keys and values of the
// other one. W works on n multiprocessors take ceil(W / n) rounds, that is the
// time
//   T(n) = max(ceil(W / n) L P / W, S kBusyShare P / (P - n), S).
// Both kernels end together at n = P L / (L + kBusyShare S), which needs r
// rounds. The candidates are the least n with r rounds, the least one with one
// round less, and no limit. Without one, the other kernel runs after the
// rounds, and the time is S + ceil(W / P) L P / W. The least time decides.
//
//===----------------------------------------------------------------------===//

#include "Works.h"
#include "AttentionBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tile;

/// The sequences that a block reads at a time, and the works that it writes.
static constexpr int64_t kSequencesAtOnce = 128;

/// More than any number of steps.
static constexpr int64_t kManySteps = int64_t(1) << 30;

/// A part has so many times the steps that its beginning and end take, the time
/// of kPartKeys keys and that of writing and reading its rows.
static constexpr int64_t kLeastGain = 24;
static constexpr int64_t kPartKeys = 192;
/// The smallest part of what a multiprocessor does is 1 / kMostShares of it. A
/// part is never made larger than 1 / kLeastShares of it to pay for its
/// beginning and its end.
static constexpr int64_t kMostShares = 32, kLeastShares = 2;

/// A kernel that the memory limits is as fast on this share of the
/// multiprocessors as on all of them (docs/notes/hopper-packed.md). A larger
/// value gives the kernel for long sequences fewer blocks. With too few it ends
/// late, while most multiprocessors are idle; with too many it ends early, and
/// the other kernel takes its multiprocessors over, which costs less.
static constexpr double kBusyShare = 0.75;
/// The beginning and the end of a tile take the time of so many keys.
static constexpr int64_t kTileKeys = 384;

namespace {
/// The steps that a part needs to pay for its beginning and its end.
struct PartSteps {
  /// For each of its rows, and for the part.
  double ofRow, ofPart;
};
} // namespace

static PartSteps computePartSteps(AttentionOp op, const Schedule &schedule) {
  int64_t headDim = padColumns(op.getQ().getType().getShape().back());
  int64_t valueDim = padColumns(op.getV().getType().getShape().back());
  Type element = op.getQ().getType().getElementType();
  int64_t heads = schedule.packHeads.value_or(1), keys = (*schedule.tile)[1];
  double bytesOfRow = double(heads * valueDim) * 2 * sizeof(float);
  double bytesOfStep = double(keys * (headDim + valueDim)) *
                       (element.getIntOrFloatBitWidth() / 8);
  return {kLeastGain * bytesOfRow / bytesOfStep,
          double(kLeastGain * kPartKeys) / double(keys)};
}

namespace {
class WorksBuilder : AttentionBuilder {
public:
  WorksBuilder(ImplicitLocOpBuilder &builder, AttentionOp op,
               const IRMapping &mapping, const Schedule &schedule)
      : AttentionBuilder(builder, op, mapping),
        works(mapping.lookup(op.getWorks())),
        oParts(mapping.lookup(op.getOParts())),
        leastQ(mapping.lookupOrNull(op.getLeastQ())),
        mostQ(mapping.lookupOrNull(op.getMostQ())),
        queries(countTileQueries(schedule)), keys((*schedule.tile)[1]),
        schedule(schedule), partSteps(computePartSteps(op, schedule)),
        // Blocks of a kernel with warp roles have a multiprocessor each.
        isConcurrent(op.getConcurrent() && schedule.hasRoles() && chip) {}

  void build();

private:
  /// The cost of one sequence, in i32, or of kSequencesAtOnce, in tiles of i32.
  struct Cost {
    /// Tiles of queries, queries of the first one, and steps of its walk.
    Value tiles, rows, steps;
    /// Keys that a row of a tile sees on average, and those that the concurrent
    /// kernel reads.
    Value seen, otherKeys;
  };
  /// Sums over all sequences, in f32.
  struct Total {
    /// T, keys of all tiles, and keys of a concurrent kernel.
    Value steps, keys, otherKeys;
  };
  /// The parts of a tile, and the works of the sequence.
  struct Shares {
    Value parts, works;
    /// Tiles with several parts, and the rows of all parts.
    Value sharedTiles, sharedRows;
    /// Steps of a work: those with more come first.
    Value size;
  };

  Value divideUp(Value x, Value y) {
    Value one = number(x, 1);
    return arith::DivUIOp::create(b, arith::AddIOp::create(b, x, sub(y, one)),
                                  y);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  Value clamp(Value x, Value least, Value most) {
    return min(max(x, least), most);
  }

  Value readLengths(Value bounds, Value total, Value first);
  Cost readCosts(Value first);
  Cost readCost(Value sequence);
  Cost computeCost(Value length, Value keysOfSequence);
  Shares share(const Cost &cost, Value total);
  /// Returns the sequences from `first` on.
  Value numbersFrom(Value first) {
    RankedTensorType tile = type(kSequencesAtOnce, b.getI32Type());
    return add(IotaOp::create(b, tile, 0), splat(tile, i32(first)));
  }
  Total sumCosts();
  Value countBlocks(const Total &total, Value count);
  void writeCounts(ArrayRef<Value> counts);
  void writeColumns(Value rows, Value first,
                    ArrayRef<std::pair<WorkColumn, Value>> columns);
  void writeWorks(Value sequence, const Cost &cost, const Shares &shares,
                  Value before, Value tilesBefore, Value rowsBefore);

  Value works, oParts;
  /// The bounds for the queries of a sequence, null without bounds.
  Value leastQ, mostQ;
  /// Queries of a tile, and keys of a step.
  const int64_t queries, keys;
  const Schedule schedule;
  const PartSteps partSteps;
  /// Whether another kernel runs at the same time, on the multiprocessors that
  /// this one leaves.
  const bool isConcurrent;
  Value sequences;
};
} // namespace

/// The lengths of packed sequences from `first` on, as AttentionBuilder clamps
/// them; 0 behind the last one.
Value WorksBuilder::readLengths(Value bounds, Value total, Value first) {
  RankedTensorType tile = type(kSequencesAtOnce, b.getI32Type());
  Value ends = NarrowOp::create(b, bounds, 0, index(1), sequences);
  Value all = splat(tile, i32(total)), zero = splat(tile, i32(index(0)));
  Value begin = clamp(LoadOp::create(b, tile, bounds, first), zero, all);
  Value end = LoadOp::create(b, tile, ends, first);
  return sub(max(min(end, all), begin), begin);
}

WorksBuilder::Cost WorksBuilder::readCosts(Value first) {
  RankedTensorType tile = type(kSequencesAtOnce, b.getI32Type());
  Value zero = splat(tile, i32(index(0)));
  Value length = cuQ ? readLengths(cuQ, DimOp::create(b, q, 0), first)
                     : splat(tile, i32(DimOp::create(b, q, 1)));
  Value keysOfSequence;
  if (cuK)
    keysOfSequence = readLengths(cuK, DimOp::create(b, k, 0), first);
  else if (cuPages)
    keysOfSequence = countKeysOfPages(
        readLengths(cuPages, DimOp::create(b, pageTable, 0), first),
        LoadOp::create(b, tile, keyLengths, first));
  else if (keyLengths)
    keysOfSequence = clamp(LoadOp::create(b, tile, keyLengths, first), zero,
                           splat(tile, i32(countRoom())));
  else
    keysOfSequence = splat(tile, i32(countRoom()));
  Cost cost = computeCost(length, keysOfSequence);
  Value exists = compare(arith::CmpIPredicate::slt, numbersFrom(first),
                         splat(tile, i32(sequences)));
  cost.tiles = select(exists, cost.tiles, zero);
  if (isConcurrent)
    cost.otherKeys = select(exists, cost.otherKeys, zero);
  return cost;
}

WorksBuilder::Cost WorksBuilder::readCost(Value sequence) {
  enterSequence(sequence);
  return computeCost(i32(sq), i32(sk));
}

WorksBuilder::Cost WorksBuilder::computeCost(Value length,
                                             Value keysOfSequence) {
  Value seen = keysOfSequence;
  if (left && right) {
    // A negative number, which leaves a side open, is a large one here.
    auto reach = [&](Value side) {
      return arith::MinUIOp::create(b, side, i32(index(kManySteps / 2)));
    };
    Value window = add(add(reach(left), reach(right)), i32(index(queries)));
    seen = min(seen, number(seen, window));
  }
  Value tiles = divideUp(length, number(length, queries)), otherKeys;
  if (leastQ) {
    auto bound = [&](Value queries) {
      return number(length, i32(clamp(queries, index(0), index(kFarthest))));
    };
    Value isLess = compare(arith::CmpIPredicate::slt, length, bound(leastQ));
    Value isMore = compare(arith::CmpIPredicate::sgt, length, bound(mostQ));
    Value none = number(tiles, 0);
    otherKeys = select(
        isLess, arith::MulIOp::create(b, seen, min(tiles, number(tiles, 1))),
        none);
    tiles = select(arith::OrIOp::create(b, isLess, isMore), none, tiles);
  }
  Value steps = divideUp(seen, number(seen, keys));
  // The mean of the rows.
  if (causal)
    seen = sub(seen,
               min(seen, arith::DivUIOp::create(b, length, number(length, 2))));
  return {tiles, min(length, number(length, queries)), steps, seen, otherKeys};
}

/// `total` is T, an f32.
WorksBuilder::Shares WorksBuilder::share(const Cost &cost, Value total) {
  auto real = [&](Value x) -> Value {
    Type type = b.getF32Type();
    if (auto tile = dyn_cast<RankedTensorType>(x.getType()))
      type = tile.clone(type);
    return arith::SIToFPOp::create(b, type, x);
  };
  auto multiply = [&](Value x, Value y) -> Value {
    return arith::MulFOp::create(b, x, y);
  };
  // T / R, more by more than the sum can be wrong.
  Value room = arith::MaximumFOp::create(
      b, real(i32(DimOp::create(b, oParts, 0))), f32(0.5));
  Value perRow =
      multiply(arith::DivFOp::create(b, total, room), f32(1.0 + 1.0 / 128));
  Value rows = real(cost.rows);
  double ofProcessor = double(kPartsOfBlock * queries);
  Value added = math::FmaOp::create(b, rows, number(rows, f32(partSteps.ofRow)),
                                    number(rows, f32(partSteps.ofPart)));
  Value each = arith::MinimumFOp::create(
      b, added,
      number(rows, multiply(perRow, f32(ofProcessor / kLeastShares))));
  for (Value bound :
       {number(rows, multiply(perRow, f32(ofProcessor / kMostShares))),
        multiply(rows, number(rows, multiply(perRow, f32(2.0))))})
    each = arith::MaximumFOp::create(b, each, bound);
  each = arith::MinimumFOp::create(b, each,
                                   number(rows, f32(double(kManySteps / 2))));
  each = arith::FPToSIOp::create(b, cost.steps.getType(), each);

  Shares shares;
  Value one = number(cost.steps, 1), none = number(cost.steps, 0);
  shares.parts = max(divideUp(cost.steps, add(each, one)), one);
  shares.works = arith::MulIOp::create(b, cost.tiles, shares.parts);
  shares.size = divideUp(cost.steps, shares.parts);
  Value isShared = compare(arith::CmpIPredicate::sgt, shares.parts, one);
  shares.sharedTiles = select(isShared, cost.tiles, none);
  shares.sharedRows =
      select(isShared, arith::MulIOp::create(b, shares.works, cost.rows), none);
  return shares;
}

WorksBuilder::Total WorksBuilder::sumCosts() {
  SmallVector<Value> sums(isConcurrent ? 3 : 1, f32(0.0));
  sums =
      forEach(index(0), sequences, index(kSequencesAtOnce), sums,
              [&](Value first, ValueRange carried) {
                Cost cost = readCosts(first);
                RankedTensorType tile = type(kSequencesAtOnce, b.getF32Type());
                auto real = [&](Value x) -> Value {
                  return arith::SIToFPOp::create(b, tile, x);
                };
                Value tiles = real(cost.tiles);
                SmallVector<Value> terms{
                    arith::MulFOp::create(b, tiles, real(cost.steps))};
                if (isConcurrent) {
                  Value keys = add(cost.seen, number(cost.seen, kTileKeys));
                  terms.push_back(arith::MulFOp::create(b, tiles, real(keys)));
                  terms.push_back(real(cost.otherKeys));
                }
                for (auto [term, sum] : llvm::zip_equal(terms, carried))
                  term = arith::AddFOp::create(
                      b, sum, reduce(arith::AtomicRMWKind::addf, term));
                return terms;
              });
  sums.resize(3);
  return {sums[0], sums[1], sums[2]};
}

/// Returns the most blocks that take works, of the table's `count` works of
/// each head.
Value WorksBuilder::countBlocks(const Total &total, Value count) {
  Value all = i32(index(kManySteps));
  if (!isConcurrent)
    return all;
  const Throughput &rates = chip->throughput;
  double rows = double((*schedule.tile)[0]),
         columns = double(headDim + valueDim);
  double cyclesOfKey = rows * (2 * columns / double(rates.matrix) +
                               1 / double(rates.exponentials));
  double otherCyclesOfKey = columns * (element.getIntOrFloatBitWidth() / 8) /
                            double(rates.memoryBytes);
  auto real = [&](Value x) -> Value {
    return arith::SIToFPOp::create(b, b.getF32Type(), x);
  };
  auto plus = [&](Value x, Value y) -> Value {
    return arith::AddFOp::create(b, x, y);
  };
  auto multiply = [&](Value x, Value y) -> Value {
    return arith::MulFOp::create(b, x, y);
  };
  auto divide = [&](Value x, Value y) -> Value {
    return arith::DivFOp::create(b, x, y);
  };
  auto most = [&](Value x, Value y) -> Value {
    return arith::MaximumFOp::create(b, x, y);
  };
  auto roundUp = [&](Value x) -> Value { return math::CeilOp::create(b, x); };
  auto isLess = [&](Value x, Value y) -> Value {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, y);
  };
  Value one = f32(1.0);
  Value heads = i32(DimOp::create(b, q, headsAt(Side::Queries)));
  Value keyHeads = i32(DimOp::create(b, k, headsAt(Side::Keys)));
  // The heads that have a tile in the grid.
  Value tileHeads = schedule.packsHeads() ? keyHeads : heads;
  Value counted = most(multiply(real(count), real(tileHeads)), one);
  // Cycles of all multiprocessors together: L P, and S P.
  Value cycles =
      multiply(total.keys, multiply(real(tileHeads), f32(cyclesOfKey)));
  Value otherCycles = multiply(total.otherKeys,
                               multiply(real(keyHeads), f32(otherCyclesOfKey)));
  Value busyCycles = multiply(otherCycles, f32(kBusyShare));
  Value share = divide(cycles, most(plus(cycles, busyCycles), one));
  Value processors = multiply(
      multiply(real(i32(DimOp::create(b, oParts, 0))), real(tileHeads)),
      f32(1.0 / double(kPartsOfBlock * queries)));
  Value cyclesOfWork = divide(cycles, counted);
  Value otherTime = divide(otherCycles, most(processors, one));
  auto countRounds = [&](Value blocks) {
    return roundUp(divide(counted, blocks));
  };
  auto timeOf = [&](Value blocks) {
    Value left = most(arith::SubFOp::create(b, processors, blocks), one);
    return most(multiply(countRounds(blocks), cyclesOfWork),
                most(divide(busyCycles, left), otherTime));
  };
  Value rounds = countRounds(plus(multiply(processors, share), one));
  Value fewer = most(arith::SubFOp::create(b, rounds, one), one);
  Value few = roundUp(divide(counted, rounds));
  Value many = roundUp(divide(counted, fewer));
  Value isMany = isLess(timeOf(many), timeOf(few));
  Value chosen = select(isMany, many, few);
  Value without = plus(
      otherTime, multiply(countRounds(most(processors, one)), cyclesOfWork));
  Value blocks = arith::FPToSIOp::create(
      b, b.getI32Type(),
      arith::MinimumFOp::create(b, chosen, f32(double(kManySteps / 2))));
  // All multiprocessors, too, where the other kernel has nothing to do.
  Value isUnlimited =
      arith::OrIOp::create(b, isLess(without, timeOf(chosen)),
                           arith::CmpFOp::create(b, arith::CmpFPredicate::OLE,
                                                 total.otherKeys, f32(0.0)));
  return select(isUnlimited, all, blocks);
}

/// Writes the first row.
void WorksBuilder::writeCounts(ArrayRef<Value> counts) {
  RankedTensorType type = this->type(8, b.getI32Type());
  Value column = IotaOp::create(b, type, 0);
  Value row = splat(type, i32(index(0)));
  for (auto [which, count] : llvm::enumerate(counts))
    row = select(compare(arith::CmpIPredicate::eq, column,
                         number(column, int64_t(which))),
                 splat(type, count), row);
  Value first = SliceOp::create(b, works, {index(0), Value()});
  StoreOp::create(b, row, first, ValueRange{index(0)});
}

void WorksBuilder::writeColumns(
    Value rows, Value first, ArrayRef<std::pair<WorkColumn, Value>> columns) {
  for (auto [which, value] : columns) {
    Value column = SliceOp::create(b, rows, {Value(), index(int64_t(which))});
    StoreOp::create(b, value, column, ValueRange{first});
  }
}

/// Writes the works of a sequence behind `before` others, and its tiles with
/// several parts behind `tilesBefore` others. The rows of parts begin at
/// `rowsBefore`.
void WorksBuilder::writeWorks(Value sequence, const Cost &cost,
                              const Shares &shares, Value before,
                              Value tilesBefore, Value rowsBefore) {
  Value zero = index(0), size = DimOp::create(b, works, 0);
  // Under a causal mask the last queries see the most keys.
  auto queryOf = [&](Value tile) -> Value {
    if (causal)
      tile = sub(number(tile, sub(cost.tiles, i32(index(1)))), tile);
    return arith::MulIOp::create(b, tile, number(tile, queries));
  };
  // A table that is too short keeps the first ones.
  Value start = min(add(wide(before), 1), size);
  Value count = min(wide(shares.works), sub(size, start));
  Value rows = NarrowOp::create(b, works, 0, start, count);
  Value sharedRows = number(shares.sharedRows, 0);
  Value rowsOfPart =
      select(compare(arith::CmpIPredicate::sgt, shares.sharedRows, sharedRows),
             cost.rows, sharedRows);
  forEach(
      zero, count, index(kSequencesAtOnce), {}, [&](Value first, ValueRange) {
        Value work = numbersFrom(first);
        Value parts = number(work, shares.parts);
        Value row = arith::MulIOp::create(b, work, number(work, rowsOfPart));
        writeColumns(
            rows, first,
            {{WorkColumn::Sequence, number(work, i32(sequence))},
             {WorkColumn::Query,
              queryOf(arith::DivUIOp::create(b, work, parts))},
             {WorkColumn::Part, arith::RemUIOp::create(b, work, parts)},
             {WorkColumn::Parts, parts},
             {WorkColumn::Row, add(row, number(row, rowsBefore))}});
        return SmallVector<Value>();
      });
  // In reverse: the first of them is the last row.
  Value tiles = min(wide(shares.sharedTiles), size);
  Value end = sub(size, min(wide(tilesBefore), sub(size, tiles)));
  Value last = NarrowOp::create(b, works, 0, sub(end, tiles), tiles);
  forEach(
      zero, tiles, index(kSequencesAtOnce), {}, [&](Value first, ValueRange) {
        Value place = numbersFrom(first);
        Value tile = sub(number(place, i32(sub(tiles, index(1)))), place);
        Value rowsOfTile = arith::MulIOp::create(b, shares.parts, cost.rows);
        Value row = arith::MulIOp::create(b, tile, number(tile, rowsOfTile));
        writeColumns(last, first,
                     {{WorkColumn::Sequence, number(tile, i32(sequence))},
                      {WorkColumn::Query, queryOf(tile)},
                      {WorkColumn::Part, number(tile, 0)},
                      {WorkColumn::Parts, number(tile, shares.parts)},
                      {WorkColumn::Row, add(row, number(row, rowsBefore))}});
        return SmallVector<Value>();
      });
}

void WorksBuilder::build() {
  sequences = countSequences();
  GridOp::create(b, sequences, index(1), index(1));
  Value sequence = ProgramIdOp::create(b, Dimension::x);
  Total total = sumCosts();
  Cost own = readCost(sequence);
  Shares ownShares = share(own, total.steps);
  Value zero = i32(index(0));
  enum { Before, TilesBefore, RowsBefore, Works, SharedTiles, Queries, Count };
  SmallVector<Value> sums = forEach(
      index(0), sequences, index(kSequencesAtOnce),
      SmallVector<Value>(Count, zero),
      [&](Value first, ValueRange carried) -> SmallVector<Value> {
        Cost cost = readCosts(first);
        Shares shares = share(cost, total.steps);
        Value size = number(shares.size, ownShares.size);
        Value isInFront = compare(arith::CmpIPredicate::slt, numbersFrom(first),
                                  number(size, i32(sequence)));
        Value isEarlier = arith::OrIOp::create(
            b, compare(arith::CmpIPredicate::sgt, shares.size, size),
            arith::AndIOp::create(
                b, compare(arith::CmpIPredicate::eq, shares.size, size),
                isInFront));
        Value none = number(size, 0);
        auto sum = [&](unsigned which, Value tile) -> Value {
          return add(carried[which], reduce(arith::AtomicRMWKind::addi, tile));
        };
        Value isShared =
            compare(arith::CmpIPredicate::sgt, shares.sharedTiles, none);
        Value most = reduce(arith::AtomicRMWKind::maxs,
                            select(isShared, cost.rows, none));
        return {sum(Before, select(isEarlier, shares.works, none)),
                sum(TilesBefore, select(isInFront, shares.sharedTiles, none)),
                sum(RowsBefore, select(isInFront, shares.sharedRows, none)),
                sum(Works, shares.works),
                sum(SharedTiles, shares.sharedTiles),
                max(carried[Queries], most)};
      });
  Value isFirst = compare(arith::CmpIPredicate::eq, sequence, index(0));
  choose(isFirst, [&] {
    writeCounts({sums[Works], sums[SharedTiles], sums[Queries],
                 countBlocks(total, sums[Works])});
  });
  writeWorks(sequence, own, ownShares, sums[Before], sums[TilesBefore],
             sums[RowsBefore]);
}

WorkBounds tile::boundWorks(ImplicitLocOpBuilder &b, AttentionOp op,
                            const IRMapping &mapping,
                            const Schedule &schedule) {
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  };
  auto extentOf = [&](Value operand, int64_t dim) {
    return b.createOrFold<DimOp>(mapping.lookup(operand), dim);
  };
  auto add = [&](Value x, Value y) {
    return b.createOrFold<arith::AddIOp>(x, y);
  };
  auto multiply = [&](Value x, Value y) {
    return b.createOrFold<arith::MulIOp>(x, y);
  };
  auto divideUp = [&](Value x, int64_t y) {
    return b.createOrFold<arith::CeilDivUIOp>(x, constant(y));
  };
  int64_t queries = countTileQueries(schedule), keys = (*schedule.tile)[1];
  WorkBounds most;
  if (op.getCuQ())
    // All sequences but those that end with a tile have one more.
    most.tiles = add(
        b.createOrFold<arith::DivUIOp>(extentOf(op.getQ(), 0),
                                       constant(queries)),
        b.createOrFold<arith::SubIOp>(extentOf(op.getCuQ(), 0), constant(1)));
  else
    most.tiles = multiply(extentOf(op.getQ(), 0),
                          divideUp(extentOf(op.getQ(), 1), queries));

  // The most keys of one sequence.
  Value keysOfSequence = extentOf(op.getK(), op.getCuK() ? 0 : 1);
  if (op.getPageTable())
    keysOfSequence = multiply(
        keysOfSequence, extentOf(op.getPageTable(), op.getCuPages() ? 0 : 1));
  keysOfSequence = b.createOrFold<arith::MinUIOp>(
      keysOfSequence, constant(AttentionBuilder::kFarthest));
  Value steps = multiply(most.tiles, divideUp(keysOfSequence, keys));

  // A part is larger than T / (kMostShares P), and than the lesser of
  // T / (kLeastShares P) and PartSteps. P is R / (kPartsOfBlock queries), R the
  // rows of oParts.
  PartSteps least = computePartSteps(op, schedule);
  Value rows = extentOf(op.getOParts(), 0);
  auto shares = [&](int64_t ofProcessor) {
    return divideUp(multiply(rows, constant(ofProcessor)),
                    kPartsOfBlock * queries);
  };
  Value paying = divideUp(
      steps, std::max<int64_t>(int64_t(least.ofRow + least.ofPart), 1));
  most.parts = b.createOrFold<arith::MinUIOp>(
      shares(kMostShares),
      b.createOrFold<arith::MaxUIOp>(shares(kLeastShares), paying));
  most.launched = b.createOrFold<arith::MinUIOp>(add(most.tiles, most.parts),
                                                 shares(kRounds));
  return most;
}

void tile::buildAttentionWorks(ImplicitLocOpBuilder &builder, AttentionOp op,
                               const IRMapping &mapping,
                               const Schedule &schedule) {
  WorksBuilder(builder, op, mapping, schedule).build();
}
