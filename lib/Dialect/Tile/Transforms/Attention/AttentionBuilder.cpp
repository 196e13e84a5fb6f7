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

void AttentionBuilder::forEachWork(int64_t size, int64_t most, bool pairs,
                                   int64_t stages,
                                   llvm::function_ref<void(Value)> body) {
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
  auto wide = [&](Value value) -> Value {
    return arith::IndexCastOp::create(b, b.getIndexType(), value);
  };
  Value perHead32 = i32(perHead), heads32 = i32(heads), group32 = i32(group);
  Value one = i32(index(1));
  auto loop = scf::ForOp::create(b, i32(first), i32(all), i32(launched));
  loop->setAttr(TileDialect::kStagesAttr, b.getI64IntegerAttr(stages));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value work = loop.getInductionVar();
  Value block = arith::RemUIOp::create(b, work, perHead32);
  Value rest = arith::DivUIOp::create(b, work, perHead32);
  Value head32 = arith::RemUIOp::create(b, rest, heads32);
  head = wide(head32);
  kvHead = wide(arith::DivUIOp::create(b, head32, group32));
  batchIndex = wide(arith::DivUIOp::create(b, rest, heads32));
  if (!pairs)
    return body(wide(block));
  // The one in the middle of an odd number has no partner.
  Value partner = sub(sub(i32(blocks), one), block);
  Value isSingle =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, block, partner);
  Value count = arith::SelectOp::create(b, isSingle, one, i32(index(2)));
  Value none = i32(index(0));
  auto both = scf::ForOp::create(b, none, count, one);
  both->setAttr(TileDialect::kStagesAttr, b.getI64IntegerAttr(stages));
  b.setInsertionPointToStart(both.getBody());
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                        both.getInductionVar(), none);
  body(wide(arith::SelectOp::create(b, isFirst, partner, block)));
}

/// The length of a sequence and its start, within the `total` elements.
Value AttentionBuilder::lengthOf(Value bounds, Value batch, Value total,
                                 Value &start) {
  auto bound = [&](Value i) -> Value {
    Value number = LoadScalarOp::create(b, b.getI32Type(), bounds, i);
    return arith::IndexCastOp::create(b, b.getIndexType(), number);
  };
  start = min(max(bound(batch), index(0)), total);
  Value end = min(bound(add(batch, index(1))), total);
  return max(sub(end, start), index(0));
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

void AttentionBuilder::forEachBlock(Side side, int64_t size, Value block,
                                    llvm::function_ref<void(Value)> body) {
  Value first = arith::MulIOp::create(b, block, index(size));
  if (!isPacked())
    return body(first);
  Value step = arith::MulIOp::create(b, blocks, index(size));
  auto loop =
      scf::ForOp::create(b, first, side == Side::Queries ? sq : sk, step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
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
  return NarrowOp::create(b, rows, 0, startQ, sq);
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
