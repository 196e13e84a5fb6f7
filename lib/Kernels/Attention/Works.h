//===- Works.h - Shares of a batch of different lengths ---------*- C++ -*-===//
//
// The table of `tile.attention ... works`: i32 [W, 5]. The first row is
// [works, tiles with several parts, most queries of one of these, blocks of
// threads that take works, 0]. The works follow, those that cost most first:
// [sequence, first query, part, parts, row of the buffers of parts]. The tiles
// with several parts, in the form of their first works, are at the end of the
// table, in reverse. A part has as many rows as the first tile of its sequence
// has queries.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_KERNELS_ATTENTION_WORKS_H
#define TILE_LIB_KERNELS_ATTENTION_WORKS_H

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// The buffers of parts have rows for so many full tiles in each block of
/// threads that the GPU runs at a time.
inline constexpr int64_t kPartsOfBlock = 8;

/// The rounds in which blocks of threads take works (RowBuilder::takeWorks). A
/// round has a block for each multiprocessor. The last two rounds take
/// 1 / 2^(kRounds - 2) of the works, a small part.
inline constexpr int64_t kRounds = 8;

/// The warps of the kernel.
inline constexpr int64_t kWorksWarps = 4;

/// Columns of the table.
enum class WorkColumn { Sequence, Query, Part, Parts, Row };
inline constexpr int64_t kWorkColumns = 5;
/// Columns of its first row.
enum class WorkCount { Works, SharedTiles, Queries, Blocks };

/// Bounds of a table of works that follow from the extents of the operands.
struct WorkBounds {
  /// The most tiles of all sequences.
  mlir::Value tiles;
  /// The most works beyond the first ones of their tiles, hence the most tiles
  /// with several parts.
  mlir::Value parts;
  /// The works for which each head has a block of threads. These blocks take
  /// the others in turn.
  mlir::Value launched;
};

/// Computes the bounds for `op`, whose kernel has `schedule`. `mapping` maps
/// the operands of `op` to values at the insertion point.
WorkBounds boundWorks(mlir::ImplicitLocOpBuilder &builder, AttentionOp op,
                      const mlir::IRMapping &mapping, const Schedule &schedule);

/// Writes the body of the kernel that computes the table of works of `op`,
/// whose kernel has `schedule`, at the insertion point. `mapping` maps the
/// operands of `op` to values of the kernel.
void buildAttentionWorks(mlir::ImplicitLocOpBuilder &builder, AttentionOp op,
                         const mlir::IRMapping &mapping,
                         const Schedule &schedule);

} // namespace tile

#endif // TILE_LIB_KERNELS_ATTENTION_WORKS_H
