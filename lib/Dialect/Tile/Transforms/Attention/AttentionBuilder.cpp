//===- AttentionBuilder.cpp - Heads and sequences of a kernel -------------===//

#include "AttentionBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;

Value AttentionBuilder::launch(Side side, int64_t size, bool kvHeads) {
  int64_t headsAt = isPacked() ? 1 : 2;
  Value batch = DimOp::create(b, isPacked() ? cuQ : q, 0);
  if (isPacked())
    batch = sub(batch, index(1));
  Value length = side == Side::Queries ? maxQ : maxK;
  if (!isPacked())
    length = DimOp::create(b, side == Side::Queries ? q : k, 1);
  heads = DimOp::create(b, q, headsAt);
  Value keyHeads = DimOp::create(b, k, headsAt);
  blocks = arith::CeilDivUIOp::create(b, length, index(size));
  GridOp::create(b, blocks, kvHeads ? keyHeads : heads, batch);

  Value block = ProgramIdOp::create(b, Dimension::x);
  Value y = ProgramIdOp::create(b, Dimension::y);
  batchIndex = ProgramIdOp::create(b, Dimension::z);
  group = arith::DivUIOp::create(b, heads, keyHeads);
  head = kvHeads ? Value() : y;
  kvHead = kvHeads ? y : Value(arith::DivUIOp::create(b, y, group));
  enterSequence(batchIndex);
  return block;
}

void AttentionBuilder::launchWorkers(int64_t size, int64_t most, bool pairs) {
  inPairs = pairs;
  Value batch = DimOp::create(b, q, 0), length = DimOp::create(b, q, 1);
  heads = DimOp::create(b, q, 2);
  Value keyHeads = DimOp::create(b, k, 2);
  group = arith::DivUIOp::create(b, heads, keyHeads);
  blocks = arith::CeilDivUIOp::create(b, length, index(size));
  Value perHead =
      pairs ? Value(arith::CeilDivUIOp::create(b, blocks, index(2))) : blocks;
  Value all =
      arith::MulIOp::create(b, arith::MulIOp::create(b, perHead, heads), batch);
  Value launched = arith::MinUIOp::create(b, all, index(most));
  GridOp::create(b, launched, index(1), index(1));
  Value first = ProgramIdOp::create(b, Dimension::x);
  enterSequence(Value());
  // In 32 bits, where divisions are short.
  firstWork = i32(first);
  workers = i32(launched);
  allWork = i32(all);
}

Value AttentionBuilder::countWork() {
  Value count = arith::CeilDivUIOp::create(b, sub(allWork, firstWork), workers);
  return inPairs ? add(count, count) : count;
}

AttentionBuilder::Work AttentionBuilder::locateWork(Value number) {
  auto wide = [&](Value value) -> Value {
    return arith::IndexCastOp::create(b, b.getIndexType(), value);
  };
  Value one = i32(index(1)), half;
  if (inPairs) {
    half = arith::AndIOp::create(b, number, one);
    number = arith::ShRUIOp::create(b, number, one);
  }
  Value blocks32 = i32(blocks);
  Value perHead = blocks32;
  if (inPairs)
    perHead = arith::ShRUIOp::create(b, add(blocks32, one), one);
  Value work = add(firstWork, Value(arith::MulIOp::create(b, number, workers)));
  Value block = arith::RemUIOp::create(b, work, perHead);
  Value rest = arith::DivUIOp::create(b, work, perHead);
  Value head32 = arith::RemUIOp::create(b, rest, i32(heads));
  Work result;
  result.head = wide(head32);
  result.kvHead = wide(arith::DivUIOp::create(b, head32, i32(group)));
  result.batch = wide(arith::DivUIOp::create(b, rest, i32(heads)));
  if (inPairs) {
    // The one in the middle of an odd number has no partner.
    Value partner = sub(sub(blocks32, one), block);
    Value isSecond =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, half, one);
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
  auto wide = [&](Value value) -> Value {
    return arith::IndexCastOp::create(b, b.getIndexType(), value);
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
                                    llvm::function_ref<void(Value)> body,
                                    bool hasRoles) {
  Value first = arith::MulIOp::create(b, block, index(size));
  if (!isPacked())
    return body(first);
  Value step = arith::MulIOp::create(b, blocks, index(size));
  if (hasRoles) {
    first = i32(first);
    end = i32(end);
    step = i32(step);
  }
  auto loop = scf::ForOp::create(b, first, end, step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVar();
  if (hasRoles) {
    // Most blocks of threads have one block of rows or none.
    loop->setAttr(TileDialect::kStagesAttr, b.getI64IntegerAttr(1));
    row = arith::IndexCastOp::create(b, b.getIndexType(), row);
  }
  body(row);
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

Value AttentionBuilder::loadStats(Value buffer, RowNumber number, Value head,
                                  Value row, int64_t count) {
  assert(kStatsRows % count == 0 && "reads the next sequence");
  Value which = index(int64_t(number));
  Value rows = SliceOp::create(b, buffer, {head, which, Value()});
  return LoadOp::create(b, type(count, b.getF32Type()), rows,
                        add(locateStats(buffer), row));
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
