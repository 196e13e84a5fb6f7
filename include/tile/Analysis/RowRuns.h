//===- RowRuns.h - Rows that begin at any element ---------------*- C++ -*-===//
//
// Rows without padding begin at any element, so that threads load their
// elements alone. A part of a row is a run of neighbours nevertheless: the
// threads of a block may copy the aligned words that contain it to shared
// memory.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_ROWRUNS_H
#define TILE_ANALYSIS_ROWRUNS_H

#include "tile/Chips/Chips.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Returns the dimension along which the tile of `load` is a part of one row in
/// global memory, if threads would load its elements alone and the `warps` of
/// one block can copy its words asynchronously; std::nullopt otherwise.
std::optional<unsigned> findRowRun(LoadOp load, const Chip &chip,
                                   int64_t warps);

} // namespace tile

#endif // TILE_ANALYSIS_ROWRUNS_H
