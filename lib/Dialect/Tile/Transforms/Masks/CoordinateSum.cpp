//===- CoordinateSum.cpp - Integers as sums of coordinates ----------------===//

#include "CoordinateSum.h"
#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

/// Adds factor * value to `sum`. Returns false if that overflows.
static bool addProduct(int64_t &sum, int64_t factor, int64_t value) {
  int64_t product;
  return !llvm::MulOverflow(factor, value, product) &&
         !llvm::AddOverflow(sum, product, sum);
}

bool CoordinateSum::add(const CoordinateSum &other, int64_t factor) {
  if (!addProduct(constant, factor, other.constant))
    return false;
  for (auto [sum, value] : llvm::zip(coordinates, other.coordinates))
    if (!addProduct(sum, factor, value))
      return false;
  for (const Term &term : other.terms) {
    auto *same = llvm::find_if(terms, [&](const Term &known) {
      return known.value == term.value && known.dims == term.dims;
    });
    if (same == terms.end())
      same = terms.insert(terms.end(), {term.value, term.dims, 0});
    if (!addProduct(same->factor, factor, term.factor))
      return false;
    if (same->factor == 0)
      terms.erase(same);
  }
  return true;
}

bool tile::fits(std::optional<SignedRange> range, unsigned bits) {
  return range && range->least >= llvm::minIntN(bits) &&
         range->most <= llvm::maxIntN(bits);
}

CoordinateSums::CoordinateSums(KernelOp kernel) {
  solver.load<dataflow::DeadCodeAnalysis>();
  solver.load<dataflow::SparseConstantPropagation>();
  solver.load<dataflow::IntegerRangeAnalysis>();
  // Without a result of the analysis, all values are unknown.
  (void)solver.initializeAndRun(kernel);
}

SignedRange CoordinateSums::getRange(Value value) {
  unsigned bits = ConstantIntRanges::getStorageBitwidth(value.getType());
  auto *state = solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
  if (!state || state->getValue().isUninitialized())
    return {llvm::minIntN(bits), llvm::maxIntN(bits)};
  const ConstantIntRanges &range = state->getValue().getValue();
  return {range.smin().getSExtValue(), range.smax().getSExtValue()};
}

std::optional<SignedRange> CoordinateSums::getRange(const CoordinateSum &sum) {
  SignedRange result{sum.constant, sum.constant};
  auto add = [&](int64_t factor, SignedRange range) {
    if (factor < 0)
      std::swap(range.least, range.most);
    return addProduct(result.least, factor, range.least) &&
           addProduct(result.most, factor, range.most);
  };
  for (auto [factor, extent] : llvm::zip(sum.coordinates, shape))
    if (!add(factor, {0, extent - 1}))
      return std::nullopt;
  for (const CoordinateSum::Term &term : sum.terms)
    if (!add(term.factor, getRange(term.value)))
      return std::nullopt;
  return result;
}

CoordinateSum CoordinateSums::getExact(Value value, const TileDims &dims,
                                       unsigned depth) {
  CoordinateSum sum = getModular(value, dims, depth);
  if (fits(getRange(sum),
           ConstantIntRanges::getStorageBitwidth(value.getType())))
    return sum;
  return {0, {0, 0}, {{value, dims, 1}}};
}

CoordinateSum CoordinateSums::getModular(Value value, const TileDims &dims,
                                         unsigned depth) {
  CoordinateSum unknown{0, {0, 0}, {{value, dims, 1}}};
  if (APInt constant; matchPattern(value, m_ConstantInt(&constant)))
    return {constant.getSExtValue(), {0, 0}, {}};
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return unknown;
  if (auto iota = dyn_cast<IotaOp>(op)) {
    CoordinateSum sum;
    sum.coordinates[dims[iota.getDim()]] = 1;
    return sum;
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    TileDims source = dims;
    source.erase(source.begin() + broadcast.getDim());
    return getModular(broadcast.getSource(), source, depth - 1);
  }
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return getModular(splat.getInput(), {}, depth - 1);
  if (auto convert = dyn_cast<ConvertLayoutOp>(op))
    return getModular(convert.getSource(), dims, depth - 1);
  auto bitsOf = [](Value value) {
    return ConstantIntRanges::getStorageBitwidth(value.getType());
  };
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op)) {
    Value source = op->getOperand(0);
    return bitsOf(source) < bitsOf(value) ? getExact(source, dims, depth - 1)
                                          : getModular(source, dims, depth - 1);
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return unknown;
  CoordinateSum a = getModular(op->getOperand(0), dims, depth - 1);
  CoordinateSum b = getModular(op->getOperand(1), dims, depth - 1);
  auto isConstant = [](const CoordinateSum &sum) {
    return sum.terms.empty() && sum.coordinates == std::array<int64_t, 2>{0, 0};
  };
  CoordinateSum product;
  if (isa<arith::MulIOp>(op)) {
    if (isConstant(a))
      std::swap(a, b);
    return isConstant(b) && product.add(a, b.constant) ? product : unknown;
  }
  return a.add(b, isa<arith::AddIOp>(op) ? 1 : -1) ? a : unknown;
}
