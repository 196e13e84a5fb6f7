//===- Forward.cpp - tile.attention as a tile program ---------------------===//
//
// Flash attention 2, forward (Dao, 2023): one block of threads computes
// `blockM` rows of the output. It walks over the keys `blockN` at a time and
// keeps, per row, the largest score so far, the sum of the exponentials
// relative to it, and the accordingly scaled output. Exponentials are powers
// of two: exp(scale * s) = exp2(c * s) with c = scale * log2(e).
//
//===----------------------------------------------------------------------===//

#include "Forward.h"
#include "RowBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cmath>

using namespace mlir;
using namespace tile;

namespace {
/// What a block knows of its rows after some of the keys.
struct Partial {
  /// Output relative to `max`, and not divided by `sum`: [blockM, Dv].
  Value acc;
  /// Largest score, -inf before the first visible key: [blockM].
  Value max;
  /// Sum of exp2(c * (score - max)): [blockM].
  Value sum;
};

/// Writes the body of the kernel of one tile.attention at the insertion point.
class ForwardBuilder : RowBuilder {
public:
  ForwardBuilder(ImplicitLocOpBuilder &builder, AttentionOp op,
                 const IRMapping &mapping, const Schedule &schedule)
      : RowBuilder(builder, op, mapping, schedule),
        o(mapping.lookup(op.getO())), lse(mapping.lookupOrNull(op.getLse())),
        sink(mapping.lookupOrNull(op.getSink())), merges(op.getMerge()) {}

  using RowBuilder::buildRows;

private:
  void enterHead() override;
  /// Views of what is written, and the sink.
  void enterOutputs();
  SmallVector<Value> beginRows() override;
  SmallVector<Value> step(Value n, ValueRange carried) override;
  void endRows(ValueRange carried) override;

  Value o, lse, sink;
  /// Whether o and lse hold the result for other keys.
  bool merges;
  /// This block's views of the buffers, and its head's sink times log2(e).
  Value qh, kh, vh, oh, lseh, sink2;
  /// Q, and c per row and per score.
  Value qTile, cRows, cScores;
};
} // namespace

void ForwardBuilder::enterHead() {
  qh = viewHead(q, Side::Queries, head);
  kh = viewHead(k, Side::Keys, kvHead);
  vh = viewHead(v, Side::Keys, kvHead);
}

void ForwardBuilder::enterOutputs() {
  oh = viewHead(o, Side::Queries, head);
  if (lse)
    lseh = viewRows(lse, head);
  if (sink)
    sink2 = loadSink(sink, head);
}

SmallVector<Value> ForwardBuilder::beginRows() {
  RankedTensorType perRow = rows(b.getF32Type());
  qTile = LoadOp::create(b, type({blockM, headDim}, element), qh,
                         ValueRange{row, index(0)});
  cRows = splat(perRow, c);
  cScores = splat(scores(b.getF32Type()), c);
  return {fill(type({blockM, valueDim}, b.getF32Type()), 0.0f),
          fill(perRow, -INFINITY), fill(perRow, 0.0f)};
}

/// Adds the keys n .. n + blockN - 1.
SmallVector<Value> ForwardBuilder::step(Value n, ValueRange carried) {
  Partial partial{carried[0], carried[1], carried[2]};
  RankedTensorType tile = scores(b.getF32Type()), perRow = rows(b.getF32Type());
  SmallVector<Value> at{n, index(0)};
  Value keys = LoadOp::create(b, type({blockN, headDim}, element), kh, at);
  Value keysT = TransposeOp::create(b, type({headDim, blockN}, element), keys,
                                    ArrayRef<int64_t>{1, 0});
  Value s = score(DotOp::create(b, tile, qTile, keysT, fill(tile, 0.0f)));
  s = arith::SelectOp::create(b, visible(n), s, fill(tile, -INFINITY));

  Value max = arith::MaxNumFOp::create(
      b, partial.max,
      ReduceOp::create(b, perRow, arith::AtomicRMWKind::maxnumf, s, 1));
  // A row that has seen no key yet: any finite pivot gives exp2(-inf) = 0,
  // where -inf itself would give exp2(-inf + inf).
  Value sawNothing = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, max,
                                           fill(perRow, -INFINITY));
  Value pivot = arith::SelectOp::create(b, sawNothing, fill(perRow, 0.0f), max);
  Value offset =
      arith::NegFOp::create(b, arith::MulFOp::create(b, pivot, cRows));
  Value exponent = math::FmaOp::create(b, s, cScores, spread(offset, blockN));
  Value p = math::Exp2Op::create(b, exponent);

  // What came before was relative to the old maximum.
  Value change = arith::SubFOp::create(b, partial.max, pivot);
  Value alpha =
      math::Exp2Op::create(b, arith::MulFOp::create(b, change, cRows));
  Value sum = math::FmaOp::create(
      b, partial.sum, alpha,
      ReduceOp::create(b, perRow, arith::AtomicRMWKind::addf, p, 1));
  Value scaled = arith::MulFOp::create(b, partial.acc, spread(alpha, valueDim));
  Value weights = arith::TruncFOp::create(b, scores(element), p);
  Value values = LoadOp::create(b, type({blockN, valueDim}, element), vh, at);
  Value acc = DotOp::create(b, scaled.getType(), weights, values, scaled);
  return {acc, max, sum};
}

/// Writes the rows. Those that see no key have max = -inf, sum = 0, acc = 0.
/// The sink is one more score, without a value; the result for other keys is
/// one more score, their lse, with the value o.
void ForwardBuilder::endRows(ValueRange carried) {
  // Only here, so that the loops need not keep it in registers.
  if (fewRegisters && isPacked())
    head = recompute(head);
  enterOutputs();
  Partial partial{carried[0], carried[1], carried[2]};
  RankedTensorType perRow = rows(b.getF32Type());
  // Everything relative to 2^base2: c * max, or the sink if that is larger.
  Value base2 = arith::MulFOp::create(b, partial.max, cRows);
  Value sum = partial.sum, factor, mergedWeight;
  SmallVector<Value> scores;
  if (sink)
    scores.push_back(splat(perRow, sink2));
  if (merges)
    scores.push_back(arith::MulFOp::create(b,
                                           LoadOp::create(b, perRow, lseh, row),
                                           fill(perRow, 1.4426950408889634f)));
  if (!scores.empty()) {
    Value largest = base2;
    for (Value score : scores)
      largest = arith::MaxNumFOp::create(b, largest, score);
    Value isNothing = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ,
                                            largest, fill(perRow, -INFINITY));
    Value pivot =
        arith::SelectOp::create(b, isNothing, fill(perRow, 0.0f), largest);
    factor = math::Exp2Op::create(b, arith::SubFOp::create(b, base2, pivot));
    for (auto [i, score] : llvm::enumerate(scores)) {
      mergedWeight =
          math::Exp2Op::create(b, arith::SubFOp::create(b, score, pivot));
      if (i == 0)
        sum = math::FmaOp::create(b, sum, factor, mergedWeight);
      else
        sum = arith::AddFOp::create(b, sum, mergedWeight);
    }
    base2 = pivot;
  }
  Value one = fill(perRow, 1.0f);
  Value isEmpty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum,
                                        fill(perRow, 0.0f));
  Value divisor = arith::SelectOp::create(b, isEmpty, one, sum);
  Value inverse = arith::DivFOp::create(b, one, divisor);
  Value weight = inverse;
  if (factor)
    weight = arith::MulFOp::create(b, inverse, factor);
  Value out = arith::MulFOp::create(b, partial.acc, spread(weight, valueDim));
  if (merges) {
    mergedWeight = arith::MulFOp::create(b, mergedWeight, inverse);
    out = math::FmaOp::create(b, loadRows(oh, blockM, row),
                              spread(mergedWeight, valueDim), out);
  }
  storeRows(out, oh, row);
  if (!lse)
    return;
  // ln(2) * (base2 + log2(sum)): -inf for empty rows.
  Value log = math::Log2Op::create(b, sum);
  Value natural =
      arith::MulFOp::create(b, arith::AddFOp::create(b, base2, log),
                            splat(perRow, f32(0.69314718055994531)));
  StoreOp::create(b, natural, lseh, ValueRange{row});
}

void tile::buildAttentionForward(ImplicitLocOpBuilder &builder, AttentionOp op,
                                 const IRMapping &mapping,
                                 const Schedule &schedule) {
  ForwardBuilder(builder, op, mapping, schedule).buildRows();
}
