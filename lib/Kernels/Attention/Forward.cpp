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
#include "tile/Analysis/Registers.h"
#include <cmath>

using namespace mlir;
using namespace tile;

/// The growth of a maximum, in powers of two, up to which weights stay relative
/// to the maximum before. They are at most 2^8 then, far from the largest
/// number of f16, and as exact as others.
static constexpr float kKeptGrowth = 8;

namespace {
/// Writes the body of the kernel of one tile.attention at the insertion point.
/// If blocks share the keys of a tile, the result is that for a part of them,
/// and the sink and the merge are left to the kernel that combines the parts.
/// With works, that is so for those with a part of the keys. The blocks of a
/// cluster combine their parts themselves.
class ForwardBuilder : RowBuilder {
public:
  ForwardBuilder(ImplicitLocOpBuilder &builder, AttentionOp op,
                 const IRMapping &mapping, const Schedule &schedule)
      : RowBuilder(builder, op, mapping, schedule, isTransposed(schedule)),
        keepsMaximum(!byKey && isLoopRotated(schedule)) {
    // Warps divide the columns of V.
    if (byKey)
      valueDim = llvm::alignTo(valueDim, kInstructionRows * *schedule.warps);
    if (op.getWorks()) {
      works = mapping.lookup(op.getWorks());
      launchedWorks = boundWorks(builder, op, mapping, schedule).launched;
      oParts = mapping.lookup(op.getOParts());
      lseParts = mapping.lookup(op.getLseParts());
    } else if (op.getOParts()) {
      o = enterPart(mapping.lookup(op.getOParts()));
      lse = enterPart(mapping.lookup(op.getLseParts()));
      return;
    }
    if (schedule.clusterSplit)
      enterPartOfCluster(*schedule.clusterSplit);
    o = mapping.lookup(op.getO());
    lse = mapping.lookupOrNull(op.getLse());
    sink = mapping.lookupOrNull(op.getSink());
    merges = op.getMerge();
  }

  using RowBuilder::buildRows;

private:
  void enterHead() override;
  /// The type of the output so far: rows x columns, or transposed as the scores
  /// are.
  RankedTensorType sums() {
    Type number = b.getF32Type();
    return byKey ? type({valueDim, blockM}, number)
                 : type({blockM, valueDim}, number);
  }
  /// Returns a tile like it, each element of which is the number of its row.
  Value spreadSums(Value perRow) {
    return BroadcastOp::create(b, sums(), perRow, !byKey);
  }
  /// Returns true if the threads have registers for the scores of an iteration
  /// beside the weights of the one before, so that tile-schedule rotates the
  /// loop.
  bool isLoopRotated(const Schedule &schedule) const;
  /// Returns where the result goes.
  RowTarget enterTarget();
  /// Returns where that of a work with a part of the keys goes.
  RowTarget enterPartOfWork();
  SmallVector<Value> beginRows() override;
  SmallVector<Value> step(Value n, ValueRange carried) override;
  void endRows(ValueRange carried) override;
  /// Combines the results of the blocks of the cluster. Returns this block's
  /// columns of the output, the largest score and the sum of all weights.
  SmallVector<Value> combineInCluster(ValueRange carried);

  Value o, lse, sink;
  /// Whether o and lse hold the result for other keys.
  bool merges = false;
  /// Whether weights stay relative to a maximum that has grown by little. A
  /// rotated loop scales the output behind the exponentials, and
  /// tile-skip-unit-factors skips that in most iterations.
  const bool keepsMaximum;
  /// This block's views of the buffers.
  Value qh, kh, vh;
  /// Q, and c per row and per score.
  Value qTile, cRows, cScores;
};
} // namespace

bool ForwardBuilder::isLoopRotated(const Schedule &schedule) const {
  if (!schedule.hasRoles() || !schedule.registers)
    return false;
  // Chips with roles have warps of 32 threads.
  int64_t threads = *schedule.warps * 32;
  int64_t scores = blockM * blockN / threads;
  // Two of 16 bits share a register. Four threads share the numbers of a row:
  // the maximum, the sum, and the factor.
  int64_t registers = scores + scores / 2 + blockM * valueDim / threads +
                      3 * 4 * blockM / threads + kRotationAllowance;
  return registers <= schedule.registers->front();
}

void ForwardBuilder::enterHead() {
  if (!packsHeads())
    qh = viewHead(q, Side::Queries, head);
  kh = viewHead(k, Side::Keys, kvHead);
  vh = viewHead(v, Side::Keys, kvHead);
}

RowTarget ForwardBuilder::enterTarget() {
  RowTarget target;
  target.merges = merges;
  target.row = row;
  if (packsHeads()) {
    target.heads = packedHeads;
    target.o = narrowToGroup(viewSequence(o), 1);
    if (lse)
      target.lse = narrowToGroup(viewSequenceRows(lse), 0);
    if (sink) {
      RankedTensorType perHead = type({queries, packedHeads}, b.getF32Type());
      Value sinks = loadSinks(narrowToGroup(sink, 0), packedHeads);
      target.sink2 = ReshapeOp::create(
          b, rows(b.getF32Type()), BroadcastOp::create(b, perHead, sinks, 0));
    }
    return target;
  }
  target.o = viewHead(o, Side::Queries, head);
  if (lse)
    target.lse = viewRows(lse, head);
  if (sink)
    target.sink2 = loadSink(sink, head);
  return target;
}

RowTarget ForwardBuilder::enterPartOfWork() {
  RowTarget target;
  target.row = index(0);
  // A table that is none of this kernel's must not make it write elsewhere.
  Value room = DimOp::create(b, oParts, 0);
  Value count = min(min(sub(sq, row), index(queries)), room);
  Value first =
      arith::MinUIOp::create(b, readWork(WorkColumn::Row), sub(room, count));
  target.o = NarrowOp::create(b, oParts, 0, first, count);
  target.lse = NarrowOp::create(b, lseParts, 1, first, count);
  if (packsHeads()) {
    target.heads = packedHeads;
    target.o = narrowToGroup(target.o, 1);
    target.lse = narrowToGroup(target.lse, 0);
    return target;
  }
  target.o = SliceOp::create(b, target.o, {Value(), head, Value()});
  target.lse = SliceOp::create(b, target.lse, {head, Value()});
  return target;
}

SmallVector<Value> ForwardBuilder::beginRows() {
  RankedTensorType perRow = rows(b.getF32Type());
  RankedTensorType tile = type({blockM, headDim}, element);
  // Rows behind the group's are those of other heads, which nothing stores.
  if (packsHeads())
    qTile = ReshapeOp::create(
        b, tile,
        LoadOp::create(b, type({queries, packedHeads, headDim}, element),
                       viewSequence(q), ValueRange{row, firstHead, index(0)}));
  else
    qTile = LoadOp::create(b, tile, qh, ValueRange{row, index(0)});
  loadTreeMask();
  cRows = splat(perRow, c);
  cScores = splat(scores(b.getF32Type()), c);
  return {fill(sums(), 0.0f), fill(perRow, -INFINITY), fill(perRow, 0.0f)};
}

/// Adds the keys n .. n + blockN - 1.
SmallVector<Value> ForwardBuilder::step(Value n, ValueRange carried) {
  // The output, the largest score and the sum of the weights so far.
  Value before = carried[0], maxBefore = carried[1], sumBefore = carried[2];
  RankedTensorType tile = scores(b.getF32Type()), perRow = rows(b.getF32Type());
  SmallVector<Value> at{n, index(0)};
  Value keys = LoadOp::create(b, type({blockN, headDim}, element), kh, at);
  Value zero = fill(tile, 0.0f);
  Value product = byKey ? DotOp::create(b, tile, keys, transpose(qTile), zero)
                        : DotOp::create(b, tile, qTile, transpose(keys), zero);
  Value s = score(product);
  s = arith::SelectOp::create(b, visible(n), s, fill(tile, -INFINITY));

  Value largest = arith::MaxNumFOp::create(
      b, maxBefore,
      ReduceOp::create(b, perRow, arith::AtomicRMWKind::maxnumf, s, !byKey));
  Value max = largest, grows;
  if (keepsMaximum) {
    Value growth = arith::MulFOp::create(
        b, arith::SubFOp::create(b, largest, maxBefore), cRows);
    grows = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, growth,
                                  fill(perRow, kKeptGrowth));
    max = arith::SelectOp::create(b, grows, largest, maxBefore);
  }
  // A row that has seen no key yet: any finite pivot gives exp2(-inf) = 0,
  // where -inf itself would give exp2(-inf + inf).
  Value sawNothing = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, max,
                                           fill(perRow, -INFINITY));
  Value pivot = arith::SelectOp::create(b, sawNothing, fill(perRow, 0.0f), max);
  Value offset =
      arith::NegFOp::create(b, arith::MulFOp::create(b, pivot, cRows));
  Value exponent = math::FmaOp::create(b, s, cScores, spreadRows(offset));
  Value p = math::Exp2Op::create(b, exponent);

  // What came before was relative to the old maximum.
  Value change = arith::SubFOp::create(b, maxBefore, pivot);
  Value alpha =
      math::Exp2Op::create(b, arith::MulFOp::create(b, change, cRows));
  if (keepsMaximum)
    alpha = arith::SelectOp::create(b, grows, alpha, fill(perRow, 1.0f));
  Value sum = math::FmaOp::create(
      b, sumBefore, alpha,
      ReduceOp::create(b, perRow, arith::AtomicRMWKind::addf, p, !byKey),
      arith::FastMathFlags::reassoc);
  Value scaled = arith::MulFOp::create(b, before, spreadSums(alpha));
  // A row with a NaN has NaN as its sum, and as its result.
  Value weights =
      arith::TruncFOp::create(b, scores(element), p, /*roundingmode=*/nullptr,
                              arith::FastMathFlagsAttr::get(
                                  b.getContext(), arith::FastMathFlags::nnan));
  Value values = LoadOp::create(b, type({blockN, valueDim}, element), vh, at);
  Value acc = byKey
                  ? DotOp::create(b, scaled.getType(), transpose(values),
                                  weights, scaled)
                  : DotOp::create(b, scaled.getType(), weights, values, scaled);
  return {acc, max, sum};
}

SmallVector<Value> ForwardBuilder::combineInCluster(ValueRange carried) {
  using Kind = arith::AtomicRMWKind;
  RankedTensorType perRow = rows(b.getF32Type());
  Value max = ClusterReduceOp::create(b, perRow, Kind::maxnumf, carried[1]);
  Value sawNothing = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, max,
                                           fill(perRow, -INFINITY));
  Value pivot = arith::SelectOp::create(b, sawNothing, fill(perRow, 0.0f), max);
  Value weight = math::Exp2Op::create(
      b, arith::MulFOp::create(b, arith::SubFOp::create(b, carried[1], pivot),
                               cRows));
  Value sum = ClusterReduceOp::create(
      b, perRow, Kind::addf, arith::MulFOp::create(b, carried[2], weight));
  Value out = arith::MulFOp::create(b, carried[0], spreadSums(weight));
  // The rows of the transposed tile are divided among the blocks.
  int64_t columns = valueDim / *schedule.clusterSplit;
  Value mine =
      ClusterReduceOp::create(b, type({columns, blockM}, b.getF32Type()),
                              Kind::addf, byKey ? out : transpose(out));
  return {byKey ? mine : transpose(mine), max, sum};
}

void ForwardBuilder::endRows(ValueRange carried) {
  // Only here, so that the loops need not keep it in registers.
  if (fewRegisters && isPacked() && head)
    head = recompute(head);
  auto write = [&](const RowTarget &target) {
    Value base2 = arith::MulFOp::create(b, carried[1], cRows);
    Value acc = byKey ? transpose(carried[0]) : carried[0];
    writeResult({acc, base2, carried[2]}, target);
  };
  if (schedule.clusterSplit) {
    SmallVector<Value> combined = combineInCluster(carried);
    carried = combined;
    RowTarget target = enterTarget();
    target.column = arith::MulIOp::create(
        b, part, index(valueDim / *schedule.clusterSplit));
    target.writesLse =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, part, index(0));
    return write(target);
  }
  if (!works)
    return write(enterTarget());
  // Read again, so that the loops need not keep it in registers.
  work = recompute(work);
  Value isShared = arith::CmpIOp::create(b, arith::CmpIPredicate::ugt,
                                         readWork(WorkColumn::Parts), index(1));
  choose(
      isShared, [&] { write(enterPartOfWork()); },
      [&] { write(enterTarget()); });
}

void tile::buildAttentionForward(ImplicitLocOpBuilder &builder, AttentionOp op,
                                 const IRMapping &mapping,
                                 const Schedule &schedule) {
  ForwardBuilder(builder, op, mapping, schedule).buildRows();
}
