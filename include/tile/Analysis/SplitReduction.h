//===- SplitReduction.h - Loops whose iterations may be divided -*- C++ -*-===//
//
// A kernel with few blocks leaves multiprocessors idle. If its loop only adds
// up tiles, several blocks can share the iterations of one. Another kernel adds
// their sums, unless the kernel adds them to memory atomically.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_SPLITREDUCTION_H
#define TILE_ANALYSIS_SPLITREDUCTION_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/MapVector.h"

namespace tile {

/// Finds the loop of `kernel` whose iterations blocks may share: the only one
/// at the top level, which adds to each tile that it carries and has no other
/// effect. Refuses a kernel without such a loop. Extents may be open.
Refusal findSplitLoop(KernelOp kernel, mlir::scf::ForOp &loop);

/// Returns true if blocks that share the iterations of such a loop can add
/// their sums by themselves: the loop begins with zeros, and all that the
/// kernel does behind it is to add its results to memory, atomically.
bool addsAtomically(mlir::scf::ForOp loop);

/// Operations that compute each row of the results of a loop by itself, each
/// with the dimension that has the rows in the tile that it returns or stores.
/// The dimension of an operation on scalars means nothing.
using RowwiseEpilogue = llvm::MapVector<mlir::Operation *, unsigned>;

/// Finds what blocks that divide the rows of the results of such a loop,
/// dimension 0, compute behind it: the operations there, and the tiles in front
/// of it that they need. Refuses a loop whose results differ in their rows, and
/// operations that compute a row from others. Extents may be open.
Refusal findRowwiseEpilogue(mlir::scf::ForOp loop, RowwiseEpilogue &epilogue);

/// Refuses clusters of `blocks` blocks that `chip` does not have, or that
/// cannot divide `rows` rows.
Refusal checkClusterSplit(const Chip &chip, int64_t blocks, int64_t rows);

/// The division of the tiles of the last wave among `blocks` blocks (stream-K,
/// tile-split-reduction). Most blocks have a part of one tile; the others share
/// the last iterations of all tiles, the rests.
struct StreamKPlan {
  /// The tiles that are shared, the parts of each that single blocks have, and
  /// the blocks that share the rests.
  int64_t left = 0, columns = 0, rests = 0;

  StreamKPlan(int64_t tiles, int64_t blocks);
};

/// The most tiles whose rests a block has on average. A part of a tile is
/// stored and read again, so more parts take longer than they save.
inline constexpr int64_t kMostRests = 4;

/// Returns true if all elements of `tile` are the constant 0.
bool isZeroTile(mlir::Value tile);

} // namespace tile

#endif // TILE_ANALYSIS_SPLITREDUCTION_H
