//===- BackwardRows.cpp - What comes before and after the products --------===//
//
// Kernels that go once over rows: sums of products, zeros, conversions.
//
//===----------------------------------------------------------------------===//

#include "AttentionBuilder.h"
#include "Backward.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tile;

/// Rows of one block of threads: those that convert sums are faster with half
/// as many, docs/notes/hopper-backward.md.
static constexpr int64_t kRows = 32, kScaledRows = 16;
/// Rows that a block reads at a time where it goes over all of a head.
static constexpr int64_t kManyRows = 1024;

namespace {
class PassBuilder : AttentionBuilder {
public:
  PassBuilder(ImplicitLocOpBuilder &builder, AttentionBackwardOp op,
              const IRMapping &mapping)
      : AttentionBuilder(builder, op, mapping), op(op), mapping(mapping) {}

  void buildStats();
  void buildSink();
  void buildZero();
  void buildScaleQueries();
  void buildSumKeys();

private:
  Value lookup(Value operand) { return mapping.lookup(operand); }
  Value load(Value buffer, Value row) { return loadRows(buffer, rows, row); }
  /// Returns a tile of zeros for rows of `buffer`.
  Value zeroRows(Value buffer) {
    int64_t extent = cast<BufferType>(buffer.getType()).getShape().back();
    return fill(type({rows, padColumns(extent)}, b.getF32Type()), 0.0f);
  }
  /// Writes rows of a gradient, or adds them to what its buffer holds.
  void storeGradient(Value tile, Value buffer, Value row) {
    if (op.getAccumulate())
      tile = arith::AddFOp::create(b, tile, load(buffer, row));
    storeRows(tile, buffer, row);
  }

  AttentionBackwardOp op;
  const IRMapping &mapping;
  /// Rows of a tile.
  int64_t rows = kRows;
};
} // namespace

void PassBuilder::buildStats() {
  Value block = launch(Side::Queries, kRows);
  Value oh = viewHead(lookup(op.getO()), Side::Queries, head);
  Value doh = viewHead(lookup(op.getDO()), Side::Queries, head);
  Value lseh = viewRows(lookup(op.getLse()), head), dlseh;
  if (op.getDLse())
    dlseh = viewRows(lookup(op.getDLse()), head);
  Value stats = lookup(op.getStats());
  Value deltah = viewStats(stats, RowNumber::Delta, head);
  Value base2h = viewStats(stats, RowNumber::LseToBase2, head);
  RankedTensorType perRow = type(kRows, b.getF32Type());
  float infinity = std::numeric_limits<float>::infinity();
  Value dqh;
  if (op.getDqAcc())
    dqh = viewHead(lookup(op.getDqAcc()), Side::Queries, head);
  // Beyond the end all that is read is zero, and so is what comes of it.
  forEachBlock(countStats(), kRows, block, [&](Value row) {
    Value product = arith::MulFOp::create(b, load(oh, row), load(doh, row));
    Value sum = ReduceOp::create(b, perRow, arith::AtomicRMWKind::addf, product,
                                 /*dim=*/1);
    Value lse = LoadOp::create(b, perRow, lseh, row);
    Value isEmpty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, lse,
                                          fill(perRow, -infinity));
    if (dlseh) {
      // Where lse is -infinity its gradient may be NaN, and has no effect.
      Value dlse =
          arith::SelectOp::create(b, isEmpty, fill(perRow, 0.0f),
                                  LoadOp::create(b, perRow, dlseh, row));
      sum = arith::SubFOp::create(b, sum, dlse);
    }
    StoreOp::create(b, sum, deltah, row);
    // Where a query sees nothing all weights are zero: exp2(s - infinity).
    Value base2 =
        arith::MulFOp::create(b, lse, fill(perRow, 1.4426950408889634f));
    base2 = arith::SelectOp::create(b, isEmpty, fill(perRow, infinity), base2);
    StoreOp::create(b, base2, base2h, row);
    if (dqh)
      storeRows(zeroRows(dqh), dqh, row);
  });
}

/// The order of the sum is fixed: a block goes over all rows of its head.
void PassBuilder::buildSink() {
  int64_t headsAt = isPacked() ? 1 : 2;
  Value numHeads = DimOp::create(b, q, headsAt);
  GridOp::create(b, numHeads, index(1), index(1));
  Value head = ProgramIdOp::create(b, Dimension::x);
  Value batch = DimOp::create(b, isPacked() ? cuQ : q, 0);
  if (isPacked())
    batch = sub(batch, index(1));
  RankedTensorType many = type(kManyRows, b.getF32Type());
  Value sinks = splat(many, loadSink(lookup(op.getSink()), head));

  auto addRows = [&](Value lseh, Value deltah, Value row, Value sum) -> Value {
    Value lse = LoadOp::create(b, many, lseh, row);
    Value delta = LoadOp::create(b, many, deltah, row);
    // No weight exceeds 1, but for rows beyond the end, where lse reads as 0;
    // their delta is 0.
    Value exponent = arith::MinNumFOp::create(
        b, arith::SubFOp::create(b, sinks, lse), fill(many, 0.0f));
    return math::FmaOp::create(b, math::Exp2Op::create(b, exponent), delta,
                               sum);
  };
  SmallVector<Value> sums =
      forEach(index(0), batch, index(1), fill(many, 0.0f),
              [&](Value sequence, ValueRange carried) {
                enterSequence(sequence);
                Value stats = lookup(op.getStats());
                Value lseh = viewStats(stats, RowNumber::LseToBase2, head);
                Value deltah = viewStats(stats, RowNumber::Delta, head);
                return forEach(index(0), sq, index(kManyRows), carried,
                               [&](Value row, ValueRange carried) {
                                 return SmallVector<Value>{
                                     addRows(lseh, deltah, row, carried[0])};
                               });
              });
  // Tiles have a dimension at least: reduce 1 x kManyRows.
  Value row =
      BroadcastOp::create(b, type({1, kManyRows}, b.getF32Type()), sums[0], 0);
  RankedTensorType one = type(1, b.getF32Type());
  Value sum = ReduceOp::create(b, one, arith::AtomicRMWKind::addf, row, 1);
  Value gradient = arith::NegFOp::create(b, sum);
  Value dSink = lookup(op.getDSink());
  if (op.getAccumulate())
    gradient =
        arith::AddFOp::create(b, gradient, LoadOp::create(b, one, dSink, head));
  StoreOp::create(b, gradient, dSink, head);
}

void PassBuilder::buildZero() {
  Value block = launch(Side::Keys, kRows, /*kvHeads=*/true);
  Value dkh = viewHead(lookup(op.getDkAcc()), Side::Keys, kvHead);
  Value dvh = viewHead(lookup(op.getDvAcc()), Side::Keys, kvHead);
  forEachBlock(sk, kRows, block, [&](Value row) {
    storeRows(zeroRows(dkh), dkh, row);
    storeRows(zeroRows(dvh), dvh, row);
  });
}

void PassBuilder::buildScaleQueries() {
  rows = kScaledRows;
  Value block = launch(Side::Queries, rows);
  Value acc = viewHead(lookup(op.getDqAcc()), Side::Queries, head);
  Value dqh = viewHead(lookup(op.getDq()), Side::Queries, head);
  forEachBlock(sq, rows, block, [&](Value row) {
    Value sum = load(acc, row);
    Value factor = splat(cast<RankedTensorType>(sum.getType()), scale);
    storeGradient(arith::MulFOp::create(b, sum, factor), dqh, row);
  });
}

void PassBuilder::buildSumKeys() {
  if (op.getKvMode() == KVAccumulation::Atomic)
    rows = kScaledRows;
  Value block = launch(Side::Keys, rows, /*kvHeads=*/true);
  auto sum = [&](Value acc, Value gradient, Value row) {
    Value to = viewHead(gradient, Side::Keys, kvHead);
    if (op.getKvMode() == KVAccumulation::Atomic)
      return storeGradient(load(viewHead(acc, Side::Keys, kvHead), row), to,
                           row);
    Value firstHead = arith::MulIOp::create(b, kvHead, group);
    SmallVector<Value> total =
        forEach(index(0), group, index(1), zeroRows(to),
                [&](Value i, ValueRange carried) {
                  Value from = viewHead(acc, Side::Keys, add(firstHead, i));
                  Value next =
                      arith::AddFOp::create(b, carried[0], load(from, row));
                  return SmallVector<Value>{next};
                });
    storeGradient(total[0], to, row);
  };
  forEachBlock(sk, rows, block, [&](Value row) {
    sum(lookup(op.getDkAcc()), lookup(op.getDk()), row);
    sum(lookup(op.getDvAcc()), lookup(op.getDv()), row);
  });
}

void tile::buildBackwardStats(ImplicitLocOpBuilder &builder,
                              AttentionBackwardOp op,
                              const IRMapping &mapping) {
  PassBuilder(builder, op, mapping).buildStats();
}

void tile::buildBackwardSink(ImplicitLocOpBuilder &builder,
                             AttentionBackwardOp op, const IRMapping &mapping) {
  PassBuilder(builder, op, mapping).buildSink();
}

void tile::buildBackwardZero(ImplicitLocOpBuilder &builder,
                             AttentionBackwardOp op, const IRMapping &mapping) {
  PassBuilder(builder, op, mapping).buildZero();
}

void tile::buildBackwardScaleQueries(ImplicitLocOpBuilder &builder,
                                     AttentionBackwardOp op,
                                     const IRMapping &mapping) {
  PassBuilder(builder, op, mapping).buildScaleQueries();
}

void tile::buildBackwardSumKeys(ImplicitLocOpBuilder &builder,
                                AttentionBackwardOp op,
                                const IRMapping &mapping) {
  PassBuilder(builder, op, mapping).buildSumKeys();
}
