//===- ProgramBuilder.h - Writes scalars and tiles of a kernel --*- C++ -*-===//
#ifndef TILE_LIB_KERNELS_PROGRAMBUILDER_H
#define TILE_LIB_KERNELS_PROGRAMBUILDER_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/MapVector.h"

namespace tile {

/// Short names for what kernels are made of. Everything goes
/// to the insertion point of `b`, but for the constants of type index: each
/// value stands once, at the start of the kernel.
class ProgramBuilder {
public:
  explicit ProgramBuilder(mlir::ImplicitLocOpBuilder &builder)
      : b(builder), entry(builder.getInsertionBlock()) {}

protected:
  using Value = mlir::Value;
  using Type = mlir::Type;
  using RankedTensorType = mlir::RankedTensorType;

  // Scalars.
  Value index(int64_t value) {
    Value &constant = indices[value];
    if (!constant) {
      mlir::OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(entry);
      if (lastIndex)
        b.setInsertionPointAfterValue(lastIndex);
      constant = lastIndex = mlir::arith::ConstantIndexOp::create(b, value);
    }
    return constant;
  }
  Value f32(double value) {
    return mlir::arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  }
  Value i32(Value index) {
    return mlir::arith::IndexCastOp::create(b, b.getI32Type(), index);
  }
  Value wide(Value number) {
    return mlir::arith::IndexCastOp::create(b, b.getIndexType(), number);
  }
  /// A coordinate that loops in front and behind need not share registers for:
  /// what follows from it is computed again.
  Value recompute(Value index) {
    return mlir::arith::IndexCastOp::create(b, b.getIndexType(),
                                            RecomputeOp::create(b, i32(index)));
  }
  Value add(Value x, Value y) { return mlir::arith::AddIOp::create(b, x, y); }
  /// Folds constants.
  Value add(Value x, int64_t y) {
    llvm::APInt constant;
    if (mlir::matchPattern(x, mlir::m_ConstantInt(&constant)))
      return index(constant.getSExtValue() + y);
    return add(x, index(y));
  }
  Value sub(Value x, Value y) { return mlir::arith::SubIOp::create(b, x, y); }
  Value roundDown(Value x, int64_t multiple) {
    Value count = mlir::arith::DivUIOp::create(b, x, index(multiple));
    return mlir::arith::MulIOp::create(b, count, index(multiple));
  }
  Value roundUp(Value x, int64_t multiple) {
    Value count = mlir::arith::CeilDivUIOp::create(b, x, index(multiple));
    return mlir::arith::MulIOp::create(b, count, index(multiple));
  }
  Value max(Value x, Value y) { return mlir::arith::MaxSIOp::create(b, x, y); }
  Value min(Value x, Value y) { return mlir::arith::MinSIOp::create(b, x, y); }

  // Tiles.
  RankedTensorType type(llvm::ArrayRef<int64_t> shape, Type element) {
    return RankedTensorType::get(shape, element);
  }
  Value fill(RankedTensorType type, float value) {
    return mlir::arith::ConstantOp::create(
        b, mlir::DenseElementsAttr::get(type, llvm::APFloat(value)));
  }
  Value splat(RankedTensorType type, Value scalar) {
    return mlir::tensor::SplatOp::create(b, type, scalar);
  }
  Value transpose(Value tile) {
    auto from = mlir::cast<RankedTensorType>(tile.getType());
    auto [rows, columns] = std::pair(from.getDimSize(0), from.getDimSize(1));
    return TransposeOp::create(b, type({columns, rows}, from.getElementType()),
                               tile, llvm::ArrayRef<int64_t>{1, 0});
  }
  /// One value per row, repeated over `columns` columns.
  Value spread(Value perRow, int64_t columns) {
    auto rows = mlir::cast<RankedTensorType>(perRow.getType());
    return BroadcastOp::create(
        b, type({rows.getDimSize(0), columns}, rows.getElementType()), perRow,
        1);
  }

  /// Reduces a tile of one dimension to a scalar, as the only row of another
  /// tile (tile-expand-operations).
  Value reduce(mlir::arith::AtomicRMWKind kind, Value tile) {
    auto from = mlir::cast<RankedTensorType>(tile.getType());
    Type element = from.getElementType();
    Value row =
        BroadcastOp::create(b, type({1, from.getDimSize(0)}, element), tile, 0);
    Value number = ReduceOp::create(b, type(1, element), kind, row, 1);
    return mlir::tensor::ExtractOp::create(b, number,
                                           mlir::ValueRange{index(0)});
  }

  /// Builds a branch without results. `otherwise` may be null.
  void choose(Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise = nullptr) {
    auto branch = mlir::scf::IfOp::create(b, condition, bool(otherwise));
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    then();
    if (!otherwise)
      return;
    b.setInsertionPointToStart(branch.elseBlock());
    otherwise();
  }

  /// Builds a loop that counts in the type of `begin`, index or i32. `body`
  /// takes the number as an index, and the values that the loop carries; it
  /// returns the next ones. `stages`: those of the rings that the loop fills.
  llvm::SmallVector<Value>
  forEach(Value begin, Value end, Value step, mlir::ValueRange carried,
          llvm::function_ref<llvm::SmallVector<Value>(Value, mlir::ValueRange)>
              body,
          Schedule::Number stages = {}) {
    auto loop = mlir::scf::ForOp::create(
        b, begin, end, step, carried,
        [&](mlir::OpBuilder &nested, mlir::Location, Value i,
            mlir::ValueRange carried) {
          mlir::OpBuilder::InsertionGuard guard(b);
          b.setInsertionPoint(nested.getInsertionBlock(),
                              nested.getInsertionPoint());
          mlir::scf::YieldOp::create(
              b, body(i.getType().isIndex() ? i : wide(i), carried));
        });
    Schedule schedule;
    schedule.stages = stages;
    setSchedule(loop, schedule);
    return loop.getResults();
  }

  mlir::ImplicitLocOpBuilder &b;

private:
  mlir::Block *entry;
  llvm::SmallMapVector<int64_t, Value, 8> indices;
  Value lastIndex;
};

} // namespace tile

#endif // TILE_LIB_KERNELS_PROGRAMBUILDER_H
