//===- AttentionBuilder.cpp - Heads and sequences of a kernel -------------===//

#include "AttentionBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tile;

Value AttentionBuilder::computeReach(Value side, bool isLeft) {
  Value farthest = index(kFarthest);
  APInt constant;
  bool isConstant = matchPattern(side, m_ConstantInt(&constant));
  if (!isConstant && fewRegisters)
    side = RecomputeOp::create(b, side);
  if (!offset) {
    if (isConstant)
      return index(std::min(constant.getSExtValue(), kFarthest));
    // A negative number is a large one here.
    return wide(arith::MinUIOp::create(b, side, i32(farthest)));
  }
  // The offset moves the window to the right of the one that is aligned at the
  // ends. In 64 bits, which hold all sums.
  Value position = fewRegisters ? RecomputeOp::create(b, offset) : offset;
  Value delay = sub(wide(position), sub(sk, sq));
  Value moved = isLeft ? sub(wide(side), delay) : add(wide(side), delay);
  moved = min(max(moved, index(-kFarthest)), farthest);
  if (isConstant)
    return moved;
  Value isOpen = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, side,
                                       arith::ConstantIntOp::create(b, 0, 32));
  return arith::SelectOp::create(b, isOpen, farthest, moved);
}

AttentionBuilder::Place AttentionBuilder::locate(Value number, Value perHead,
                                                 Value numHeads) {
  Value rest = arith::DivUIOp::create(b, number, perHead);
  numHeads = i32(numHeads);
  return {arith::RemUIOp::create(b, number, perHead),
          arith::RemUIOp::create(b, rest, numHeads),
          arith::DivUIOp::create(b, rest, numHeads)};
}

std::pair<Value, Value> AttentionBuilder::enterPlace(bool recomputes) {
  auto from = [&](Value value) {
    return recomputes ? recompute(value) : value;
  };
  int64_t headsAt = isPacked() ? 1 : 2;
  Value batch;
  if (!recomputes) {
    batch = DimOp::create(b, isPacked() ? cuQ : q, 0);
    if (isPacked())
      batch = sub(batch, index(1));
  }
  Value length = gridSide == Side::Queries ? maxQ : maxK;
  if (!isPacked())
    length = DimOp::create(b, gridSide == Side::Queries ? q : k, 1);
  heads = DimOp::create(b, q, headsAt);
  Value keyHeads = DimOp::create(b, k, headsAt);
  blocks = arith::CeilDivUIOp::create(b, from(length), index(gridSize));
  Value numHeads = gridOverKVHeads ? keyHeads : heads;
  if (batch) {
    // All in x, of which a grid may have 2^31 - 1: y and z end at 65535.
    Value all = arith::MulIOp::create(
        b, arith::MulIOp::create(b, blocks, numHeads), batch);
    GridOp::create(b, all, index(1), index(1));
  }
  Value number = i32(from(ProgramIdOp::create(b, Dimension::x)));
  Place place = locate(number, i32(blocks), numHeads);
  group = wide(arith::DivUIOp::create(b, i32(heads), i32(keyHeads)));
  Value owner = place.head;
  if (!gridOverKVHeads) {
    head = wide(place.head);
    owner = arith::DivUIOp::create(b, place.head, i32(group));
  }
  kvHead = wide(owner);
  return {wide(place.block), wide(place.batch)};
}

Value AttentionBuilder::launch(Side side, int64_t size, bool kvHeads) {
  gridSide = side;
  gridSize = size;
  gridOverKVHeads = kvHeads;
  auto [block, batch] = enterPlace(/*recomputes=*/false);
  enterSequence(batch);
  return block;
}

void AttentionBuilder::recomputePlace() {
  batchIndex = enterPlace(/*recomputes=*/true).second;
}

void AttentionBuilder::launchWorkers(int64_t size, bool pairs) {
  inPairs = pairs;
  Value batch = DimOp::create(b, q, 0), length = DimOp::create(b, q, 1);
  heads = DimOp::create(b, q, 2);
  Value keyHeads = DimOp::create(b, k, 2);
  group = arith::DivUIOp::create(b, heads, keyHeads);
  blocks = arith::CeilDivUIOp::create(b, length, index(size));
  Value sequences = arith::MulIOp::create(b, heads, batch);
  Value all = arith::MulIOp::create(b, blocks, sequences);
  Value launched = arith::MinUIOp::create(b, all, MultiprocessorsOp::create(b));
  GridOp::create(b, launched, index(1), index(1));
  enterSequence(Value());
  // In 32 bits, where divisions are short.
  worker = i32(ProgramIdOp::create(b, Dimension::x));
  workers = i32(NumProgramsOp::create(b, Dimension::x));
  all = i32(all);
  perHead = i32(blocks);
  if (!pairs) {
    count = arith::CeilDivUIOp::create(b, sub(all, worker), workers);
    return;
  }

  // Where there is a worker for each block of rows, it does that one alone.
  Value one = i32(index(1)), two = i32(index(2));
  Value isAlone =
      arith::CmpIOp::create(b, arith::CmpIPredicate::uge, workers, all);
  Value half = arith::ShRUIOp::create(b, add(perHead, one), one);
  perHead = arith::SelectOp::create(b, isAlone, perHead, half);
  // Else whole rounds of pairs come first. Of the `rest` pairs that are left,
  // fewer than workers, worker i does the first half of pair i, and those
  // behind do second halves alone: the block numbers worker and, on the way
  // back, 2 * workers - 1 - worker among 2 * rest halves.
  Value pairCount = arith::MulIOp::create(b, perHead, i32(sequences));
  Value rounds = arith::DivUIOp::create(b, pairCount, workers);
  Value rest = sub(pairCount, Value(arith::MulIOp::create(b, rounds, workers)));
  Value halves = add(rest, rest);
  Value back = sub(sub(add(workers, workers), one), worker);
  auto countIf = [&](Value number) -> Value {
    Value isHalf =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number, halves);
    return arith::ExtUIOp::create(b, b.getI32Type(), isHalf);
  };
  count = add(add(rounds, rounds), add(countIf(worker), countIf(back)));
  count = arith::SelectOp::create(b, isAlone, one, count);
  // From this number on, the halves are second ones, of other pairs.
  Value isBehind =
      arith::CmpIOp::create(b, arith::CmpIPredicate::uge, worker, rest);
  Value never =
      arith::ConstantIntOp::create(b, std::numeric_limits<int32_t>::max(), 32);
  secondsFrom = arith::SelectOp::create(
      b, isBehind, Value(arith::MulIOp::create(b, rounds, two)), never);
  restPairs = rest;
}

AttentionBuilder::Work AttentionBuilder::locateWork(Value number) {
  Value one = i32(index(1)), isSecond;
  Value round = number;
  if (inPairs) {
    Value isOdd = arith::AndIOp::create(b, number, one);
    isSecond = arith::TruncIOp::create(b, b.getI1Type(), isOdd);
    round = arith::ShRUIOp::create(b, number, one);
  }
  Value unit = add(worker, Value(arith::MulIOp::create(b, round, workers)));
  if (inPairs) {
    Value isBehind = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, number,
                                           secondsFrom);
    Value back = sub(sub(add(workers, workers), one), add(worker, worker));
    Value turned = add(unit, back);
    Value seconds = sub(
        Value(arith::SelectOp::create(b, isSecond, turned, unit)), restPairs);
    unit = arith::SelectOp::create(b, isBehind, seconds, unit);
    isSecond = arith::OrIOp::create(b, isSecond, isBehind);
  }
  Place place = locate(unit, perHead, heads);
  Work result;
  result.head = wide(place.head);
  result.kvHead = wide(arith::DivUIOp::create(b, place.head, i32(group)));
  result.batch = wide(place.batch);
  Value block = place.block;
  if (inPairs) {
    Value blocks32 = i32(blocks);
    // The one in the middle of an odd number has no partner.
    Value partner = sub(sub(blocks32, one), block);
    Value isSingle =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, block, partner);
    result.isIdle = arith::AndIOp::create(b, isSecond, isSingle);
    block = arith::SelectOp::create(b, isSecond, block, partner);
    block = arith::SelectOp::create(b, result.isIdle, blocks32, block);
  }
  result.block = wide(block);
  return result;
}

void AttentionBuilder::enterWork(const Work &work) {
  head = work.head;
  kvHead = work.kvHead;
  batchIndex = work.batch;
}

/// The length of a sequence and its start, within the `total` elements. In 32
/// bits, which hold every coordinate: both take registers for long.
Value AttentionBuilder::lengthOf(Value bounds, Value batch, Value total,
                                 Value &start) {
  Value all = i32(total), zero = i32(index(0));
  auto bound = [&](Value i) -> Value {
    return LoadScalarOp::create(b, b.getI32Type(), bounds, i);
  };
  Value begin = min(max(bound(batch), zero), all);
  Value end = max(min(bound(add(batch, index(1))), all), begin);
  start = wide(begin);
  return wide(sub(end, begin));
}

void AttentionBuilder::enterSequence(Value batch) {
  batchIndex = batch;
  if (isPacked()) {
    sq = lengthOf(cuQ, batch, DimOp::create(b, q, 0), startQ);
    sk = lengthOf(cuK, batch, DimOp::create(b, k, 0), startK);
    return;
  }
  sq = DimOp::create(b, q, 1);
  sk = DimOp::create(b, k, 1);
}

void AttentionBuilder::recomputeSequence() {
  for (Value *number : {&sq, &sk, &startQ})
    *number = recompute(*number);
}

void AttentionBuilder::forEachBlock(Value end, int64_t size, Value block,
                                    llvm::function_ref<void(Value)> body) {
  Value first = arith::MulIOp::create(b, block, index(size));
  if (!isPacked())
    return body(first);
  Value step = arith::MulIOp::create(b, blocks, index(size));
  forEach(narrow(first), narrow(end), narrow(step), {},
          [&](Value row, ValueRange) {
            body(row);
            return SmallVector<Value>();
          });
}

Value AttentionBuilder::viewHead(Value buffer, Side side, Value head) {
  if (!isPacked())
    return SliceOp::create(b, buffer, {batchIndex, Value(), head, Value()});
  Value rows = SliceOp::create(b, buffer, {Value(), head, Value()});
  bool queries = side == Side::Queries;
  return NarrowOp::create(b, rows, 0, queries ? startQ : startK,
                          queries ? sq : sk);
}

Value AttentionBuilder::viewRows(Value buffer, Value head) {
  if (!isPacked())
    return SliceOp::create(b, buffer, {batchIndex, head, Value()});
  Value rows = SliceOp::create(b, buffer, {head, Value()});
  return NarrowOp::create(b, rows, 0, startQ, sq);
}

Value AttentionBuilder::viewStats(Value buffer, RowNumber number, Value head) {
  Value which = index(int64_t(number));
  if (!isPacked())
    return SliceOp::create(b, buffer, {batchIndex, head, which, Value()});
  Value rows = SliceOp::create(b, buffer, {head, which, Value()});
  return NarrowOp::create(b, rows, 0, locateStats(buffer), countStats());
}

Value AttentionBuilder::countStats() {
  return isPacked() ? roundUp(sq, kStatsRows) : sq;
}

/// Sequences move up so far that the next one begins behind this one's rows and
/// those that are zero. In too small a buffer they overlap, at its end.
Value AttentionBuilder::locateStats(Value buffer) {
  Value moved = arith::MulIOp::create(b, batchIndex, index(kStatsRows));
  Value room = sub(DimOp::create(b, buffer, 2), countStats());
  return min(add(roundDown(startQ, kStatsRows), moved),
             roundDown(max(room, index(0)), kAlignedRows));
}

Value AttentionBuilder::loadRows(Value buffer, int64_t count, Value row) {
  auto from = cast<BufferType>(buffer.getType());
  SmallVector<int64_t> shape{count, padColumns(from.getShape().back())};
  Value tile = LoadOp::create(b, type(shape, from.getElementType()), buffer,
                              ValueRange{row, index(0)});
  if (from.getElementType().isF32())
    return tile;
  return arith::ExtFOp::create(b, type(shape, b.getF32Type()), tile);
}

void AttentionBuilder::storeRows(Value rows, Value buffer, Value row) {
  auto tile = cast<RankedTensorType>(rows.getType());
  Type stored = cast<BufferType>(buffer.getType()).getElementType();
  if (!stored.isF32())
    rows = arith::TruncFOp::create(b, type(tile.getShape(), stored), rows);
  StoreOp::create(b, rows, buffer, ValueRange{row, index(0)});
}

void AttentionBuilder::computeFactors() {
  Value log2e = f32(1.4426950408889634);
  // Masked scores are -inf, which a factor of zero would make NaN; the
  // smallest normal number is as good as zero.
  c = arith::MaximumFOp::create(
      b, arith::MulFOp::create(b, softcap ? softcap : scale, log2e),
      f32(std::numeric_limits<float>::min()));
  if (softcap)
    inner = arith::DivFOp::create(b, scale, softcap);
}

Value AttentionBuilder::loadSink(Value sink, Value head) {
  Type stored = cast<BufferType>(sink.getType()).getElementType();
  Value number = LoadScalarOp::create(b, stored, sink, head);
  if (!stored.isF32())
    number = arith::ExtFOp::create(b, b.getF32Type(), number);
  return arith::MulFOp::create(b, number, f32(1.4426950408889634));
}

Value AttentionBuilder::score(Value qk) {
  if (!softcap)
    return qk;
  Value factor = splat(cast<RankedTensorType>(qk.getType()), inner);
  return math::TanhOp::create(b, arith::MulFOp::create(b, qk, factor));
}

Value AttentionBuilder::scoreDerivative(Value score) {
  if (!softcap)
    return {};
  auto tile = cast<RankedTensorType>(score.getType());
  return math::FmaOp::create(b, arith::NegFOp::create(b, score), score,
                             fill(tile, 1.0f));
}
