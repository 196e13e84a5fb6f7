//===- Softmax.cpp - Sums of exponentials below a maximum -----------------===//

#include "tile/Analysis/Softmax.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "tile/Analysis/RolePlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

/// A thread has one register for each element in f32, one more for each
/// kElementsPerRegister elements, and kOtherRegisters. It takes
/// kJoinedRegisters more if warps exchange the maximum and the sum at once.
/// ptxas gives a softmax with 32 elements 48 to 54 registers, and one with 64
/// elements 82 to 100; at once 64, and 96 to 127.
static constexpr int64_t kOtherRegisters = 8, kJoinedRegisters = 16;
static constexpr int64_t kElementsPerRegister = 4;

static bool isExponential(Operation *op) {
  return isa_and_nonnull<math::ExpOp, math::Exp2Op>(op);
}

/// Returns the constant that all elements of a tile have.
static std::optional<APFloat> getSplat(Value tile) {
  SplatElementsAttr elements;
  if (matchPattern(tile, m_Constant(&elements)))
    return elements.getSplatValue<APFloat>();
  auto splat = tile.getDefiningOp<tensor::SplatOp>();
  FloatAttr number;
  if (splat && matchPattern(splat.getInput(), m_Constant(&number)))
    return number.getValue();
  return std::nullopt;
}

/// Returns true if `weights` is computed in front of `max`.
static bool precedes(Value weights, ReduceOp max) {
  return DominanceInfo().properlyDominates(weights, max);
}

std::optional<Softmax> tile::findSoftmax(ReduceOp sum) {
  Softmax result;
  result.sum = sum;
  Value terms = sum.getSource();
  if (sum.getKind() != arith::AtomicRMWKind::addf ||
      !getElementTypeOrSelf(terms.getType()).isF32())
    return std::nullopt;
  result.exponential = terms.getDefiningOp();
  if (auto weighted = terms.getDefiningOp<arith::MulFOp>()) {
    bool isFirst = isExponential(weighted.getLhs().getDefiningOp());
    result.exponential = weighted->getOperand(isFirst ? 0 : 1).getDefiningOp();
    result.weights = weighted->getOperand(isFirst ? 1 : 0);
    result.weighted = weighted;
    if (!weighted->hasOneUse())
      return std::nullopt;
  }
  if (!isExponential(result.exponential))
    return std::nullopt;
  Value exponent = result.exponential->getOperand(0);
  if (!exponent.hasOneUse())
    return std::nullopt;
  if (auto product = exponent.getDefiningOp<arith::MulFOp>()) {
    for (unsigned i : {0, 1})
      if (!result.scale && (result.scale = getSplat(product->getOperand(i))))
        exponent = product->getOperand(1 - i);
    if (!result.scale || result.scale->isNegative() ||
        !result.scale->isFiniteNonZero() || !exponent.hasOneUse())
      return std::nullopt;
    result.product = product;
  }
  result.difference = exponent.getDefiningOp<arith::SubFOp>();
  auto spread = result.difference
                    ? result.difference.getRhs().getDefiningOp<BroadcastOp>()
                    : BroadcastOp();
  auto max = spread ? spread.getSource().getDefiningOp<ReduceOp>() : ReduceOp();
  if (!max || max->getBlock() != sum->getBlock() ||
      max.getSource() != result.difference.getLhs() ||
      max.getDim() != sum.getDim() || spread.getDim() != max.getDim() ||
      (max.getKind() != arith::AtomicRMWKind::maxnumf &&
       max.getKind() != arith::AtomicRMWKind::maximumf) ||
      (result.weights && !precedes(result.weights, max)))
    return std::nullopt;
  result.max = max;
  return result;
}

bool tile::paysToJoin(const Chip &chip, int64_t warps, int64_t elements) {
  if (warps == 1)
    return false;
  int64_t each = warps / countClusterBlocks(chip, warps);
  auto countBlocks = [&](int64_t registers) {
    return countResidentBlocks(chip, each, llvm::alignTo(registers, 8));
  };
  int64_t registers =
      elements + elements / kElementsPerRegister + kOtherRegisters;
  return countBlocks(registers + kJoinedRegisters) == countBlocks(registers);
}
