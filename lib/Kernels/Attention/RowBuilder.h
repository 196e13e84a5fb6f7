//===- RowBuilder.h - Kernels that walk over the keys -----------*- C++ -*-===//
#ifndef TILE_LIB_KERNELS_ATTENTION_ROWBUILDER_H
#define TILE_LIB_KERNELS_ATTENTION_ROWBUILDER_H

#include "AttentionBuilder.h"

namespace tile {

/// A kernel whose blocks of threads own `blockM` queries each and walk over the
/// keys that these see, `blockN` at a time.
class RowBuilder : public AttentionBuilder {
protected:
  template <typename OpT>
  RowBuilder(mlir::ImplicitLocOpBuilder &builder, OpT op,
             const mlir::IRMapping &mapping, const Schedule &schedule)
      : AttentionBuilder(builder, op, mapping, schedule), schedule(schedule),
        blockM((*schedule.tile)[0]), blockN((*schedule.tile)[1]) {}
  virtual ~RowBuilder() = default;

  /// Writes the grid, and for the block's rows beginRows, the walk with step,
  /// and endRows.
  void buildRows();
  /// After the position in the grid is known: views of the buffers.
  virtual void enterHead() = 0;
  /// What is loaded once per row, and the values that the walk starts from.
  virtual llvm::SmallVector<Value> beginRows() = 0;
  /// The values after the keys n .. n + blockN - 1.
  virtual llvm::SmallVector<Value> step(Value n, mlir::ValueRange carried) = 0;
  virtual void endRows(mlir::ValueRange carried) = 0;

  /// Which of the keys n .. n + blockN - 1 each row sees.
  Value visible(Value n);

  RankedTensorType rows(Type element) { return type(blockM, element); }
  RankedTensorType scores(Type element) {
    return type({blockM, blockN}, element);
  }

  const Schedule schedule;
  /// Rows of a block of threads, and keys of a step.
  const int64_t blockM, blockN;
  /// The block's first row.
  Value row;

private:
  /// Sets the keys that rows from `row` on see.
  void computeKeyRanges();

  /// First key and end of the keys that some row sees; begin is a multiple of
  /// blockN.
  Value begin, end;
  /// As i32: the number of keys of the sequence, and the first key and the end
  /// of the keys that the first row sees, which may lie outside of the
  /// sequence.
  Value keys, lower, upper;
};

} // namespace tile

#endif // TILE_LIB_KERNELS_ATTENTION_ROWBUILDER_H
