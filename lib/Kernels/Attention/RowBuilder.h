//===- RowBuilder.h - Kernels that walk over the keys -----------*- C++ -*-===//
#ifndef TILE_LIB_KERNELS_ATTENTION_ROWBUILDER_H
#define TILE_LIB_KERNELS_ATTENTION_ROWBUILDER_H

#include "AttentionBuilder.h"
#include "Works.h"

namespace tile {

/// A kernel whose blocks of threads own `blockM` rows each and walk over the
/// keys that these see, `blockN` at a time. The rows are queries of one head,
/// or, if the schedule packs heads, `packedHeads` heads of a group at each of
/// `queries` queries. Several blocks may share the keys: the parts of the grid,
/// or those of a cluster.
class RowBuilder : public AttentionBuilder {
protected:
  template <typename OpT>
  RowBuilder(mlir::ImplicitLocOpBuilder &builder, OpT op,
             const mlir::IRMapping &mapping, const Schedule &schedule,
             bool byKey = false)
      : AttentionBuilder(builder, op, mapping, schedule), schedule(schedule),
        blockM((*schedule.tile)[0]), blockN((*schedule.tile)[1]),
        packedHeads(schedule.packHeads.value_or(1)),
        queries(countTileQueries(schedule)), byKey(byKey) {}
  virtual ~RowBuilder() = default;

  /// Returns this block's part of a buffer with one more dimension, that of the
  /// parts of the keys, each of which has a block.
  Value enterPart(Value buffer);
  /// Enters the part of this block of a cluster of `blocks` blocks.
  void enterPartOfCluster(int64_t blocks);

  /// The table of works, which says what a block does (Works.h), and the
  /// buffers of their parts; null: none.
  Value works, oParts, lseParts;
  /// The works for which each head has a block of threads.
  Value launchedWorks;
  /// The row of the table for the block's work.
  Value work;
  Value readWork(WorkColumn column);

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
  /// Loads what the rows see of a tree; before the walk.
  void loadTreeMask();

  bool packsHeads() const { return schedule.packsHeads(); }
  /// Returns the heads of the block's rows in a buffer with heads along `dim`.
  Value narrowToGroup(Value buffer, int64_t dim) {
    return NarrowOp::create(b, buffer, dim, firstHead, headCount);
  }

  RankedTensorType rows(Type element) { return type(blockM, element); }
  /// The tile of scores: rows x keys, or, with `byKey`, keys x rows.
  RankedTensorType scores(Type element) {
    return byKey ? type({blockN, blockM}, element)
                 : type({blockM, blockN}, element);
  }
  /// Returns a tile like the scores, each of which is the number of its row.
  Value spreadRows(Value perRow) {
    Type element =
        mlir::cast<RankedTensorType>(perRow.getType()).getElementType();
    return BroadcastOp::create(b, scores(element), perRow, !byKey);
  }

  const Schedule schedule;
  /// Rows of a block of threads, and keys of a step.
  const int64_t blockM, blockN;
  /// Heads at each query of a block, and its queries.
  const int64_t packedHeads, queries;
  /// Whether the tile of scores is transposed: keys x rows.
  const bool byKey;
  /// The block's first query.
  Value row;
  /// The head of the block's first row, and the number of heads of the group
  /// from there on; null unless heads are packed.
  Value firstHead, headCount;

  /// This block's part of the keys, and the number of parts; null: one part.
  Value part, parts;

private:
  /// Which of the keys each row sees by the tree mask.
  Value visibleInTree(llvm::function_ref<Value(Value)> relative);
  Value launchRows();
  Value countTilesOfHeads();
  void enterTileOfHeads(Value tile);
  /// Enters the sequence and the part of a work; returns its first row.
  Value enterWork(Value number);
  /// Works of a block: first, first + step and so on, less than end; i32.
  struct WorkRange {
    Value first, end, step;
  };
  /// Returns those of `block`. The GPU runs `blocks` blocks at a time. The
  /// table lets `most` of them take works.
  ///
  /// The grid has kRounds rounds of `blocks` blocks. A block of a later round
  /// starts when an earlier block ends. Each round takes half of the works that
  /// are left, and the last round takes all. Blocks of early rounds have many
  /// works: their producers load the next work while consumers end one. Blocks
  /// of late rounds have one work each, so that all multiprocessors end at
  /// about the same time. If `most` is less than `blocks`, there is one round,
  /// and the other multiprocessors are left to another kernel.
  WorkRange takeWorks(Value block, Value works, Value blocks, Value most);
  /// Writes the grid, and a loop over the block's works.
  void buildWorks();
  void buildTile(Value firstRow);
  /// Sets the keys that rows from `row` on see.
  void computeKeyRanges();
  /// Narrows them to those of the block's part.
  void enterKeysOfPart();

  /// The parts along the grid, if they are not those of a cluster.
  Value gridParts;

  /// First key and end of the keys that some row sees; begin is a multiple of
  /// blockN.
  Value begin, end;
  /// As i32: the number of keys of the sequence, and the first key and the end
  /// of the keys that the first row sees, which may lie outside of the
  /// sequence.
  Value keys, lower, upper;
  /// The key of the first node of the tree, as i32, and the words of its mask,
  /// one of each row.
  Value firstNode;
  llvm::SmallVector<Value> treeWords;
};

} // namespace tile

#endif // TILE_LIB_KERNELS_ATTENTION_ROWBUILDER_H
