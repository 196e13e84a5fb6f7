//===- Combine.cpp - Merges the parts of tile.attention -------------------===//
//
// A block of threads owns one row of one head: a query has few parts, but rows
// are many enough. It reads several parts at a time. With the logarithms l[p]
// to base 2 of the sums of the parts, m their maximum and w[p] = exp2(l[p] -
// m), the output is sum_p w[p] o[p] / sum_p w[p]. Parts without keys have l =
// -inf and o = 0.
//
//===----------------------------------------------------------------------===//

#include "Combine.h"
#include "AttentionBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace tile;

/// The parts that a block reads at a time.
static constexpr int64_t kPartsAtOnce = 8;

namespace {
class CombineBuilder : AttentionBuilder {
public:
  CombineBuilder(ImplicitLocOpBuilder &builder, AttentionOp op,
                 const IRMapping &mapping)
      : AttentionBuilder(builder, op, mapping), o(mapping.lookup(op.getO())),
        lse(mapping.lookupOrNull(op.getLse())),
        oParts(mapping.lookup(op.getOParts())),
        lseParts(mapping.lookup(op.getLseParts())),
        sink(mapping.lookupOrNull(op.getSink())), merges(op.getMerge()) {}

  void build();

private:
  /// The parts of a row in a buffer with their dimension in front: [P, Dv] or
  /// [P].
  Value viewParts(Value buffer, ArrayRef<Value> row);
  /// Adds the parts p .. p + kPartsAtOnce - 1.
  SmallVector<Value> step(Value p, ValueRange carried);
  void combine(Value row);

  /// Reduces a tile of one number per part to a scalar, as the only row of
  /// another tile (tile-expand-operations).
  Value reduce(arith::AtomicRMWKind kind, Value perPart) {
    Type f32Type = b.getF32Type();
    Value row =
        BroadcastOp::create(b, type({1, kPartsAtOnce}, f32Type), perPart, 0);
    Value number = ReduceOp::create(b, type(1, f32Type), kind, row, 1);
    return tensor::ExtractOp::create(b, number, ValueRange{index(0)});
  }
  /// A pivot for exponents that is finite if `max` is -inf.
  Value pivotOf(Value max) {
    Value none = f32(-INFINITY);
    Value isNothing =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, max, none);
    return arith::SelectOp::create(b, isNothing, f32(0.0), max);
  }

  Value o, lse, oParts, lseParts, sink;
  bool merges;
  /// A row's views, and the number of parts.
  Value outputs, logarithms, parts;
};
} // namespace

Value CombineBuilder::viewParts(Value buffer, ArrayRef<Value> row) {
  SmallVector<Value> indices(cast<BufferType>(buffer.getType()).getRank());
  llvm::copy(row, std::next(indices.begin()));
  return SliceOp::create(b, buffer, indices);
}

SmallVector<Value> CombineBuilder::step(Value p, ValueRange carried) {
  Value acc = carried[0], max = carried[1], sum = carried[2];
  RankedTensorType perPart = type(kPartsAtOnce, b.getF32Type());
  Value natural = LoadOp::create(b, perPart, logarithms, ValueRange{p});
  Value l =
      arith::MulFOp::create(b, natural, fill(perPart, 1.4426950408889634f));
  // Loads beyond the last part return zeros.
  RankedTensorType numbers = type(kPartsAtOnce, b.getI32Type());
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                       IotaOp::create(b, numbers, 0),
                                       splat(numbers, i32(sub(parts, p))));
  l = arith::SelectOp::create(b, exists, l, fill(perPart, -INFINITY));

  Value maxNext = arith::MaxNumFOp::create(
      b, max, reduce(arith::AtomicRMWKind::maxnumf, l));
  Value pivot = pivotOf(maxNext);
  Value weights = math::Exp2Op::create(
      b, arith::SubFOp::create(b, l, splat(perPart, pivot)));
  Value alpha = math::Exp2Op::create(b, arith::SubFOp::create(b, max, pivot));
  sum = math::FmaOp::create(b, sum, alpha,
                            reduce(arith::AtomicRMWKind::addf, weights));

  Value values =
      LoadOp::create(b, type({kPartsAtOnce, valueDim}, b.getF32Type()), outputs,
                     ValueRange{p, index(0)});
  values = arith::MulFOp::create(b, values, spread(weights, valueDim));
  auto columns = cast<RankedTensorType>(acc.getType());
  Value addend =
      ReduceOp::create(b, columns, arith::AtomicRMWKind::addf, values, 0);
  acc = math::FmaOp::create(b, acc, splat(columns, alpha), addend);
  return {acc, maxNext, sum};
}

void CombineBuilder::combine(Value row) {
  Value at = isPacked() ? locateQuery(row) : row;
  SmallVector<Value> place{at, head, Value()}, placeOfNumber{head, at};
  if (!isPacked()) {
    place.insert(place.begin(), batchIndex);
    placeOfNumber.insert(placeOfNumber.begin(), batchIndex);
  }
  outputs = viewParts(oParts, place);
  logarithms = viewParts(lseParts, placeOfNumber);
  parts = DimOp::create(b, oParts, 0);
  SmallVector<Value> sums = forEach(
      index(0), parts, index(kPartsAtOnce),
      {fill(type(valueDim, b.getF32Type()), 0.0f), f32(-INFINITY), f32(0.0)},
      [&](Value p, ValueRange carried) { return step(p, carried); });

  RankedTensorType number = type(1, b.getF32Type());
  Value acc =
      BroadcastOp::create(b, type({1, valueDim}, b.getF32Type()), sums[0], 0);
  RowTarget target;
  target.row = row;
  target.merges = merges;
  target.o = viewHead(o, Side::Queries, head);
  if (lse)
    target.lse = viewRows(lse, head);
  if (sink)
    target.sink2 = loadSink(sink, head);
  writeResult({acc, splat(number, sums[1]), splat(number, sums[2])}, target);
}

void CombineBuilder::build() {
  Value block = launch(Side::Queries, 1);
  forEachBlock(sq, 1, block, [&](Value row) { combine(row); });
}

void tile::buildAttentionCombine(ImplicitLocOpBuilder &builder, AttentionOp op,
                                 const IRMapping &mapping) {
  CombineBuilder(builder, op, mapping).build();
}
