//===- RowBuilder.cpp - Kernels that walk over the keys -------------------===//

#include "RowBuilder.h"

using namespace mlir;
using namespace tile;

/// Which blocks of keys to visit, and which of them need no mask. Row r of
/// the block sees the keys from diagonal + r - left to diagonal + r + right.
void RowBuilder::computeKeyRanges() {
  Value zero = index(0);
  Value diagonal = left || right ? add(row, sub(sk, sq)) : Value();
  lower = upper = Value();
  begin = fullBegin = zero;
  end = sk;
  Value endForAll = sk;
  RankedTensorType perRow = rows(b.getI32Type());
  Value r = left || right ? Value(IotaOp::create(b, perRow, 0)) : Value();
  if (right) {
    Value endOfFirstRow = add(diagonal, add(computeRightReach(), 1));
    end = min(add(endOfFirstRow, index(blockM - 1)), sk);
    endForAll = max(min(endOfFirstRow, sk), zero);
    Value ends = arith::AddIOp::create(b, r, splat(perRow, i32(endOfFirstRow)));
    upper = arith::MinSIOp::create(b, ends, splat(perRow, i32(sk)));
  }
  fullEnd = roundDown(endForAll, blockN);
  if (left) {
    Value beginOfFirstRow = sub(diagonal, computeLeftReach());
    Value beginOfLastRow = add(beginOfFirstRow, index(blockM - 1));
    begin = roundDown(max(beginOfFirstRow, zero), blockN);
    fullBegin = roundUp(max(beginOfLastRow, zero), blockN);
    lower = arith::AddIOp::create(b, r, splat(perRow, i32(beginOfFirstRow)));
  }
}

/// Which of the keys n .. n + blockN - 1 each row sees.
Value RowBuilder::visible(Value n, bool maskLeft) {
  RankedTensorType tile = scores(b.getI32Type());
  Value column = IotaOp::create(b, tile, 1);
  // Keys relative to n are compared with the columns as they are, which a loop
  // keeps in registers.
  bool isRelative = !fewRegisters;
  if (!isRelative)
    column = arith::AddIOp::create(b, column, splat(tile, i32(n)));
  auto perRow = [&](Value keys) {
    if (isRelative) {
      Value offset = splat(rows(b.getI32Type()), i32(n));
      keys = arith::SubIOp::create(b, keys, offset);
    }
    return spread(keys, blockN);
  };
  Value bound = upper        ? perRow(upper)
                : isRelative ? splat(tile, i32(sub(sk, n)))
                             : splat(tile, i32(sk));
  Value mask =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, column, bound);
  if (maskLeft) {
    Value isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, column,
                                           perRow(lower));
    mask = arith::AndIOp::create(b, mask, isInside);
  }
  return mask;
}

/// Walks over the keys of [begin, end); begin is a multiple of blockN.
SmallVector<Value> RowBuilder::loop(Value begin, Value end, bool maskLeft,
                                    bool maskRight, ValueRange carried) {
  return forEach(
      begin, end, index(blockN), carried,
      [&](Value n, ValueRange carried) {
        return step(n, maskLeft, maskRight, carried);
      },
      schedule.stages);
}

SmallVector<Value> RowBuilder::walkDown(
    Value begin, Value end, ValueRange carried,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  // What a loop carries takes registers: 32 bits hold every coordinate.
  Value last = i32(sub(add(begin, end), index(blockN)));
  return forEach(
      i32(begin), i32(end), i32(index(blockN)), carried,
      [&](Value i, ValueRange carried) {
        return body(wide(sub(last, i32(i))), carried);
      },
      schedule.stages);
}

void RowBuilder::forEachRows(llvm::function_ref<void()> body) {
  Value block = launch(Side::Queries, blockM);
  // Under a causal mask the last rows see the most keys: start with them, so
  // that the blocks that run last are the short ones. tile-persist has its own
  // order.
  if (causal && !isPersistent)
    block = sub(sub(blocks, index(1)), block);
  enterHead();
  computeFactors();
  forEachBlock(sq, blockM, block, [&](Value first) {
    row = first;
    computeKeyRanges();
    body();
  });
}

void RowBuilder::buildRows() {
  forEachRows([&] {
    SmallVector<Value> carried = beginRows();
    // Up to three loops: blocks of which some rows see only the right part,
    // those that all rows see whole, and the rest. A narrow window may have no
    // block of the second kind; then the first loop ends, or the third begins,
    // where the other does.
    Value restBegin = fullEnd;
    if (left) {
      carried = loop(begin, min(fullBegin, end), /*maskLeft=*/true,
                     /*maskRight=*/true, carried);
      restBegin = max(fullBegin, fullEnd);
    }
    carried = loop(fullBegin, fullEnd, /*maskLeft=*/false, /*maskRight=*/false,
                   carried);
    carried =
        loop(restBegin, end, /*maskLeft=*/false, /*maskRight=*/true, carried);
    endRows(carried);
  });
}
