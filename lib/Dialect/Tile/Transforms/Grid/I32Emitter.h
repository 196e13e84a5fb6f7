//===- I32Emitter.h - Arithmetic on i32 -------------------------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_GRID_I32EMITTER_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_GRID_I32EMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tile {

/// A divisor of many numbers. With its reciprocal, a division is a
/// multiplication and a correction.
struct Divisor {
  /// The i32 itself, and (2^32 - 1) / value.
  mlir::Value value, reciprocal;
};

/// Emits operations on i32, where divisions are short. The description of
/// tile-persist gives the limit that follows.
class I32Emitter {
protected:
  I32Emitter(mlir::ImplicitLocOpBuilder builder) : b(builder) {}

  mlir::Value constant(int64_t value) {
    return mlir::arith::ConstantIntOp::create(b, value, 32);
  }
  mlir::Value narrow(mlir::Value index) {
    return b.createOrFold<mlir::arith::IndexCastOp>(b.getI32Type(), index);
  }
  /// Returns a number that is not negative as an index.
  mlir::Value widen(mlir::Value number) {
    return b.createOrFold<mlir::arith::IndexCastUIOp>(b.getIndexType(), number);
  }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::AddIOp>(x, y);
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::SubIOp>(x, y);
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::MulIOp>(x, y);
  }
  mlir::Value div(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::DivUIOp>(x, y);
  }
  mlir::Value rem(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::RemUIOp>(x, y);
  }
  mlir::Value min(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::MinUIOp>(x, y);
  }
  mlir::Value max(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::MaxUIOp>(x, y);
  }
  /// Emits the reciprocal of `value`, which is not 0.
  Divisor invert(mlir::Value value) {
    return {value, div(constant(-1), value)};
  }
  /// Returns the quotient and the remainder of `x`.
  std::pair<mlir::Value, mlir::Value> divide(mlir::Value x,
                                             const Divisor &divisor);
  mlir::Value isLess(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::ult,
                                               x, y);
  }
  mlir::Value isOdd(mlir::Value x) {
    return b.createOrFold<mlir::arith::TruncIOp>(b.getI1Type(), x);
  }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::SelectOp>(condition, x, y);
  }
  /// Returns `x` plus 1 if the condition holds.
  mlir::Value addIf(mlir::Value x, mlir::Value condition) {
    return add(x,
               b.createOrFold<mlir::arith::ExtUIOp>(b.getI32Type(), condition));
  }

  mlir::ImplicitLocOpBuilder b;
};

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_GRID_I32EMITTER_H
