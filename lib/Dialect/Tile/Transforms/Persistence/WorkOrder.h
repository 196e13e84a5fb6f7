//===- WorkOrder.h - The order of a persistent kernel's works ---*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_PERSISTENCE_WORKORDER_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_PERSISTENCE_WORKORDER_H

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

/// The numbers of a launch, as i32.
struct Launch {
  /// The extents of the original grid, and their product: the number of works.
  Divisor extents[3];
  mlir::Value works;
  /// The number of this block, and the number of blocks.
  mlir::Value block, blocks;
};

/// The order of works whose length depends on x. A row has the works of one y
/// and z. Rows form groups, which follow each other. The works of a group are
/// in order of their length, the longest first, and dealt to the blocks in
/// rounds. Every other round walks back over the blocks, and so do the rounds
/// of every other group, so that the sums of lengths are about equal.
class LongestFirst : I32Emitter {
public:
  /// Emits the numbers that all works need.
  LongestFirst(mlir::ImplicitLocOpBuilder builder, const Launch &launch);

  /// The number of works of this block.
  mlir::Value getCount() const { return count; }
  /// Returns the row of the `number`-th work of this block, and the number of
  /// its length, of which 0 is the longest.
  std::pair<mlir::Value, mlir::Value>
  emitWork(mlir::ImplicitLocOpBuilder builder, mlir::Value number);

private:
  /// The numbers of works that one block has: in an even group before the last
  /// one, in an even and an odd one, in all groups before the last one.
  struct Counts {
    mlir::Value inEven, inTwo, beforeLast;
  };
  mlir::Value emitPlace(mlir::Value round);
  mlir::Value emitCount(mlir::Value worksOfGroup, mlir::Value group);
  Counts emitCounts();

  const Launch &launch;
  /// The number of the last group, and the number of works of this block.
  mlir::Value last, count;
  /// The rows of a group before the last one, and of the last one.
  Divisor rowsOfGroup, rowsOfLast;
  /// The numbers of works of this block, and the divisor counts.inTwo.
  Counts counts;
  Divisor inTwo;
};

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_PERSISTENCE_WORKORDER_H
