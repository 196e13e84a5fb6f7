//===- CoordinateSum.h - Integers as sums of coordinates --------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_MASKS_COORDINATESUM_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_MASKS_COORDINATESUM_H

#include "mlir/Analysis/DataFlowFramework.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Which dimensions of a tile of two dimensions the dimensions of another tile
/// are: {0, 1} for one of the same shape, {1} for a row, {} for a scalar.
using TileDims = llvm::SmallVector<unsigned, 2>;

/// An integer that is known without wrap-around: a constant, and multiples of
/// the coordinates of an element and of other values.
struct CoordinateSum {
  struct Term {
    mlir::Value value;
    TileDims dims;
    int64_t factor;
  };
  int64_t constant = 0;
  std::array<int64_t, 2> coordinates = {0, 0};
  llvm::SmallVector<Term> terms;

  /// Adds `factor` times `other`. Returns false if a number becomes too large.
  [[nodiscard]] bool add(const CoordinateSum &other, int64_t factor);
};

struct SignedRange {
  int64_t least, most;
};

/// Finds sums of coordinates in a tile of two dimensions. Values that are
/// created later are unknown, and none may be erased.
class CoordinateSums {
public:
  explicit CoordinateSums(KernelOp kernel);
  /// Sets the extents of the tile.
  void setShape(llvm::ArrayRef<int64_t> extents) { shape = extents; }

  /// Returns a sum that equals `value` modulo 2^bits, with the bits of its
  /// type.
  CoordinateSum getModular(mlir::Value value, const TileDims &dims,
                           unsigned depth = 8);
  /// Returns a sum that equals `value`.
  CoordinateSum getExact(mlir::Value value, const TileDims &dims,
                         unsigned depth = 8);
  /// Returns the numbers between which the sum lies; std::nullopt if 64 bits
  /// do not hold them.
  std::optional<SignedRange> getRange(const CoordinateSum &sum);

private:
  SignedRange getRange(mlir::Value value);

  mlir::DataFlowSolver solver;
  llvm::ArrayRef<int64_t> shape;
};

/// Returns true if an integer type of `bits` bits holds the range.
bool fits(std::optional<SignedRange> range, unsigned bits);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_MASKS_COORDINATESUM_H
