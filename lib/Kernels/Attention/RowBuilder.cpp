//===- RowBuilder.cpp - Kernels that walk over the keys -------------------===//

#include "RowBuilder.h"

using namespace mlir;
using namespace tile;

Value RowBuilder::enterPart(Value buffer) {
  if (!part) {
    part = ProgramIdOp::create(b, Dimension::y);
    parts = gridParts = DimOp::create(b, buffer, 0);
  }
  SmallVector<Value> indices(cast<BufferType>(buffer.getType()).getRank());
  indices[0] = part;
  return SliceOp::create(b, buffer, indices);
}

void RowBuilder::enterPartOfCluster(int64_t blocks) {
  part = ClusterRankOp::create(b);
  parts = index(blocks);
}

/// Sets firstHead and headCount to those of tile `tile` of the heads of a
/// group.
void RowBuilder::enterTileOfHeads(Value tile) {
  Value skipped = arith::MulIOp::create(b, tile, index(packedHeads));
  firstHead = add(arith::MulIOp::create(b, kvHead, group), skipped);
  headCount = sub(group, skipped);
}

/// Returns the tiles of the heads of a group.
Value RowBuilder::countTilesOfHeads() {
  Value keyHeads = max(DimOp::create(b, k, headsAt(Side::Keys)), index(1));
  Value shared = arith::DivUIOp::create(
      b, DimOp::create(b, q, headsAt(Side::Queries)), keyHeads);
  return arith::CeilDivUIOp::create(b, shared, index(packedHeads));
}

/// Returns the number of the block along the queries.
Value RowBuilder::launchRows() {
  if (!packsHeads())
    return launch(Side::Queries, blockM, /*kvHeads=*/false,
                  /*isLongestFirst=*/false, gridParts);
  Value block =
      launch(Side::Queries, queries, /*kvHeads=*/true,
             /*isLongestFirst=*/false, gridParts, countTilesOfHeads());
  enterTileOfHeads(ProgramIdOp::create(b, Dimension::z));
  return block;
}

/// Every part has as many steps of the walk, but for the last ones. In 32 bits,
/// which hold the coordinates: the parts end before 2^30 + 65535 steps.
void RowBuilder::enterKeysOfPart() {
  Value steps = arith::CeilDivSIOp::create(b, sub(end, begin), index(blockN));
  Value each = arith::CeilDivSIOp::create(b, max(steps, index(0)), parts);
  Value size = arith::MulIOp::create(b, each, index(blockN));
  begin = add(begin, arith::MulIOp::create(b, part, size));
  end = min(end, add(begin, size));
}

/// Which blocks of keys to visit. Query i of the block sees the keys from
/// diagonal + i - left to diagonal + i + right.
void RowBuilder::computeKeyRanges() {
  Value zero = index(0);
  Value diagonal = left || right ? add(row, sub(sk, sq)) : Value();
  begin = zero;
  end = sk;
  keys = i32(sk);
  if (right) {
    Value endOfFirstRow = add(diagonal, add(computeRightReach(), 1));
    end = min(add(endOfFirstRow, index(queries - 1)), sk);
    upper = i32(endOfFirstRow);
  }
  if (left) {
    Value beginOfFirstRow = sub(diagonal, computeLeftReach());
    begin = roundDown(max(beginOfFirstRow, zero), blockN);
    lower = i32(beginOfFirstRow);
  }
  if (treeMask) {
    Value node = offset ? wide(offset) : sub(sk, sq);
    Value endOfNodes = add(node, 32 * countTreeWords());
    firstNode = i32(node);
    keys = i32(min(sk, endOfNodes));
    end = min(end, endOfNodes);
  }
  if (part)
    enterKeysOfPart();
}

void RowBuilder::loadTreeMask() {
  treeWords.clear();
  if (!treeMask)
    return;
  Type word = b.getI32Type();
  for (int64_t which = 0; which != countTreeWords(); ++which) {
    Value words = viewTreeWord(which);
    if (queries == 1) {
      Value number = LoadScalarOp::create(b, word, words, ValueRange{row});
      treeWords.push_back(splat(rows(word), number));
      continue;
    }
    words = LoadOp::create(b, type(queries, word), words, ValueRange{row});
    if (packsHeads())
      words = ReshapeOp::create(b, rows(word), spread(words, packedHeads));
    treeWords.push_back(words);
  }
}

/// The comparisons are with columns, so that tile-split-masked-loops leaves the
/// keys before the tree without a mask.
Value RowBuilder::visibleInTree(llvm::function_ref<Value(Value)> relative) {
  RankedTensorType tile = scores(b.getI32Type());
  Value column = IotaOp::create(b, tile, !byKey);
  auto isBefore = [&](int64_t node) -> Value {
    Value bound = node ? add(firstNode, i32(index(node))) : firstNode;
    return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, column,
                                 relative(bound));
  };
  Value word = spreadRows(treeWords.back());
  for (int64_t which = countTreeWords() - 1; which-- > 0;)
    word = arith::SelectOp::create(b, isBefore(32 * (which + 1)),
                                   spreadRows(treeWords[which]), word);
  Value node = sub(column, relative(firstNode));
  Value bit = arith::AndIOp::create(b, node, splat(tile, i32(index(31))));
  Value shifted = arith::ShRUIOp::create(b, word, bit);
  Value isSet = arith::TruncIOp::create(b, scores(b.getI1Type()), shifted);
  return arith::OrIOp::create(b, isBefore(0), isSet);
}

/// Which of the keys n .. n + blockN - 1 each row sees.
Value RowBuilder::visible(Value n) {
  RankedTensorType tile = scores(b.getI32Type());
  Value column = IotaOp::create(b, tile, !byKey), first = i32(n);
  auto relative = [&](Value key) { return splat(tile, sub(key, first)); };
  auto ofRow = [&](Value key) -> Value {
    if (queries == 1)
      return relative(key);
    Value query = IotaOp::create(b, tile, byKey);
    if (packedHeads != 1)
      query = arith::DivUIOp::create(b, query,
                                     splat(tile, i32(index(packedHeads))));
    return add(query, relative(key));
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
  if (treeMask)
    mask = arith::AndIOp::create(b, mask, visibleInTree(relative));
  return mask;
}

Value RowBuilder::readWork(WorkColumn column) {
  return wide(LoadScalarOp::create(b, b.getI32Type(), works,
                                   ValueRange{work, index(int64_t(column))}));
}

Value RowBuilder::enterWork(Value number) {
  work = add(number, 1);
  enterSequence(limitSequence(readWork(WorkColumn::Sequence)));
  part = readWork(WorkColumn::Part);
  parts = max(readWork(WorkColumn::Parts), index(1));
  // A table that holds something else must not make the kernel read elsewhere.
  return arith::MinUIOp::create(b, readWork(WorkColumn::Query), sq);
}

RowBuilder::WorkRange RowBuilder::takeWorks(Value block, Value works,
                                            Value blocks, Value most) {
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, predicate, x, y);
  };
  Value one = i32(index(1)), none = i32(index(0));
  Value isLimited = compare(arith::CmpIPredicate::ult, most, blocks);
  Value rounds =
      arith::SelectOp::create(b, isLimited, one, i32(index(kRounds)));
  blocks = arith::MinUIOp::create(b, blocks, most);
  Value round = arith::DivUIOp::create(b, block, blocks);
  Value isIdle = compare(arith::CmpIPredicate::uge, round, rounds);
  round = arith::SelectOp::create(b, isIdle, none, round);
  Value next = add(round, one);
  Value isLast = compare(arith::CmpIPredicate::eq, next, rounds);
  Value each = arith::CeilDivUIOp::create(b, works, blocks);
  Value left = arith::ShRUIOp::create(b, each, round);
  Value leftBehind = arith::SelectOp::create(
      b, isLast, none, arith::ShRUIOp::create(b, each, next));
  auto countTaken = [&](Value left) -> Value {
    return arith::MulIOp::create(b, sub(each, left), blocks);
  };
  Value end = arith::MinUIOp::create(b, works, countTaken(leftBehind));
  return {add(countTaken(left), arith::RemUIOp::create(b, block, blocks)),
          arith::SelectOp::create(b, isIdle, none, end), blocks};
}

void RowBuilder::buildWorks() {
  gridOverKVHeads = packsHeads();
  heads = DimOp::create(b, q, headsAt(Side::Queries));
  Value keyHeads = DimOp::create(b, k, headsAt(Side::Keys));
  Value owners = heads, tiles;
  if (packsHeads()) {
    tiles = countTilesOfHeads();
    owners = arith::MulIOp::create(b, keyHeads, tiles);
  }
  // Without sequences, nothing has written the table.
  Value grid = arith::MulIOp::create(
      b, launchedWorks,
      arith::MulIOp::create(
          b, owners, arith::MinUIOp::create(b, countSequences(), index(1))));
  GridOp::create(b, grid, index(1), index(1));
  auto readCount = [&](WorkCount count) -> Value {
    return LoadScalarOp::create(b, b.getI32Type(), works,
                                ValueRange{index(0), index(int64_t(count))});
  };
  // A table that holds something else must not make the kernel read elsewhere.
  Value room = i32(sub(DimOp::create(b, works, 0), index(1)));
  Value end = arith::MulIOp::create(
      b, arith::MinUIOp::create(b, readCount(WorkCount::Works), room),
      i32(owners));
  // The blocks that the GPU runs at a time.
  Value processors = arith::DivUIOp::create(
      b, arith::MulIOp::create(b, DimOp::create(b, oParts, 0), owners),
      index(kPartsOfBlock * queries));
  auto [first, last, step] = takeWorks(
      i32(ProgramIdOp::create(b, Dimension::x)), end,
      max(arith::MinUIOp::create(b, i32(processors), i32(grid)), i32(index(1))),
      max(readCount(WorkCount::Blocks), i32(index(1))));
  // The heads of a work follow each other. In 32 bits, in which divisions are
  // short.
  forEach(first, last, step, {}, [&](Value taken, ValueRange) {
    Value number = i32(taken);
    Value owner = arith::RemUIOp::create(b, number, i32(owners)), tile;
    if (tiles) {
      tile = wide(arith::RemUIOp::create(b, owner, i32(tiles)));
      owner = arith::DivUIOp::create(b, owner, i32(tiles));
    }
    setHead(owner, keyHeads);
    if (tiles)
      enterTileOfHeads(tile);
    Value first =
        enterWork(wide(arith::DivUIOp::create(b, number, i32(owners))));
    enterHead();
    computeFactors();
    buildTile(first);
    return SmallVector<Value>();
  });
}

void RowBuilder::buildTile(Value firstRow) {
  row = firstRow;
  computeKeyRanges();
  // Keys before and behind a window make three loops of one, whose bounds all
  // take registers.
  auto count = [&](Value n) { return left ? i32(n) : narrow(n); };
  endRows(forEach(
      count(begin), count(end), count(index(blockN)), beginRows(),
      [&](Value n, ValueRange carried) { return step(n, carried); },
      schedule.stages));
}

void RowBuilder::buildRows() {
  if (works)
    return buildWorks();
  Value block = launchRows();
  // Under a causal mask the last rows see the most keys: start with them, so
  // that the blocks that run last are the short ones. tile-persist has its own
  // order.
  if (causal && !isPersistent)
    block = sub(sub(blocks, index(1)), block);
  enterHead();
  computeFactors();
  forEachBlock(sq, queries, block, [&](Value first) { buildTile(first); });
}
