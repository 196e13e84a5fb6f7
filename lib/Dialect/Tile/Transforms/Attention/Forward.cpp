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
#include "ProgramBuilder.h"
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
class ForwardBuilder : ProgramBuilder {
public:
  /// The operands of `op` are mapped by `mapping` to values of the kernel.
  ForwardBuilder(ImplicitLocOpBuilder &builder, AttentionOp op,
                 const IRMapping &mapping, TileSizes sizes)
      : ProgramBuilder(builder), op(op), sizes(sizes),
        q(mapping.lookup(op.getQ())), k(mapping.lookup(op.getK())),
        v(mapping.lookup(op.getV())), o(mapping.lookup(op.getO())),
        lse(op.getLse() ? mapping.lookup(op.getLse()) : Value()),
        scale(mapping.lookup(op.getScale())),
        headDim(op.getQ().getType().getShape()[3]),
        valueDim(op.getV().getType().getShape()[3]),
        element(op.getQ().getType().getElementType()) {
    auto sides = op.getWindow().value_or(ArrayRef<int64_t>{-1, -1});
    if (sides[0] >= 0)
      left = sides[0];
    if (sides[1] >= 0)
      right = sides[1];
    if (op.getCausal())
      right = 0;
  }

  void build();

private:
  void computePosition();
  void computeKeyRanges();
  Partial loop(Value begin, Value end, bool maskLeft, bool maskRight,
               Partial partial);
  Partial step(Value n, bool maskLeft, bool maskRight, Partial partial);
  Value visible(Value n, bool maskLeft);
  void finish(Partial partial);

  RankedTensorType rows(Type element) { return type(sizes.blockM, element); }
  RankedTensorType scores(Type element) {
    return type({sizes.blockM, sizes.blockN}, element);
  }

  AttentionOp op;
  TileSizes sizes;
  Value q, k, v, o, lse, scale;
  int64_t headDim, valueDim;
  Type element;
  /// How far a query sees to both sides of the diagonal; none: no limit.
  std::optional<int64_t> left, right;

  /// This block's first row, and its views of the buffers.
  Value row, qh, kh, vh, oh, lseh;
  /// Length of the keys.
  Value sk;
  /// The key on the diagonal of `row`.
  Value diagonal;
  /// First key and end of the keys that some row sees; those of the blocks
  /// that all rows see.
  Value begin, end, fullBegin, fullEnd;
  /// Q, and c as a scalar, per row and per score.
  Value qTile, c, cRows, cScores;
  /// Per row, the first visible key and the end of the visible keys, as i32.
  Value lower, upper;
};
} // namespace

/// The grid, and which rows of which head this block computes.
void ForwardBuilder::computePosition() {
  Value batch = DimOp::create(b, q, 0);
  Value sq = DimOp::create(b, q, 1);
  Value heads = DimOp::create(b, q, 2);
  Value kvHeads = DimOp::create(b, k, 2);
  sk = DimOp::create(b, k, 1);
  Value blocks = arith::CeilDivUIOp::create(b, sq, index(sizes.blockM));
  GridOp::create(b, blocks, heads, batch);

  Value block = ProgramIdOp::create(b, Dimension::x);
  Value head = ProgramIdOp::create(b, Dimension::y);
  Value batchIndex = ProgramIdOp::create(b, Dimension::z);
  // Under a causal mask the last rows see the most keys: start with them, so
  // that the blocks that run last are the short ones.
  if (op.getCausal())
    block = sub(sub(blocks, index(1)), block);
  row = arith::MulIOp::create(b, block, index(sizes.blockM));
  Value group = arith::DivUIOp::create(b, heads, kvHeads);
  Value kvHead = arith::DivUIOp::create(b, head, group);
  if (left || right)
    diagonal = add(row, sub(sk, sq));

  auto slice = [&](Value buffer, Value head) -> Value {
    return SliceOp::create(b, buffer, {batchIndex, Value(), head, Value()});
  };
  qh = slice(q, head);
  kh = slice(k, kvHead);
  vh = slice(v, kvHead);
  oh = slice(o, head);
  if (lse)
    lseh = SliceOp::create(b, lse, {batchIndex, head, Value()});
}

/// Which blocks of keys to visit, and which of them need no mask. Row r of
/// this block sees the keys from diagonal + r - left to diagonal + r + right.
void ForwardBuilder::computeKeyRanges() {
  Value zero = index(0);
  begin = fullBegin = zero;
  end = sk;
  Value endForAll = sk;
  RankedTensorType perRow = rows(b.getI32Type());
  Value r = left || right ? Value(IotaOp::create(b, perRow, 0)) : Value();
  if (right) {
    Value endOfFirstRow = add(diagonal, index(*right + 1));
    end = min(add(endOfFirstRow, index(sizes.blockM - 1)), sk);
    endForAll = max(min(endOfFirstRow, sk), zero);
    Value ends = arith::AddIOp::create(b, r, splat(perRow, i32(endOfFirstRow)));
    upper = arith::MinSIOp::create(b, ends, splat(perRow, i32(sk)));
  }
  fullEnd = roundDown(endForAll, sizes.blockN);
  if (left) {
    Value beginOfFirstRow = sub(diagonal, index(*left));
    Value beginOfLastRow = add(beginOfFirstRow, index(sizes.blockM - 1));
    begin = roundDown(max(beginOfFirstRow, zero), sizes.blockN);
    fullBegin = roundUp(max(beginOfLastRow, zero), sizes.blockN);
    lower = arith::AddIOp::create(b, r, splat(perRow, i32(beginOfFirstRow)));
  }
}

/// Which of the keys n .. n + blockN - 1 each row sees.
Value ForwardBuilder::visible(Value n, bool maskLeft) {
  RankedTensorType tile = scores(b.getI32Type());
  Value column = IotaOp::create(b, tile, 1);
  // The keys relative to n, so that the columns are compared as they are.
  auto relative = [&](Value keys) {
    Value offset = splat(rows(b.getI32Type()), i32(n));
    return spread(arith::SubIOp::create(b, keys, offset), sizes.blockN);
  };
  Value bound = upper ? relative(upper) : splat(tile, i32(sub(sk, n)));
  Value mask =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, column, bound);
  if (maskLeft) {
    Value isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, column,
                                           relative(lower));
    mask = arith::AndIOp::create(b, mask, isInside);
  }
  return mask;
}

/// Adds the keys n .. n + blockN - 1.
Partial ForwardBuilder::step(Value n, bool maskLeft, bool maskRight,
                             Partial partial) {
  Type f32Type = b.getF32Type();
  RankedTensorType tile = scores(f32Type), perRow = rows(f32Type);
  Value zero = index(0);
  Value keys = LoadOp::create(b, type({sizes.blockN, headDim}, element), kh,
                              ValueRange{n, zero});
  Value keysT = TransposeOp::create(b, type({headDim, sizes.blockN}, element),
                                    keys, ArrayRef<int64_t>{1, 0});
  Value s =
      DotOp::create(b, tile, qTile, keysT, fill(tile, 0.0f), StringAttr());
  bool isMasked = maskLeft || maskRight;
  if (isMasked)
    s = arith::SelectOp::create(b, visible(n, maskLeft), s,
                                fill(tile, -INFINITY));

  Value newMax = arith::MaxNumFOp::create(
      b, partial.max,
      ReduceOp::create(b, perRow, arith::AtomicRMWKind::maxnumf, s, 1));
  // A row that has seen no key yet: any finite pivot gives exp2(-inf) = 0,
  // where -inf itself would give exp2(-inf + inf).
  Value pivot = newMax;
  if (isMasked) {
    Value sawNothing = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ,
                                             newMax, fill(perRow, -INFINITY));
    pivot = arith::SelectOp::create(b, sawNothing, fill(perRow, 0.0f), newMax);
  }
  Value offset =
      arith::NegFOp::create(b, arith::MulFOp::create(b, pivot, cRows));
  Value exponent =
      math::FmaOp::create(b, s, cScores, spread(offset, sizes.blockN));
  Value p = math::Exp2Op::create(b, exponent);

  // What came before was relative to the old maximum.
  Value change = arith::SubFOp::create(b, partial.max, pivot);
  Value alpha =
      math::Exp2Op::create(b, arith::MulFOp::create(b, change, cRows));
  Value newSum = math::FmaOp::create(
      b, partial.sum, alpha,
      ReduceOp::create(b, perRow, arith::AtomicRMWKind::addf, p, 1));
  Value scaled = arith::MulFOp::create(b, partial.acc, spread(alpha, valueDim));
  Value weights = arith::TruncFOp::create(b, scores(element), p);
  Value values = LoadOp::create(b, type({sizes.blockN, valueDim}, element), vh,
                                ValueRange{n, zero});
  Value newAcc =
      DotOp::create(b, scaled.getType(), weights, values, scaled, StringAttr());
  return {newAcc, newMax, newSum};
}

/// Adds the keys of [begin, end); begin is a multiple of blockN.
Partial ForwardBuilder::loop(Value begin, Value end, bool maskLeft,
                             bool maskRight, Partial partial) {
  auto loop = scf::ForOp::create(
      b, begin, end, index(sizes.blockN),
      ValueRange{partial.acc, partial.max, partial.sum},
      [&](OpBuilder &nested, Location loc, Value n, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(nested.getInsertionBlock(),
                            nested.getInsertionPoint());
        Partial next =
            step(n, maskLeft, maskRight, {carried[0], carried[1], carried[2]});
        scf::YieldOp::create(b, ValueRange{next.acc, next.max, next.sum});
      });
  if (sizes.stages != 0)
    loop->setAttr(TileDialect::kStagesAttr, b.getI64IntegerAttr(sizes.stages));
  return {loop.getResult(0), loop.getResult(1), loop.getResult(2)};
}

/// Writes the rows. Those that see no key have max = -inf, sum = 0, acc = 0.
void ForwardBuilder::finish(Partial partial) {
  RankedTensorType perRow = rows(b.getF32Type());
  Value one = fill(perRow, 1.0f);
  Value isEmpty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ,
                                        partial.sum, fill(perRow, 0.0f));
  Value divisor = arith::SelectOp::create(b, isEmpty, one, partial.sum);
  Value inverse = arith::DivFOp::create(b, one, divisor);
  Value out = arith::MulFOp::create(b, partial.acc, spread(inverse, valueDim));
  Value outLow =
      arith::TruncFOp::create(b, type({sizes.blockM, valueDim}, element), out);
  StoreOp::create(b, outLow, oh, ValueRange{row, index(0)});
  if (!lse)
    return;
  // ln(2) * (c * max + log2(sum)): -inf for empty rows, since c > 0.
  Value log = math::Log2Op::create(b, partial.sum);
  Value base2 = math::FmaOp::create(b, partial.max, cRows, log);
  Value natural =
      arith::MulFOp::create(b, base2, splat(perRow, f32(0.69314718055994531)));
  StoreOp::create(b, natural, lseh, ValueRange{row});
}

void ForwardBuilder::build() {
  computePosition();
  computeKeyRanges();
  qTile = LoadOp::create(b, type({sizes.blockM, headDim}, element), qh,
                         ValueRange{row, index(0)});
  // Masked scores are -inf, which a factor of zero would make NaN; the
  // smallest normal number is as good as zero.
  Value product = arith::MulFOp::create(b, scale, f32(1.4426950408889634));
  c = arith::MaximumFOp::create(b, product,
                                f32(std::numeric_limits<float>::min()));

  RankedTensorType perRow = rows(b.getF32Type());
  cRows = splat(perRow, c);
  cScores = splat(scores(b.getF32Type()), c);
  Partial partial = {fill(type({sizes.blockM, valueDim}, b.getF32Type()), 0.0f),
                     fill(perRow, -INFINITY), fill(perRow, 0.0f)};
  // Up to three loops: blocks of which some rows see only the right part,
  // those that all rows see whole, and the rest. A narrow window may have no
  // block of the second kind; then the first loop ends, or the third begins,
  // where the other does.
  Value restBegin = fullEnd;
  if (left) {
    partial = loop(begin, min(fullBegin, end), /*maskLeft=*/true,
                   /*maskRight=*/true, partial);
    restBegin = max(fullBegin, fullEnd);
  }
  partial = loop(fullBegin, fullEnd, /*maskLeft=*/false, /*maskRight=*/false,
                 partial);
  partial =
      loop(restBegin, end, /*maskLeft=*/false, /*maskRight=*/true, partial);
  finish(partial);
}

void tile::buildAttentionForward(ImplicitLocOpBuilder &builder, AttentionOp op,
                                 const IRMapping &mapping, TileSizes sizes) {
  ForwardBuilder(builder, op, mapping, sizes).build();
}
