//===- BulkRuns.h - What the copy engine adds at once -----------*- C++ -*-===//
//
// The copy engine adds neighbours in shared memory to neighbours in global
// memory (cp.reduce.async.bulk): which those are follows from the layouts of
// both.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_BULKRUNS_H
#define TILE_ANALYSIS_BULKRUNS_H

#include "tile/Analysis/AccessWidth.h"
#include <string>

namespace tile {

/// Of what runs are multiples, and where they begin, in both memories. Source:
/// PTX ISA, "cp.reduce.async.bulk".
inline constexpr int64_t kBulkBytes = 16;

/// Elements that are neighbours in both buffers.
struct BulkRun {
  /// In the order of the source's storage.
  int64_t begin, count;
};

struct BulkRuns {
  /// All elements of the source as registers of one thread, in the order of its
  /// storage: element (begin, 0, 0) is the first of a run.
  Layout order;
  llvm::SmallVector<BulkRun> runs;
  /// Why there are no runs.
  std::string obstacle;
};

/// How the tile in the shared buffer `source` goes to `dest`, a tile of whose
/// shape starts at its indices. A run is whole multiples of 16 bytes at
/// multiples of 16 bytes of both, and lies inside the extents of `dest`, or
/// outside, or in one block of a #tile.map, which is stored as a whole.
BulkRuns findBulkRuns(BufferType source, const MemoryOperand &dest);

} // namespace tile

#endif // TILE_ANALYSIS_BULKRUNS_H
