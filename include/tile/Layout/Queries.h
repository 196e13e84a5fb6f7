//===- Queries.h - What lowering asks of two layouts ------------*- C++ -*-===//
//
// Questions about a distributed layout and a memory layout, or about two
// distributed layouts. All of them are static facts about the layouts alone.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LAYOUT_QUERIES_H
#define TILE_LAYOUT_QUERIES_H

#include "tile/Layout/Layout.h"
#include <array>
#include <optional>

namespace tile {

/// How a thread's registers are grouped into accesses of `width` elements:
/// `order` lists the registers, of those that replicate one element the first
/// only; entries [i*width, (i+1)*width) have consecutive offsets in that
/// memory, and the first one's offset is a multiple of width, in every thread.
struct AccessGroups {
  int64_t width = 1;
  llvm::SmallVector<int64_t> order;
};

/// The widest grouping (a power of two, at most maxWidth) that holds for every
/// thread. The elements of `dist` must be coordinates of `memory`. Where
/// `memory` has one offset for several elements (a broadcast), each of them is
/// accessed.
AccessGroups widestAccess(const Layout &dist, const Layout &memory,
                          int64_t maxWidth);

/// A memory, and the coordinates in it of the first element of a tile (none:
/// the origin). All elements of the tile must be coordinates of the memory.
struct PlacedMemory {
  Layout layout;
  llvm::SmallVector<int64_t, 4> start = {};
};

/// The same for several memories at once: every group is one access of `width`
/// elements in each of them. The order is by the offsets in the first.
AccessGroups widestAccess(const Layout &dist,
                          llvm::ArrayRef<PlacedMemory> memories,
                          int64_t maxWidth);

/// Why the registers of `dist`, in the order of widestAccess, are no accesses
/// of `width` elements to the memory number `memory`.
struct AccessObstacle {
  enum Kind {
    /// A thread holds `distance` elements, no multiple of the width.
    Count,
    /// The first of a group, `first`, is at the offset `distance`, no multiple
    /// of the width.
    Alignment,
    /// The neighbours in a group `first` and `second` are `distance` apart.
    Distance
  } kind;
  unsigned memory;
  int64_t distance;
  llvm::SmallVector<int64_t, 4> first, second;
};

/// The first obstacle met, or nothing if there is none. `width` is a power of
/// two.
std::optional<AccessObstacle>
findObstacle(const Layout &dist, llvm::ArrayRef<PlacedMemory> memories,
             int64_t width);

/// How often the banks must be swept to serve lanes that one sweep could serve
/// if no two different words were in one bank: 1 means free of conflicts. The
/// worst over all warps and register groups is returned, for accesses of
/// `width` elements (or of the widest that the layouts allow, if less). Lanes
/// that read the same word share it. `elementBits` per element; a bank is 4
/// bytes. The hardware serves 4 * banks bytes at a time: with 32 banks an
/// access of 16 bytes per lane is served in groups of 8 consecutive lanes, one
/// of 8 bytes in groups of 16.
int64_t bankConflicts(const Layout &dist, const Layout &memory, int64_t width,
                      unsigned elementBits, unsigned banks = 32);

/// A tile of two dimensions as m times n boxes of equal extents, side by side,
/// of which warp w holds all of number w mod m along the rows and w div m along
/// the columns: {m, n}. Nothing where warps hold anything else, or threads hold
/// copies.
std::optional<std::array<int64_t, 2>> findWarpBoxes(const Layout &dist);

/// What it takes to turn a tile in layout `from` into layout `to`.
enum class ConversionKind {
  None,            ///< the same registers in the same order
  RegisterPermute, ///< each thread already holds all it needs
  WarpShuffle,     ///< each warp already holds all it needs
  SharedMemory     ///< elements cross warps
};

struct ConversionPlan {
  ConversionKind kind = ConversionKind::SharedMemory;
  /// For None and RegisterPermute: register i of the result is register
  /// source[i] of the operand.
  llvm::SmallVector<int64_t> source;
};

/// Both distributed, same shape, same number of lanes. If the numbers of warps
/// differ, the plan is SharedMemory.
ConversionPlan planConversion(const Layout &from, const Layout &to);

} // namespace tile

#endif // TILE_LAYOUT_QUERIES_H
