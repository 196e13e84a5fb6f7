//===- AttentionBuilder.cpp - Heads and sequences of a kernel -------------===//

#include "AttentionBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include <cmath>

using namespace mlir;
using namespace tile;

Value AttentionBuilder::computeReach(Value side, bool isLeft) {
  Value farthest = index(kFarthest);
  APInt constant;
  bool isConstant = matchPattern(side, m_ConstantInt(&constant));
  // A persistent kernel computes the reach once for all works.
  if (!isConstant && fewRegisters && !isPersistent)
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

const Chip *AttentionBuilder::findChip(Operation *op) {
  if (!op->getParentOfType<ModuleOp>()->hasAttr(TileDialect::kTargetAttr))
    return nullptr;
  return getTargetChip(op);
}

std::pair<Value, Value> AttentionBuilder::enterPlace(bool recomputes) {
  auto from = [&](Value value) {
    return recomputes ? recompute(value) : value;
  };
  Value batch = countSequences();
  Value length = gridSide == Side::Queries ? maxQ : maxK;
  if (!isPacked())
    length = DimOp::create(b, gridSide == Side::Queries ? q : k, 1);
  heads = DimOp::create(b, q, headsAt(Side::Queries));
  Value keyHeads = DimOp::create(b, k, headsAt(Side::Keys));
  blocks = arith::CeilDivUIOp::create(b, from(length), index(gridSize));
  if (isPersistent) {
    GridOp::create(b, blocks, heads, batch);
    group = wide(arith::DivUIOp::create(b, i32(heads), i32(keyHeads)));
    head = ProgramIdOp::create(b, Dimension::y);
    kvHead = wide(arith::DivUIOp::create(b, i32(head), i32(group)));
    return {ProgramIdOp::create(b, Dimension::x),
            ProgramIdOp::create(b, Dimension::z)};
  }
  Value numHeads = gridOverKVHeads ? keyHeads : heads;
  if (!recomputes) {
    // All in x, of which a grid may have 2^31 - 1: y and z end at 65535.
    Value all = arith::MulIOp::create(
        b, arith::MulIOp::create(b, blocks, numHeads), batch);
    GridOp::create(b, all, gridY ? gridY : index(1), gridZ ? gridZ : index(1));
  }
  // In 32 bits, in which divisions are short.
  Value number = i32(from(ProgramIdOp::create(b, Dimension::x)));
  Value perHead = i32(blocks);
  numHeads = i32(numHeads);
  Value row, block;
  if (headsAtOnce > 1) {
    Value most = i32(index(headsAtOnce));
    Value blocksAtOnce = arith::MulIOp::create(b, perHead, most);
    Value group = arith::DivUIOp::create(b, number, blocksAtOnce);
    Value inGroup = arith::RemUIOp::create(b, number, blocksAtOnce);
    Value first = arith::MulIOp::create(b, group, most);
    Value left = arith::SubIOp::create(
        b, arith::MulIOp::create(b, numHeads, i32(batch)), first);
    Value height = arith::MinUIOp::create(b, left, most);
    row = arith::AddIOp::create(b, first,
                                arith::RemUIOp::create(b, inGroup, height));
    block = arith::DivUIOp::create(b, inGroup, height);
  } else {
    row = arith::DivUIOp::create(b, number, perHead);
    block = arith::RemUIOp::create(b, number, perHead);
  }
  Value owner = arith::RemUIOp::create(b, row, numHeads);
  Value sequence = arith::DivUIOp::create(b, row, numHeads);
  setHead(owner, keyHeads);
  return {wide(block), wide(sequence)};
}

void AttentionBuilder::setHead(Value owner, Value keyHeads) {
  group = wide(arith::DivUIOp::create(b, i32(heads), i32(keyHeads)));
  if (!gridOverKVHeads) {
    head = wide(owner);
    owner = arith::DivUIOp::create(b, owner, i32(group));
  }
  kvHead = wide(owner);
}

Value AttentionBuilder::launch(Side side, int64_t size, bool kvHeads,
                               bool isLongestFirst, Value y, Value z) {
  int64_t dies = chip ? chip->dies : 1;
  headsAtOnce = isLongestFirst ? llvm::alignTo(kHeadsAtOnce, dies) : dies;
  gridY = y;
  gridZ = z;
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
  sq = cuQ ? lengthOf(cuQ, batch, DimOp::create(b, q, 0), startQ)
           : DimOp::create(b, q, 1);
  sk = countKeys(batch);
}

Value AttentionBuilder::countSequences() {
  Value extent = DimOp::create(b, isPacked() ? cuQ : q, 0);
  return isPacked() ? sub(extent, index(1)) : extent;
}

Value AttentionBuilder::countRoom() {
  Value room = DimOp::create(b, k, 1);
  if (!pageTable)
    return room;
  return min(arith::MulIOp::create(b, DimOp::create(b, pageTable, 1), room),
             index(kFarthest));
}

Value AttentionBuilder::countKeys(Value batch) {
  if (cuK)
    return lengthOf(cuK, batch, DimOp::create(b, k, 0), startK);
  if (cuPages) {
    pageCount =
        lengthOf(cuPages, batch, DimOp::create(b, pageTable, 0), startPages);
    Value last = LoadScalarOp::create(b, b.getI32Type(), keyLengths, batch);
    return wide(countKeysOfPages(i32(pageCount), last));
  }
  Value room = countRoom();
  if (!keyLengths)
    return room;
  Value length = LoadScalarOp::create(b, b.getI32Type(), keyLengths, batch);
  return wide(min(max(length, i32(index(0))), i32(room)));
}

Value AttentionBuilder::countKeysOfPages(Value entries, Value last) {
  int64_t page = cast<BufferType>(k.getType()).getShape()[1];
  Value zero = number(entries, 0), one = number(entries, 1);
  Value pages =
      min(entries, number(entries, kFarthest / std::max(page, int64_t(1))));
  Value size = number(entries, page);
  Value before = arith::MulIOp::create(b, max(sub(pages, one), zero), size);
  Value room = arith::MulIOp::create(b, min(pages, one), size);
  return add(before, min(max(last, zero), room));
}

int64_t AttentionBuilder::countTreeWords() {
  return cast<BufferType>(treeMask.getType()).getShape().back();
}

Value AttentionBuilder::viewTreeWord(int64_t which) {
  if (!isPacked())
    return SliceOp::create(b, treeMask, {batchIndex, Value(), index(which)});
  Value words = SliceOp::create(b, treeMask, {Value(), index(which)});
  return NarrowOp::create(b, words, 0, startQ, sq);
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
  bool queries = side == Side::Queries;
  if (queries ? cuQ : cuK) {
    Value rows = SliceOp::create(b, buffer, {Value(), head, Value()});
    return NarrowOp::create(b, rows, 0, queries ? startQ : startK,
                            queries ? sq : sk);
  }
  if (!queries && pageTable) {
    Value pages = SliceOp::create(b, buffer, {Value(), Value(), head, Value()});
    Value table =
        cuPages
            ? Value(NarrowOp::create(b, pageTable, 0, startPages, pageCount))
            : SliceOp::create(b, pageTable, {batchIndex, Value()});
    return PagedOp::create(b, pages, table, sk);
  }
  Value rows = SliceOp::create(b, buffer, {batchIndex, Value(), head, Value()});
  return queries || !keyLengths ? rows
                                : NarrowOp::create(b, rows, 0, index(0), sk);
}

Value AttentionBuilder::viewRows(Value buffer, Value head) {
  if (!isPacked())
    return SliceOp::create(b, buffer, {batchIndex, head, Value()});
  Value rows = SliceOp::create(b, buffer, {head, Value()});
  return NarrowOp::create(b, rows, 0, startQ, sq);
}

Value AttentionBuilder::viewSequence(Value buffer) {
  if (!isPacked())
    return SliceOp::create(b, buffer, {batchIndex, Value(), Value(), Value()});
  return NarrowOp::create(b, buffer, 0, startQ, sq);
}

Value AttentionBuilder::viewSequenceRows(Value buffer) {
  if (!isPacked())
    return SliceOp::create(b, buffer, {batchIndex, Value(), Value()});
  return NarrowOp::create(b, buffer, 1, startQ, sq);
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

/// Returns a tile as f32.
static Value toF32(ImplicitLocOpBuilder &b, Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (type.getElementType().isF32())
    return tile;
  return arith::ExtFOp::create(b, type.clone(b.getF32Type()), tile);
}

/// Returns a tile of f32 as one of elements of `buffer`.
static Value toStored(ImplicitLocOpBuilder &b, Value tile, Value buffer) {
  Type stored = cast<BufferType>(buffer.getType()).getElementType();
  if (stored.isF32())
    return tile;
  auto type = cast<RankedTensorType>(tile.getType());
  return arith::TruncFOp::create(b, type.clone(stored), tile);
}

Value AttentionBuilder::loadRows(Value buffer, int64_t count, Value row,
                                 std::optional<Columns> columns) {
  auto from = cast<BufferType>(buffer.getType());
  if (!columns)
    columns = Columns{0, padColumns(from.getShape().back())};
  SmallVector<int64_t> shape{count, columns->count};
  return toF32(b, LoadOp::create(b, type(shape, from.getElementType()), buffer,
                                 ValueRange{row, index(columns->first)}));
}

void AttentionBuilder::storeRows(Value rows, Value buffer, Value row,
                                 int64_t column) {
  StoreOp::create(b, toStored(b, rows, buffer), buffer,
                  ValueRange{row, index(column)});
}

Value AttentionBuilder::loadRows(const RowTarget &target, int64_t count) {
  if (target.heads == 0)
    return loadRows(target.o, count, target.row);
  Type stored = cast<BufferType>(target.o.getType()).getElementType();
  Value byHead = LoadOp::create(
      b, type({count / target.heads, target.heads, valueDim}, stored), target.o,
      ValueRange{target.row, index(0), index(0)});
  return toF32(b,
               ReshapeOp::create(b, type({count, valueDim}, stored), byHead));
}

void AttentionBuilder::storeRows(const RowTarget &target, Value rows) {
  rows = toStored(b, rows, target.o);
  Value column = target.column ? target.column : index(0);
  if (target.heads == 0) {
    StoreOp::create(b, rows, target.o, ValueRange{target.row, column});
    return;
  }
  auto tile = cast<RankedTensorType>(rows.getType());
  SmallVector<int64_t> shape{tile.getDimSize(0) / target.heads, target.heads,
                             tile.getDimSize(1)};
  Value byHead = ReshapeOp::create(b, type(shape, tile.getElementType()), rows);
  StoreOp::create(b, byHead, target.o,
                  ValueRange{target.row, index(0), column});
}

Value AttentionBuilder::loadNumbers(const RowTarget &target, int64_t count) {
  Type number = b.getF32Type();
  if (target.heads == 0)
    return LoadOp::create(b, type(count, number), target.lse, target.row);
  int64_t heads = target.heads, queries = count / heads;
  Value byHead = LoadOp::create(b, type({heads, queries}, number), target.lse,
                                ValueRange{index(0), target.row});
  Value byQuery = TransposeOp::create(b, type({queries, heads}, number), byHead,
                                      ArrayRef<int64_t>{1, 0});
  return ReshapeOp::create(b, type(count, number), byQuery);
}

void AttentionBuilder::storeNumbers(const RowTarget &target, Value numbers) {
  if (target.heads == 0) {
    StoreOp::create(b, numbers, target.lse, ValueRange{target.row});
    return;
  }
  auto tile = cast<RankedTensorType>(numbers.getType());
  int64_t heads = target.heads, queries = tile.getDimSize(0) / heads;
  Type number = tile.getElementType();
  Value byQuery = ReshapeOp::create(b, type({queries, heads}, number), numbers);
  Value byHead = TransposeOp::create(b, type({heads, queries}, number), byQuery,
                                     ArrayRef<int64_t>{1, 0});
  StoreOp::create(b, byHead, target.lse, ValueRange{index(0), target.row});
}

void AttentionBuilder::writeResult(const RowResult &result,
                                   const RowTarget &target) {
  auto perRow = cast<RankedTensorType>(result.sum.getType());
  int64_t count = perRow.getDimSize(0);
  int64_t columns = cast<RankedTensorType>(result.acc.getType()).getDimSize(1);
  // Everything relative to 2^base2: that of the keys, or the sink if that is
  // larger.
  Value base2 = result.base2, sum = result.sum, factor, mergedWeight;
  SmallVector<Value> scores;
  if (target.sink2)
    scores.push_back(isa<RankedTensorType>(target.sink2.getType())
                         ? target.sink2
                         : splat(perRow, target.sink2));
  if (target.merges)
    scores.push_back(arith::MulFOp::create(b, loadNumbers(target, count),
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
  Value out = arith::MulFOp::create(b, result.acc, spread(weight, columns));
  if (target.merges) {
    mergedWeight = arith::MulFOp::create(b, mergedWeight, inverse);
    out = math::FmaOp::create(b, loadRows(target, count),
                              spread(mergedWeight, columns), out);
  }
  storeRows(target, out);
  if (!target.lse)
    return;
  // ln(2) * (base2 + log2(sum)): -inf for empty rows.
  Value log = math::Log2Op::create(b, sum);
  Value natural =
      arith::MulFOp::create(b, arith::AddFOp::create(b, base2, log),
                            splat(perRow, f32(0.69314718055994531)));
  if (!target.writesLse)
    return storeNumbers(target, natural);
  choose(target.writesLse, [&] { storeNumbers(target, natural); }, [] {});
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

Value AttentionBuilder::loadSinks(Value sinks, int64_t count) {
  Type stored = cast<BufferType>(sinks.getType()).getElementType();
  RankedTensorType perHead = type(count, b.getF32Type());
  Value numbers =
      LoadOp::create(b, type(count, stored), sinks, ValueRange{index(0)});
  if (!stored.isF32())
    numbers = arith::ExtFOp::create(b, perHead, numbers);
  return arith::MulFOp::create(b, numbers, fill(perHead, 1.4426950408889634f));
}

Value AttentionBuilder::score(Value qk) {
  if (!softcap)
    return qk;
  Value factor = splat(cast<RankedTensorType>(qk.getType()), inner);
  // The absolute error matters: it is below that of qk.
  return math::TanhOp::create(b, arith::MulFOp::create(b, qk, factor),
                              arith::FastMathFlags::afn);
}

Value AttentionBuilder::scoreDerivative(Value score) {
  if (!softcap)
    return {};
  auto tile = cast<RankedTensorType>(score.getType());
  return math::FmaOp::create(b, arith::NegFOp::create(b, score), score,
                             fill(tile, 1.0f));
}
