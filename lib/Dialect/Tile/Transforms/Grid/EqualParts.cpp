//===- EqualParts.cpp - Several blocks for each tile ----------------------===//
//
// The parts of a launch of x * y * z blocks are x * y * (parts * z) blocks.
// Those of the first part come first.
//
//===----------------------------------------------------------------------===//

#include "Partition.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tile;

namespace {
class EqualParts : public Partition {
public:
  EqualParts(int64_t parts) : parts(parts) {}

  int64_t countUnits() const override { return parts; }
  Value countSums(ImplicitLocOpBuilder &b,
                  const GridValues &grid) const override;
  Part dividePart(ImplicitLocOpBuilder &b, GridValues &grid) const override;
  Piece dividePiece(ImplicitLocOpBuilder &b, GridValues &grid,
                    int64_t pieces) const override;
  Value addParts(ImplicitLocOpBuilder &b, const GridValues &grid,
                 const Piece &piece, Value first,
                 llvm::function_ref<Value(Value)> load) const override;

private:
  int64_t parts;
};
} // namespace

static Value createIndex(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

/// Multiplies the blocks of a launch along z. Returns the coordinates of a
/// block in the launch before, and its number among those that share it.
static std::pair<GridValues, Value>
multiplyGrid(ImplicitLocOpBuilder &b, GridValues &grid, int64_t factor) {
  GridValues tile = {ProgramIdOp::create(b, Dimension::x),
                     ProgramIdOp::create(b, Dimension::y),
                     ProgramIdOp::create(b, Dimension::z)};
  Value share = b.createOrFold<arith::DivUIOp>(tile[2], grid[2]);
  tile[2] = b.createOrFold<arith::RemUIOp>(tile[2], grid[2]);
  grid[2] = b.createOrFold<arith::MulIOp>(grid[2], createIndex(b, factor));
  return {tile, share};
}

/// Returns the number of a block in a launch: x counts fastest.
static Value numberTile(ImplicitLocOpBuilder &b, const GridValues &tile,
                        const GridValues &grid) {
  Value row = b.createOrFold<arith::AddIOp>(
      tile[1], b.createOrFold<arith::MulIOp>(grid[1], tile[2]));
  return arith::AddIOp::create(b, tile[0],
                               arith::MulIOp::create(b, grid[0], row));
}

Value EqualParts::countSums(ImplicitLocOpBuilder &b,
                            const GridValues &grid) const {
  Value tiles = b.createOrFold<arith::MulIOp>(
      b.createOrFold<arith::MulIOp>(grid[0], grid[1]), grid[2]);
  return arith::MulIOp::create(b, tiles, createIndex(b, parts));
}

Part EqualParts::dividePart(ImplicitLocOpBuilder &b, GridValues &grid) const {
  GridValues original = grid;
  auto [tile, share] = multiplyGrid(b, grid, parts);
  Value next = arith::AddIOp::create(b, share, createIndex(b, 1));
  Value first = arith::MulIOp::create(b, numberTile(b, tile, original),
                                      createIndex(b, parts));
  return {tile, share, next, arith::AddIOp::create(b, first, share), Value()};
}

Piece EqualParts::dividePiece(ImplicitLocOpBuilder &b, GridValues &grid,
                              int64_t pieces) const {
  GridValues original = grid;
  auto [tile, piece] = multiplyGrid(b, grid, pieces);
  return {tile, numberTile(b, tile, original), piece};
}

Value EqualParts::addParts(ImplicitLocOpBuilder &b, const GridValues &,
                           const Piece &piece, Value first,
                           llvm::function_ref<Value(Value)> load) const {
  Value begin = arith::MulIOp::create(b, piece.number, createIndex(b, parts));
  for (int64_t i = 0; i < parts; ++i) {
    Value sum = load(arith::AddIOp::create(b, begin, createIndex(b, i)));
    first = first ? addTiles(b, first, sum) : sum;
  }
  return first;
}

std::unique_ptr<Partition> tile::createEqualParts(int64_t parts) {
  return std::make_unique<EqualParts>(parts);
}
