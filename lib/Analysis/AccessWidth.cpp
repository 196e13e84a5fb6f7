//===- AccessWidth.cpp - How wide may an access be ------------------------===//

#include "tile/Analysis/AccessWidth.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

static constexpr int64_t kMaxDivisor = 1 << 20;

/// Largest power of two that divides value.
static int64_t powerOfTwo(int64_t value) {
  return value == 0 ? kMaxDivisor : std::min(value & -value, kMaxDivisor);
}

static int64_t knownDivisor(Value index, unsigned depth) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return powerOfTwo(constant.getSExtValue());
  if (depth == 0)
    return 1;
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    auto loop =
        dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return 1;
    return std::min(knownDivisor(loop.getLowerBound(), depth - 1),
                    knownDivisor(loop.getStep(), depth - 1));
  }
  Operation *op = index.getDefiningOp();
  auto operand = [&](unsigned i) {
    return knownDivisor(op->getOperand(i), depth - 1);
  };
  if (isa<arith::MulIOp>(op))
    return std::min(operand(0) * operand(1), kMaxDivisor);
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MinUIOp,
          arith::MaxSIOp, arith::MaxUIOp>(op))
    return std::min(operand(0), operand(1));
  if (isa<arith::SelectOp>(op))
    return std::min(operand(1), operand(2));
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return operand(0);
  return 1;
}

int64_t tile::knownDivisor(Value index) {
  return ::knownDivisor(index, /*depth=*/8);
}

static bool isKnownNonNegative(Value index, unsigned depth) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return constant.isNonNegative();
  if (depth == 0)
    return false;
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    auto loop =
        dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() &&
           isKnownNonNegative(loop.getLowerBound(), depth - 1);
  }
  Operation *op = index.getDefiningOp();
  auto operand = [&](unsigned i) {
    return isKnownNonNegative(op->getOperand(i), depth - 1);
  };
  // Extents and block ids are below 2^31 times a tile, so sums and products of
  // a few do not wrap.
  if (isa<ProgramIdOp, DimOp, mlir::gpu::BlockIdOp>(op))
    return true;
  if (isa<arith::AddIOp, arith::MulIOp, arith::DivUIOp, arith::DivSIOp,
          arith::MinSIOp>(op))
    return operand(0) && operand(1);
  if (isa<arith::MaxSIOp>(op))
    return operand(0) || operand(1);
  if (isa<arith::SelectOp>(op))
    return operand(1) && operand(2);
  return false;
}

bool tile::isKnownNonNegative(Value index) {
  return ::isKnownNonNegative(index, /*depth=*/8);
}

bool tile::isInBounds(BufferType buffer, Value index, unsigned dim,
                      int64_t extent) {
  if (buffer.isShared())
    return true; // verified by the operation
  APInt constant;
  return !ShapedType::isDynamic(buffer.getShape()[dim]) &&
         matchPattern(index, m_ConstantInt(&constant)) &&
         constant.getSExtValue() >= 0 &&
         constant.getSExtValue() + extent <= buffer.getShape()[dim];
}

AccessWidth tile::accessWidth(const Layout &dist, BufferType buffer,
                              ValueRange indices, int64_t maxBytes) {
  int64_t bytes = buffer.getElementBits() / 8;
  int64_t width = std::max<int64_t>(maxBytes / bytes, 1);
  AccessWidth result;
  auto limitTo = [&](int64_t limit, const Twine &reason) {
    if (limit < width) {
      width = limit;
      result.limit = reason.str();
    }
  };

  // Where the tile starts.
  Layout memory;
  if (auto strided = dyn_cast<StridedAttr>(buffer.getLayout())) {
    int64_t align = strided.getAlign() ? strided.getAlign() : bytes;
    limitTo(align / bytes, "the base is only known to be aligned to " +
                               Twine(align) + " bytes");
    for (auto [dim, index] : llvm::enumerate(indices)) {
      int64_t stride = strided.getStrides()[dim];
      int64_t step =
          powerOfTwo(stride == kDynamic ? strided.getDivisors()[dim] : stride);
      limitTo(std::min(step * knownDivisor(index), kMaxDivisor),
              "the start along dimension " + Twine(dim) +
                  " is only known to be a multiple of " +
                  Twine(step * knownDivisor(index)) + " elements");
      // Neighbours must be inside the extents together.
      if (stride == 1 && !isInBounds(buffer, index, dim, dist.shape()[dim])) {
        int64_t extent = buffer.getShape()[dim];
        limitTo(ShapedType::isDynamic(extent) ? 1 : powerOfTwo(extent),
                "the extent of dimension " + Twine(dim) +
                    " may end within an access");
      }
    }
    memory = *buffer.getLayout().getLayout(dist.shape(),
                                           buffer.getElementBits(), nullptr);
  } else {
    memory = buffer.getCanonicalLayout();
  }
  result.groups = widestAccess(dist, memory, width);
  if (result.groups.width < width)
    result.limit = "the layouts of tile and buffer share runs of " +
                   std::to_string(result.groups.width) + " elements";
  return result;
}
