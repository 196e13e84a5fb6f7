//===- Softmax.h - Sums of exponentials below a maximum ---------*- C++ -*-===//
//
// Softmax reduces a row twice: to its maximum m, and to the sum of exp(x - m).
// tile-join-reductions lets the warps that share a row exchange both at once.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_SOFTMAX_H
#define TILE_ANALYSIS_SOFTMAX_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tile/Chips/Chips.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// sum(exp(scale * (x - max(x))) * weights) along one dimension of tiles in
/// f32.
struct Softmax {
  ReduceOp max, sum;
  mlir::arith::SubFOp difference;
  /// The product of the difference and the scale, a positive, finite constant;
  /// null without one.
  mlir::arith::MulFOp product;
  std::optional<llvm::APFloat> scale;
  /// math.exp or math.exp2.
  mlir::Operation *exponential = nullptr;
  /// The operand of the sum, if that is not the exponential, and its other
  /// factor, which is computed in front of the maximum.
  mlir::arith::MulFOp weighted;
  mlir::Value weights;

  int64_t getDim() const { return ReduceOp(max).getDim(); }
};

/// Returns the softmax of which `sum` is the sum. Nothing else must use what
/// the operations between the two reductions compute but the exponentials.
std::optional<Softmax> findSoftmax(ReduceOp sum);

/// Returns true if all of `warps` warps should exchange the maximum and the sum
/// of a softmax at once, of which a thread has `elements` elements. That takes
/// registers; as many blocks must run on a multiprocessor.
bool paysToJoin(const Chip &chip, int64_t warps, int64_t elements);

} // namespace tile

#endif // TILE_ANALYSIS_SOFTMAX_H
