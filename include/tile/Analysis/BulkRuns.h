//===- BulkRuns.h - Contiguous runs of bulk reductions ----------*- C++ -*-===//
//
// A bulk reduction (cp.reduce.async.bulk) adds a contiguous run of shared
// memory to a contiguous run of global memory. The runs of a tile follow from
// the layouts of both buffers.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_BULKRUNS_H
#define TILE_ANALYSIS_BULKRUNS_H

#include "tile/Analysis/AccessWidth.h"
#include "tile/Support/Refusal.h"

namespace tile {

/// The size of a run and its addresses in both memories are multiples of this,
/// in bytes. Source: PTX ISA, "cp.reduce.async.bulk".
inline constexpr int64_t kBulkBytes = 16;

/// Elements that are contiguous in both buffers.
struct BulkRun {
  /// The first element and the number of elements, in the order of the source's
  /// storage.
  int64_t begin, count;
};

struct BulkRuns {
  /// All elements of the source as registers of one thread, in the order of its
  /// storage. The first element of a run is element (begin, 0, 0).
  Layout order;
  llvm::SmallVector<BulkRun> runs;
  /// The reason why there are no runs.
  Refusal refusal;
};

/// Returns the runs by which the tile in the shared buffer `source` is added to
/// `dest`, at its indices. The size and both addresses of a run are multiples
/// of 16 bytes. A run lies entirely inside the extents of `dest`, or entirely
/// outside, or in one block of a #tile.map, which is stored as a whole.
BulkRuns findBulkRuns(BufferType source, const MemoryOperand &dest);

} // namespace tile

#endif // TILE_ANALYSIS_BULKRUNS_H
