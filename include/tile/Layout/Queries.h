//===- Queries.h - What lowering asks of two layouts ------------*- C++ -*-===//
//
// Questions about a distributed layout and a memory layout, or about two
// distributed layouts. All of them are static facts about the layouts alone.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LAYOUT_QUERIES_H
#define TILE_LAYOUT_QUERIES_H

#include "tile/Layout/Layout.h"

namespace tile {

/// How a thread's registers are grouped into accesses of `width` elements:
/// `order` is a permutation of the registers; entries [i*width, (i+1)*width)
/// have consecutive offsets in that memory, and the first one's offset is a
/// multiple of width, in every thread.
struct AccessGroups {
  int64_t width = 1;
  llvm::SmallVector<int64_t> order;
};

/// The widest grouping (a power of two, at most maxWidth) that holds for every
/// thread. Registers that replicate an element appear once, in `order`'s first
/// occurrence of that element. `dist` must cover the coordinates of `memory`.
AccessGroups widestAccess(const Layout &dist, const Layout &memory,
                          int64_t maxWidth);

/// Number of times the banks are swept when one warp performs one access of
/// `width` elements at the given register group, as ratio to the minimum
/// (1 = free of conflicts). Lanes that read the same word share it.
/// `elementBits` per element; a bank is 4 bytes. The hardware serves 128 bytes
/// (32 banks) at a time, so an access of 16 bytes per lane is served in groups
/// of 8 lanes and one of 8 bytes in groups of 16.
int64_t bankConflicts(const Layout &dist, const Layout &memory, int64_t width,
                      unsigned elementBits, unsigned banks = 32);

/// What it takes to turn a tile in layout `from` into layout `to`.
enum class ConversionKind {
  None,            ///< the same registers in the same order
  RegisterPermute, ///< each thread already holds all it needs
  WarpShuffle,     ///< the elements stay within their warps
  SharedMemory     ///< elements cross warps
};

struct ConversionPlan {
  ConversionKind kind = ConversionKind::SharedMemory;
  /// For None and RegisterPermute: register i of the result is register
  /// source[i] of the operand.
  llvm::SmallVector<int64_t> source;
};

/// Both distributed, same shape, same number of lanes and warps.
ConversionPlan planConversion(const Layout &from, const Layout &to);

} // namespace tile

#endif // TILE_LAYOUT_QUERIES_H
