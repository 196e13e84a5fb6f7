//===- RowBuilder.cpp - Kernels that walk over the keys -------------------===//

#include "RowBuilder.h"

using namespace mlir;
using namespace tile;

/// Which blocks of keys to visit. Row r of the block sees the keys from
/// diagonal + r - left to diagonal + r + right.
void RowBuilder::computeKeyRanges() {
  Value zero = index(0);
  Value diagonal = left || right ? add(row, sub(sk, sq)) : Value();
  begin = zero;
  end = sk;
  keys = i32(sk);
  if (right) {
    Value endOfFirstRow = add(diagonal, add(computeRightReach(), 1));
    end = min(add(endOfFirstRow, index(blockM - 1)), sk);
    upper = i32(endOfFirstRow);
  }
  if (left) {
    Value beginOfFirstRow = sub(diagonal, computeLeftReach());
    begin = roundDown(max(beginOfFirstRow, zero), blockN);
    lower = i32(beginOfFirstRow);
  }
}

/// Which of the keys n .. n + blockN - 1 each row sees.
Value RowBuilder::visible(Value n) {
  RankedTensorType tile = scores(b.getI32Type());
  Value column = IotaOp::create(b, tile, 1), first = i32(n);
  auto relative = [&](Value key) { return splat(tile, sub(key, first)); };
  auto ofRow = [&](Value key) {
    return add(IotaOp::create(b, tile, 0), relative(key));
  };
  Value mask = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, column,
                                     relative(keys));
  auto require = [&](arith::CmpIPredicate predicate, Value bound) {
    mask = arith::AndIOp::create(
        b, mask, arith::CmpIOp::create(b, predicate, column, bound));
  };
  if (right)
    require(arith::CmpIPredicate::slt, ofRow(upper));
  if (left)
    require(arith::CmpIPredicate::sge, ofRow(lower));
  return mask;
}

void RowBuilder::buildRows() {
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
    // Keys before and behind a window make three loops of one, whose bounds all
    // take registers.
    auto count = [&](Value n) { return left ? i32(n) : narrow(n); };
    endRows(forEach(
        count(begin), count(end), count(index(blockN)), beginRows(),
        [&](Value n, ValueRange carried) { return step(n, carried); },
        schedule.stages));
  });
}
