//===- TriangularInverse.cpp - Inverse of a unit triangular matrix --------===//
//
// Blocks of twice the size in each step: where X inverts the diagonal blocks of
// b x b elements of the matrix I + L, and M is L in the lower left quarters of
// the diagonal blocks of 2b x 2b elements, these blocks have the inverse
//
//   X - X * M * X
//
// The first step starts from b = 1 and X = I, where it needs no product. Unlike
// the product of I + L^2, I + L^4 and so on, which gives the same matrix, no
// step has intermediate results that are larger than those of substitution.
//
//===----------------------------------------------------------------------===//

#include "TriangularInverse.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tile;

namespace {
/// Emits the steps for one operation.
struct InverseBuilder {
  explicit InverseBuilder(ImplicitLocOpBuilder &b, RankedTensorType type)
      : b(b), type(type), ints(type.clone(b.getI32Type())),
        row(IotaOp::create(b, ints, 0)), column(IotaOp::create(b, ints, 1)),
        zero(arith::ConstantOp::create(b, b.getZeroAttr(type))) {}

  Value build(Value matrix);

private:
  Value splat(int32_t value) {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(ints, b.getI32IntegerAttr(value)));
  }

  /// `value` where the row and the column have the same quotient by 2 * block,
  /// the row is in the second half of that block and the column in the first.
  Value keepQuarters(Value value, int64_t block) {
    auto blockOf = [&](Value coordinate) -> Value {
      return arith::ShRUIOp::create(b, coordinate, splat(llvm::Log2_64(block)));
    };
    // The number of the block of the row is odd, and that of the column one
    // less.
    Value rowBlock = blockOf(row);
    Value isOdd = arith::CmpIOp::create(
        b, arith::CmpIPredicate::eq,
        arith::AndIOp::create(b, rowBlock, splat(1)), splat(1));
    Value isBefore = arith::CmpIOp::create(
        b, arith::CmpIPredicate::eq,
        arith::AddIOp::create(b, blockOf(column), splat(1)), rowBlock);
    return arith::SelectOp::create(b, arith::AndIOp::create(b, isOdd, isBefore),
                                   value, zero);
  }

  Value multiply(Value left, Value right, Value acc) {
    auto precision =
        ProductPrecisionAttr::get(b.getContext(), ProductPrecision::BF16x3);
    return DotOp::create(b, type, left, right, acc, StringAttr(),
                         DenseI64ArrayAttr(), precision);
  }

  ImplicitLocOpBuilder &b;
  RankedTensorType type, ints;
  Value row, column, zero;
};
} // namespace

Value InverseBuilder::build(Value matrix) {
  Value one = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, b.getF32FloatAttr(1)));
  Value isDiagonal =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, row, column);
  Value identity = arith::SelectOp::create(b, isDiagonal, one, zero);
  Value inverse =
      arith::SubFOp::create(b, identity, keepQuarters(matrix, /*block=*/1));
  for (int64_t block = 2; block < type.getDimSize(0); block *= 2) {
    Value product = multiply(keepQuarters(matrix, block), inverse, zero);
    product = arith::NegFOp::create(b, product);
    inverse = multiply(inverse, product, inverse);
  }
  return inverse;
}

void tile::expandTriangularInverse(UnitTriangularInverseOp inverse) {
  IRRewriter rewriter(inverse);
  ImplicitLocOpBuilder b(inverse.getLoc(), rewriter);
  InverseBuilder builder(b, cast<RankedTensorType>(inverse.getType()));
  rewriter.replaceOp(inverse, builder.build(inverse.getSource()));
}
