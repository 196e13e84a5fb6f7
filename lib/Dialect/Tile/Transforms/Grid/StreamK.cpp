//===- StreamK.cpp - All blocks share the tiles of the last wave ----------===//
//
// Of t tiles and n blocks, t mod n are left when each block has as many whole
// tiles as the others. All blocks share the iterations of these r tiles
// equally (Osama, Merrill, Cecka, Garland and Owens, "Stream-K: Work-Centric
// Parallel Decomposition for Dense Matrix-Matrix Multiplication on the GPU",
// 2023). If a tile counts as n units, each block has r units. Blocks that run
// at the same time should read the same slices of the operands, so most of them
// start at the same iterations: the tiles form the rows of a rectangle of r * n
// units.
//
//              r units    r units     q units
//     tile 0   block 0    block r     block m r
//     tile 1   block 1    block r+1   block m r, then block m r + 1
//     ...
//
// The first m r blocks have a part of one tile each: a column. The other q =
// n - m r blocks share the rest of all tiles, one after the other, so each has
// several parts. The launch has one dimension: t - r whole tiles, the first
// parts of all n blocks, their second parts, and so on. Parts may be empty.
//
//===----------------------------------------------------------------------===//

#include "I32Emitter.h"
#include "Partition.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Analysis/SplitReduction.h"

using namespace mlir;
using namespace tile;

namespace {
class StreamK : public Partition {
public:
  StreamK(int64_t blocks) : blocks(blocks) {}

  int64_t countUnits() const override { return blocks; }
  Value countSums(ImplicitLocOpBuilder &b,
                  const GridValues &grid) const override;
  Part dividePart(ImplicitLocOpBuilder &b, GridValues &grid) const override;
  Piece dividePiece(ImplicitLocOpBuilder &b, GridValues &grid,
                    int64_t pieces) const override;
  Value addParts(ImplicitLocOpBuilder &b, const GridValues &grid,
                 const Piece &piece, Value first,
                 llvm::function_ref<Value(Value)> load) const override;

private:
  int64_t blocks;
};

/// Emits the numbers of a launch, as i32.
class Emitter : I32Emitter {
public:
  Emitter(const ImplicitLocOpBuilder &builder, const GridValues &grid,
          int64_t blocks);

  /// Returns the extent of the first kernel's launch.
  Value countWorks();
  Value countLeft() { return widen(left); }
  Part dividePart();
  GridValues locateTile(Value number);
  GridValues locateLeftTile(Value number) {
    return locateTile(add(whole, narrow(number)));
  }
  /// Returns the number of parts of the tile that is left with this number.
  Value countParts(Value tile);
  /// Returns the number of the sum of a part of this tile.
  Value numberSum(Value tile, Value part);

private:
  /// Returns the first block, among those with rests, with units of the rest of
  /// a tile.
  Value findFirstRest(Value tile) {
    return divide(mul(tile, rests.value), height).first;
  }

  /// The tiles along x and y, and n.
  Divisor rows, columns, blocks;
  /// All tiles, those that one block computes, and r.
  Value all, whole, left;
  /// m, r and q, but at least 1; m r; whether q is not 0.
  Value width;
  Divisor height, rests;
  Value firstRest, hasRests;
};
} // namespace

/// Emits what StreamKPlan computes.
Emitter::Emitter(const ImplicitLocOpBuilder &builder, const GridValues &grid,
                 int64_t count)
    : I32Emitter(builder) {
  // Launchers evaluate these numbers, too, and know no comparisons: a condition
  // is 0 or 1.
  Value one = constant(1), n = constant(count);
  rows = invert(narrow(grid[0]));
  columns = invert(narrow(grid[1]));
  blocks = {n, Value()};
  all = mul(mul(rows.value, columns.value), narrow(grid[2]));
  Value last = b.createOrFold<arith::RemUIOp>(all, n);
  Value r = max(last, one), m = div(n, r);
  Value q = sub(n, mul(m, r));
  Value isThin = sub(one, min(div(mul(q, constant(kMostRests)), r), one));
  isThin = mul(isThin, min(q, one));
  // One column less leaves more blocks for the rest.
  Value isWide = min(div(m, constant(2)), one);
  Value widens = mul(isThin, isWide);
  width = sub(m, widens);
  q = add(q, mul(widens, r));
  left = mul(last, sub(one, sub(isThin, widens)));
  whole = sub(all, left);
  height = invert(r);
  hasRests = min(q, one);
  rests = invert(max(q, one));
  firstRest = mul(width, r);
}

Value Emitter::countWorks() {
  Value each = b.createOrFold<arith::CeilDivUIOp>(height.value, rests.value);
  Value parts = add(constant(1), mul(hasRests, each));
  Value works = mul(mul(parts, blocks.value), min(left, constant(1)));
  return widen(add(whole, works));
}

/// Returns the coordinates of the tile with this number; x counts fastest.
GridValues Emitter::locateTile(Value number) {
  auto [row, x] = divide(number, rows);
  auto [z, y] = divide(row, columns);
  return {widen(x), widen(y), widen(z)};
}

Part Emitter::dividePart() {
  Value work = narrow(ProgramIdOp::create(b, Dimension::x));
  Value one = constant(1), zero = constant(0);
  Part part;
  part.isWhole = isLess(work, whole);
  auto [round, block] = divide(sub(work, whole), blocks);
  auto [column, row] = divide(block, height);
  Value isColumn = isLess(block, firstRest);

  Value number = sub(block, firstRest);
  Value begin = mul(number, height.value), end = add(begin, height.value);
  Value tile = add(divide(begin, rests).first, round);
  Value first = mul(tile, rests.value);
  begin = sub(max(begin, first), first);
  // Negative if the block has no units of this tile.
  end = sub(min(end, add(first, rests.value)), first);
  number = add(firstRest, add(tile, number));

  Value isFirst = isLess(round, one);
  tile = select(isColumn, row, tile);
  number = select(isColumn, block, number);
  Value columnBegin = mul(column, height.value);
  Value columnEnd =
      select(isFirst, add(columnBegin, height.value), columnBegin);
  begin = select(isColumn, columnBegin, add(begin, firstRest));
  end = select(isColumn, columnEnd, add(end, firstRest));

  // A part behind the last tile is empty.
  tile = select(part.isWhole, work, min(add(whole, tile), sub(all, one)));
  part.tile = locateTile(tile);
  auto toSigned = [&](Value value) {
    return b.createOrFold<arith::IndexCastOp>(b.getIndexType(), value);
  };
  part.begin = toSigned(select(part.isWhole, zero, begin));
  part.end = toSigned(select(part.isWhole, blocks.value, end));
  part.number = widen(number);
  return part;
}

Value Emitter::countParts(Value number) {
  Value tile = narrow(number);
  Value last = sub(mul(add(tile, constant(1)), rests.value), constant(1));
  Value count = sub(divide(last, height).first, findFirstRest(tile));
  return widen(add(width, mul(hasRests, add(count, constant(1)))));
}

Value Emitter::numberSum(Value tileNumber, Value partNumber) {
  Value tile = narrow(tileNumber), part = narrow(partNumber);
  Value rest = add(add(tile, findFirstRest(tile)), sub(part, width));
  return widen(select(isLess(part, width), add(mul(part, height.value), tile),
                      add(firstRest, rest)));
}

// The parts of the rests follow a staircase in the rectangle of tiles and
// blocks, so tile + block numbers them, up to r + q - 2.
Value StreamK::countSums(ImplicitLocOpBuilder &b, const GridValues &) const {
  return arith::ConstantIndexOp::create(b, 2 * blocks);
}

Part StreamK::dividePart(ImplicitLocOpBuilder &b, GridValues &grid) const {
  Emitter emitter(b, grid, blocks);
  Part part = emitter.dividePart();
  Value one = arith::ConstantIndexOp::create(b, 1);
  grid = {emitter.countWorks(), one, one};
  return part;
}

Piece StreamK::dividePiece(ImplicitLocOpBuilder &b, GridValues &grid,
                           int64_t pieces) const {
  Emitter emitter(b, grid, blocks);
  Piece piece;
  piece.number = ProgramIdOp::create(b, Dimension::x);
  piece.piece = ProgramIdOp::create(b, Dimension::y);
  piece.tile = emitter.locateLeftTile(piece.number);
  grid = {emitter.countLeft(), arith::ConstantIndexOp::create(b, pieces),
          arith::ConstantIndexOp::create(b, 1)};
  return piece;
}

Value StreamK::addParts(ImplicitLocOpBuilder &b, const GridValues &grid,
                        const Piece &piece, Value first,
                        llvm::function_ref<Value(Value)> load) const {
  Value begin = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  Emitter emitter(b, grid, blocks);
  if (!first) {
    first = load(emitter.numberSum(piece.number, begin));
    begin = one;
  }
  auto loop = scf::ForOp::create(b, begin, emitter.countParts(piece.number),
                                 one, first);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value number =
      Emitter(b, grid, blocks).numberSum(piece.number, loop.getInductionVar());
  Value sum = addTiles(b, loop.getRegionIterArg(0), load(number));
  scf::YieldOp::create(b, sum);
  return loop.getResult(0);
}

std::unique_ptr<Partition> tile::createStreamK(int64_t blocks) {
  return std::make_unique<StreamK>(blocks);
}
