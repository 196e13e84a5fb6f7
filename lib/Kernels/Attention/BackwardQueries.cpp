//===- BackwardQueries.cpp - dQ without atomics ---------------------------===//
//
// A block of threads owns `blockM` queries and walks over the keys that they
// see, as the forward kernel does: S = Q K^T, dP = dO V^T, dQ += dS K.
//
//===----------------------------------------------------------------------===//

#include "Backward.h"
#include "RowBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tile;

namespace {
class QueryBuilder : RowBuilder {
public:
  QueryBuilder(ImplicitLocOpBuilder &builder, AttentionBackwardOp op,
               const IRMapping &mapping, const Schedule &schedule)
      : RowBuilder(builder, op, mapping, schedule),
        dO(mapping.lookup(op.getDO())), stats(mapping.lookup(op.getStats())),
        dq(mapping.lookup(op.getDq())), accumulates(op.getAccumulate()) {}

  void build() { buildRows(); }

private:
  void enterHead() override;
  SmallVector<Value> beginRows() override;
  SmallVector<Value> step(Value n, ValueRange carried) override;
  void endRows(ValueRange carried) override;

  Value dO, stats, dq;
  /// Whether dq is added to what its buffer holds.
  bool accumulates;
  /// This block's views of the buffers.
  Value qh, kh, vh, doh, lseh, deltah, dqh;
  /// Q and dO; -lse to base 2 and delta per row; c per score.
  Value queries, gradients, offset, deltas, cScores;
};
} // namespace

void QueryBuilder::enterHead() {
  qh = viewHead(q, Side::Queries, head);
  kh = viewHead(k, Side::Keys, kvHead);
  vh = viewHead(v, Side::Keys, kvHead);
  doh = viewHead(dO, Side::Queries, head);
  dqh = viewHead(dq, Side::Queries, head);
  lseh = viewStats(stats, RowNumber::LseToBase2, head);
  deltah = viewStats(stats, RowNumber::Delta, head);
}

SmallVector<Value> QueryBuilder::beginRows() {
  RankedTensorType perRow = rows(b.getF32Type());
  SmallVector<Value> at{row, index(0)};
  queries = LoadOp::create(b, type({blockM, headDim}, element), qh, at);
  gradients = LoadOp::create(b, type({blockM, valueDim}, element), doh, at);
  Value sums = LoadOp::create(b, perRow, lseh, row);
  offset = arith::NegFOp::create(b, sums);
  deltas = LoadOp::create(b, perRow, deltah, row);
  cScores = splat(scores(b.getF32Type()), c);
  return {fill(type({blockM, headDim}, b.getF32Type()), 0.0f)};
}

SmallVector<Value> QueryBuilder::step(Value n, ValueRange carried) {
  RankedTensorType tile = scores(b.getF32Type());
  SmallVector<Value> at{n, index(0)};
  auto transpose = [&](Value value, int64_t columns) -> Value {
    return TransposeOp::create(b, type({columns, blockN}, element), value,
                               ArrayRef<int64_t>{1, 0});
  };
  auto dot = [&](Value x, Value y, Value acc) -> Value {
    return DotOp::create(b, acc.getType(), x, y, acc);
  };
  Value keys = LoadOp::create(b, type({blockN, headDim}, element), kh, at);
  Value s = score(dot(queries, transpose(keys, headDim), fill(tile, 0.0f)));
  Value p = math::Exp2Op::create(
      b, math::FmaOp::create(b, s, cScores, spread(offset, blockN)));
  p = arith::SelectOp::create(b, visible(n), p, fill(tile, 0.0f));
  Value values = LoadOp::create(b, type({blockN, valueDim}, element), vh, at);
  Value dp = dot(gradients, transpose(values, valueDim), fill(tile, 0.0f));
  Value ds = arith::MulFOp::create(
      b, p, arith::SubFOp::create(b, dp, spread(deltas, blockN)));
  if (Value derivative = scoreDerivative(s))
    ds = arith::MulFOp::create(b, ds, derivative);
  Value dsLow = arith::TruncFOp::create(b, scores(element), ds);
  return {dot(dsLow, keys, carried[0])};
}

void QueryBuilder::endRows(ValueRange carried) {
  auto f32Type = cast<RankedTensorType>(carried[0].getType());
  Value scaled = arith::MulFOp::create(b, carried[0], splat(f32Type, scale));
  if (accumulates)
    scaled = arith::AddFOp::create(b, scaled, loadRows(dqh, blockM, row));
  storeRows(scaled, dqh, row);
}

void tile::buildBackwardQueries(ImplicitLocOpBuilder &builder,
                                AttentionBackwardOp op,
                                const IRMapping &mapping,
                                const Schedule &schedule) {
  QueryBuilder(builder, op, mapping, schedule).build();
}
