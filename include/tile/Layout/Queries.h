//===- Queries.h - Queries on pairs of layouts ------------------*- C++ -*-===//
//
// Queries on a distributed layout and a memory layout, or on two distributed
// layouts: access widths, bank conflicts, conversions. The answers depend on
// the layouts alone.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LAYOUT_QUERIES_H
#define TILE_LAYOUT_QUERIES_H

#include "tile/Layout/Banks.h"
#include "tile/Layout/Layout.h"
#include <array>
#include <limits>
#include <optional>
#include <vector>

namespace tile {

/// The registers of a thread, grouped into accesses of `width` elements.
/// `order` lists the registers. Of registers that hold copies of one element it
/// lists the first only. In every thread the entries [i*width, (i+1)*width)
/// have consecutive memory offsets, the first of which is a multiple of width.
struct AccessGroups {
  int64_t width = 1;
  llvm::SmallVector<int64_t> order;
};

/// Returns the offset of each register of thread 0, in elements.
llvm::SmallVector<int64_t> registerOffsets(const Layout &dist,
                                           const Layout &memory);

/// Returns the coordinate along `dim` of each register of thread 0. `dist` has
/// no swizzle.
std::vector<int64_t> registerCoordinates(const Layout &dist, unsigned dim);

/// Returns the widest grouping that is valid in every thread. The width is a
/// power of two, at most maxWidth, in elements. The elements of `dist` must be
/// coordinates of `memory`. If `memory` has one offset for several elements (a
/// broadcast), each of them is accessed.
AccessGroups widestAccess(const Layout &dist, const Layout &memory,
                          int64_t maxWidth);

/// A memory layout and the coordinates in it of a tile's first element. Without
/// coordinates the tile starts at the origin. All elements of the tile must be
/// coordinates of the memory.
struct PlacedMemory {
  Layout layout;
  llvm::SmallVector<int64_t, 4> start = {};
};

/// Returns the widest grouping that is valid in several memories at once: every
/// group is one access of `width` elements in each of them. Registers are
/// ordered by their offsets in the first memory.
AccessGroups widestAccess(const Layout &dist,
                          llvm::ArrayRef<PlacedMemory> memories,
                          int64_t maxWidth);

/// The reason why the registers of a distributed layout, in the order of
/// widestAccess, cannot be grouped into accesses of `width` elements to the
/// memory with the index `memory`.
struct AccessObstacle {
  enum Kind {
    /// A thread holds `distance` elements, which is no multiple of the width.
    Count,
    /// The first element of a group, `first`, is at the offset `distance`,
    /// which is no multiple of the width.
    Alignment,
    /// Two neighbours in a group, `first` and `second`, are `distance` elements
    /// apart.
    Distance
  } kind;
  unsigned memory;
  int64_t distance;
  llvm::SmallVector<int64_t, 4> first, second;
};

/// Returns the first obstacle to accesses of `width` elements, a power of two;
/// std::nullopt if there is none. Sets `groups`, if it is not null, to the
/// accesses then.
std::optional<AccessObstacle>
findObstacle(const Layout &dist, llvm::ArrayRef<PlacedMemory> memories,
             int64_t width, AccessGroups *groups = nullptr);

/// Returns the bank conflict factor of an access to shared memory: the number
/// of passes over the banks, where a layout without conflicts takes one. 1
/// means no conflict. The result is the maximum over all warps and register
/// groups, for accesses of `width` elements, or of the widest that the layouts
/// allow if that is less. Lanes that read the same word share one access. An
/// element has `elementBits` bits; a bank is 4 bytes wide. The hardware serves
/// 4 bytes of each bank in one pass: with 32 banks, accesses of 16 bytes per
/// lane are served in groups of 8 lanes, those of 8 bytes in groups of 16.
int64_t bankConflicts(const Layout &dist, const Layout &memory, int64_t width,
                      unsigned elementBits, const Banks &banks = {});

/// The work of shared memory for a tile: the instructions of all warps, their
/// passes over the banks, and the passes that conflicts add to those.
struct BankPasses {
  int64_t accesses = 0, passes = 0, conflicts = 0;
};

/// Counts the work of an access to shared memory by all warps, under the rules
/// of bankConflicts(). Accesses of fewer than 4 bytes take one pass for as many
/// lanes as there are banks. Stops once there are more than `limit` passes.
BankPasses countBankPasses(const Layout &dist, const Layout &memory,
                           int64_t width, unsigned elementBits,
                           const Banks &banks = {},
                           int64_t limit = std::numeric_limits<int64_t>::max());

/// The aligned segments of memory that an access of a warp touches, and the
/// least number that could hold its elements.
struct SegmentCount {
  int64_t touched = 0, least = 0;
};

/// Returns the segments of `segment` elements each for the access of `groups`
/// by the first warp that wastes most of them: the one with the largest touched
/// / least. Lanes that access the same element share it.
SegmentCount countSegments(const Layout &dist, const PlacedMemory &memory,
                           const AccessGroups &groups, int64_t segment);

/// Returns {m, n} if a tile of two dimensions is a grid of m x n boxes of equal
/// extents and each warp holds exactly one box: warp w holds the one at row
/// w mod m and column w div m of the grid. Returns std::nullopt if warps hold
/// anything else, or if threads hold copies.
std::optional<std::array<int64_t, 2>> findWarpBoxes(const Layout &dist);

/// The means by which a tile is converted from one layout to another.
enum class ConversionKind {
  None,            ///< registers stay as they are, in the same order
  RegisterPermute, ///< each thread already holds all elements it needs
  WarpShuffle,     ///< each warp already holds all elements it needs
  SharedMemory     ///< elements move between warps
};

struct ConversionPlan {
  ConversionKind kind = ConversionKind::SharedMemory;
  /// For None and RegisterPermute: register i of the result is register
  /// source[i] of the operand.
  llvm::SmallVector<int64_t> source;
};

/// Returns the cheapest conversion between two distributed layouts of the same
/// shape and number of lanes. If the numbers of warps differ, it is
/// SharedMemory.
ConversionPlan planConversion(const Layout &from, const Layout &to);

/// Returns the register of `whole` for each register of `part`, the layout of
/// the part of the tile that starts at `offsets`: each thread holds the same
/// elements in both. Returns std::nullopt if a thread would need elements of
/// others.
std::optional<llvm::SmallVector<int64_t>>
findRegistersOfPart(const Layout &whole, const Layout &part,
                    llvm::ArrayRef<int64_t> offsets);

} // namespace tile

#endif // TILE_LAYOUT_QUERIES_H
