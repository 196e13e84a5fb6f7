//===- Combine.cpp - Merges the parts of tile.attention -------------------===//
//
// A block of threads owns one row of one head, or with a table of works, the
// rows of tiles with several parts in turn. A block reads several parts of a
// row at a time, or, with a table for tiles of many queries, several rows of a
// part: such tiles have few parts, and so many rows that a block has some in
// turn. With the logarithms l[p] to base 2 of the sums of the parts, m their
// maximum and w[p] = exp2(l[p] - m), the output is sum_p w[p] o[p] / sum_p
// w[p]. Parts without keys have l = -inf and o = 0.
//
//===----------------------------------------------------------------------===//

#include "Combine.h"
#include "AttentionBuilder.h"
#include "Works.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace tile;

/// The parts that a block reads at a time.
static constexpr int64_t kPartsAtOnce = 8;

/// The rows that a block reads at a time, in tiles of at least kManyQueries.
static constexpr int64_t kRowsAtOnce = 8, kManyQueries = 64;

/// The most blocks of threads, if a table says what they do: as many as a GPU
/// runs at a time.
static constexpr int64_t kMostBlocks = 2048;

namespace {
class CombineBuilder : AttentionBuilder {
public:
  CombineBuilder(ImplicitLocOpBuilder &builder, AttentionOp op,
                 const IRMapping &mapping, const Schedule &schedule)
      : AttentionBuilder(builder, op, mapping), o(mapping.lookup(op.getO())),
        lse(mapping.lookupOrNull(op.getLse())),
        oParts(mapping.lookup(op.getOParts())),
        lseParts(mapping.lookup(op.getLseParts())),
        works(mapping.lookupOrNull(op.getWorks())),
        sink(mapping.lookupOrNull(op.getSink())), merges(op.getMerge()),
        rowsAtOnce(works && countTileQueries(schedule) >= kManyQueries
                       ? kRowsAtOnce
                       : 1) {}

  void build();

private:
  /// The parts of a row in a buffer with their dimension in front: [P, Dv] or
  /// [P].
  Value viewParts(Value buffer, ArrayRef<Value> row);
  /// Enters the parts of a row; `combine` writes the result.
  void enterRow(Value row);
  void buildWorks();
  /// Adds the parts p .. p + kPartsAtOnce - 1.
  SmallVector<Value> step(Value p, ValueRange carried);
  /// Adds part p of rowsAtOnce rows.
  SmallVector<Value> stepOfRows(Value p, ValueRange carried);
  /// Writes the result of rowsAtOnce rows.
  void combine(Value row);
  template <typename ColumnT> Value read(Value row, ColumnT column) {
    return wide(LoadScalarOp::create(b, b.getI32Type(), works,
                                     ValueRange{row, index(int64_t(column))}));
  }
  /// The elements of a buffer for the parts p .. p + kPartsAtOnce - 1, zeros
  /// beyond the last part.
  Value loadParts(Value buffer, Value p, ArrayRef<int64_t> shape);

  /// A scalar, or a tile like `like`.
  Value real(Value like, double value) {
    auto tile = dyn_cast<RankedTensorType>(like.getType());
    return tile ? fill(tile, float(value)) : f32(value);
  }
  /// A pivot for exponents that is finite if `max` is -inf.
  Value pivotOf(Value max) {
    Value isNothing = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, max,
                                            real(max, -INFINITY));
    return arith::SelectOp::create(b, isNothing, real(max, 0.0), max);
  }

  Value o, lse, oParts, lseParts, works, sink;
  bool merges;
  const int64_t rowsAtOnce;
  /// A row's views, and the number of parts.
  Value outputs, logarithms, parts;
  /// With works, the row of the first part, and the distance of the next one.
  Value firstRow, rowsOfPart;
};
} // namespace

Value CombineBuilder::viewParts(Value buffer, ArrayRef<Value> row) {
  SmallVector<Value> indices(cast<BufferType>(buffer.getType()).getRank());
  llvm::copy(row, std::next(indices.begin()));
  return SliceOp::create(b, buffer, indices);
}

Value CombineBuilder::loadParts(Value buffer, Value p,
                                ArrayRef<int64_t> shape) {
  RankedTensorType result = type(shape, b.getF32Type());
  SmallVector<Value> at(shape.size(), index(0));
  if (!works) {
    at[0] = p;
    return LoadOp::create(b, result, buffer, at);
  }
  RankedTensorType numbers = type(kPartsAtOnce, b.getI32Type());
  Value part = add(IotaOp::create(b, numbers, 0), splat(numbers, i32(p)));
  Value row =
      add(arith::MulIOp::create(b, part, splat(numbers, i32(rowsOfPart))),
          splat(numbers, i32(firstRow)));
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, part,
                                       splat(numbers, i32(parts)));
  Value nowhere = arith::ConstantOp::create(
      b, DenseElementsAttr::get(numbers, int32_t(-1)));
  row = arith::SelectOp::create(b, exists, row, nowhere);
  return GatherOp::create(b, result, buffer, at, 0, row);
}

SmallVector<Value> CombineBuilder::step(Value p, ValueRange carried) {
  Value acc = carried[0], max = carried[1], sum = carried[2];
  RankedTensorType perPart = type(kPartsAtOnce, b.getF32Type());
  Value natural = loadParts(logarithms, p, kPartsAtOnce);
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

  Value values = loadParts(outputs, p, {kPartsAtOnce, valueDim});
  values = arith::MulFOp::create(b, values, spread(weights, valueDim));
  auto columns = cast<RankedTensorType>(acc.getType());
  Value addend =
      ReduceOp::create(b, columns, arith::AtomicRMWKind::addf, values, 0);
  acc = math::FmaOp::create(b, acc, splat(columns, alpha), addend);
  return {acc, maxNext, sum};
}

SmallVector<Value> CombineBuilder::stepOfRows(Value p, ValueRange carried) {
  Value acc = carried[0], max = carried[1], sum = carried[2];
  RankedTensorType perRow = type(rowsAtOnce, b.getF32Type());
  // Rows beyond the tile are of other parts; they are not written.
  Value row = add(firstRow, arith::MulIOp::create(b, p, rowsOfPart));
  Value l = arith::MulFOp::create(b, LoadOp::create(b, perRow, logarithms, row),
                                  fill(perRow, 1.4426950408889634f));
  Value maxNext = arith::MaxNumFOp::create(b, max, l);
  Value pivot = pivotOf(maxNext);
  Value weights = math::Exp2Op::create(b, arith::SubFOp::create(b, l, pivot));
  Value alpha = math::Exp2Op::create(b, arith::SubFOp::create(b, max, pivot));
  Value values =
      LoadOp::create(b, acc.getType(), outputs, ValueRange{row, index(0)});
  values = arith::MulFOp::create(b, values, spread(weights, valueDim));
  acc = math::FmaOp::create(b, acc, spread(alpha, valueDim), values);
  return {acc, maxNext, math::FmaOp::create(b, sum, alpha, weights)};
}

void CombineBuilder::enterRow(Value row) {
  Value at = isPacked() ? locateQuery(row) : row;
  SmallVector<Value> place{at, head, Value()}, placeOfNumber{head, at};
  if (!isPacked()) {
    place.insert(place.begin(), batchIndex);
    placeOfNumber.insert(placeOfNumber.begin(), batchIndex);
  }
  outputs = viewParts(oParts, place);
  logarithms = viewParts(lseParts, placeOfNumber);
  parts = DimOp::create(b, oParts, 0);
}

void CombineBuilder::combine(Value row) {
  RankedTensorType perRow = type(rowsAtOnce, b.getF32Type());
  RankedTensorType results = type({rowsAtOnce, valueDim}, b.getF32Type());
  SmallVector<Value> sums;
  if (rowsAtOnce > 1) {
    sums = forEach(
        index(0), parts, index(1),
        {fill(results, 0.0f), fill(perRow, -INFINITY), fill(perRow, 0.0f)},
        [&](Value p, ValueRange carried) { return stepOfRows(p, carried); });
  } else {
    sums = forEach(
        index(0), parts, index(kPartsAtOnce),
        {fill(type(valueDim, b.getF32Type()), 0.0f), f32(-INFINITY), f32(0.0)},
        [&](Value p, ValueRange carried) { return step(p, carried); });
    sums = {BroadcastOp::create(b, results, sums[0], 0), splat(perRow, sums[1]),
            splat(perRow, sums[2])};
  }
  RowTarget target;
  target.row = row;
  target.merges = merges;
  target.o = viewHead(o, Side::Queries, head);
  if (lse)
    target.lse = viewRows(lse, head);
  if (sink)
    target.sink2 = loadSink(sink, head);
  writeResult({sums[0], sums[1], sums[2]}, target);
}

void CombineBuilder::buildWorks() {
  heads = DimOp::create(b, q, headsAt(Side::Queries));
  Value queries = DimOp::create(b, q, 0);
  if (!isPacked())
    queries = arith::MulIOp::create(b, queries, DimOp::create(b, q, 1));
  // Without sequences, nothing has written the table.
  Value most = arith::MulIOp::create(
      b,
      arith::MulIOp::create(b, min(queries, DimOp::create(b, oParts, 0)),
                            heads),
      arith::MinUIOp::create(b, countSequences(), index(1)));
  Value grid = arith::MinUIOp::create(b, most, index(kMostBlocks));
  GridOp::create(b, grid, index(1), index(1));
  Value last = sub(DimOp::create(b, works, 0), index(1));
  Value tiles = min(read(index(0), WorkCount::SharedTiles), last);
  Value blocksOfTile = arith::CeilDivUIOp::create(
      b, read(index(0), WorkCount::Queries), index(rowsAtOnce));
  Value rows = arith::MulIOp::create(
      b, tiles, arith::MulIOp::create(b, heads, blocksOfTile));
  // The heads of a query follow each other, and the first queries of all tiles.
  forEach(ProgramIdOp::create(b, Dimension::x), rows, grid, {},
          [&](Value number, ValueRange) {
            head = arith::RemUIOp::create(b, number, heads);
            Value other = arith::DivUIOp::create(b, number, heads);
            Value query = arith::MulIOp::create(
                b, arith::DivUIOp::create(b, other, tiles), index(rowsAtOnce));
            Value tile = sub(last, arith::RemUIOp::create(b, other, tiles));
            enterSequence(limitSequence(read(tile, WorkColumn::Sequence)));
            rowsOfPart = min(sq, read(index(0), WorkCount::Queries));
            firstRow = add(read(tile, WorkColumn::Row), query);
            parts = read(tile, WorkColumn::Parts);
            outputs = SliceOp::create(b, oParts, {Value(), head, Value()});
            logarithms = SliceOp::create(b, lseParts, {head, Value()});
            Value row = add(read(tile, WorkColumn::Query), query);
            // The last tile of a sequence may have fewer queries.
            forEach(row, min(sq, add(row, 1)), index(1), {},
                    [&](Value row, ValueRange) {
                      combine(row);
                      return SmallVector<Value>();
                    });
            return SmallVector<Value>();
          });
}

void CombineBuilder::build() {
  if (works)
    return buildWorks();
  Value block = launch(Side::Queries, 1);
  forEachBlock(sq, 1, block, [&](Value row) {
    enterRow(row);
    combine(row);
  });
}

void tile::buildAttentionCombine(ImplicitLocOpBuilder &builder, AttentionOp op,
                                 const IRMapping &mapping,
                                 const Schedule &schedule) {
  CombineBuilder(builder, op, mapping, schedule).build();
}
