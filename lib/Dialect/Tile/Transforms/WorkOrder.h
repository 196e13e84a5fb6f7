//===- WorkOrder.h - The order of a persistent kernel's works ---*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_WORKORDER_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_WORKORDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tile {

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
  mlir::Value rem(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::RemUIOp>(x, y);
  }
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
  /// The extents of the original grid, and its product: the number of works.
  mlir::Value extents[3], works;
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
  mlir::Value emitPlace(mlir::Value round, mlir::Value block);
  mlir::Value emitCount(mlir::Value worksOfGroup, mlir::Value group,
                        mlir::Value block);
  Counts emitCounts(mlir::Value rowsOfGroup, mlir::Value block);

  const Launch &launch;
  /// The number of the last group, the rows of each group before it, and the
  /// works of this block.
  mlir::Value last, rowsOfGroup, count;
};

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_WORKORDER_H
