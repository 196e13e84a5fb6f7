//===- TransposingReads.h - Reads of the LDS that transpose -----*- C++ -*-===//
#ifndef TILE_ANALYSIS_TRANSPOSINGREADS_H
#define TILE_ANALYSIS_TRANSPOSINGREADS_H

#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Layout/Queries.h"
#include <optional>

namespace tile {

/// The reads of a tile by an instruction that exchanges elements of 16 bits
/// among 16 lanes. Lane 4 * r + q of them passes the address of 4 contiguous
/// elements of row r, and receives an element of each of the 4 rows.
struct TransposingReads {
  /// The elements at the addresses that threads pass, 4 registers for a read.
  Layout addresses;
  /// The registers of each read, both of `addresses` and of the tile.
  AccessGroups groups;
};

/// Returns the reads of a tile with the layout `dist` from `memory`; nothing if
/// `chip` has no such instruction, or the layouts do not fit, or threads read
/// as many elements at once without it.
std::optional<TransposingReads> findTransposingReads(const Layout &dist,
                                                     const PlacedMemory &memory,
                                                     unsigned elementBits,
                                                     const Chip &chip);

/// Returns the elements at the addresses that threads pass to read a tile with
/// the layout `dist` from `memory`: those of transposing reads, or `dist`.
Layout getReadAddresses(const Layout &dist, const Layout &memory,
                        unsigned elementBits, const Chip &chip);

/// Returns how many instructions read a tile with the layout `dist` from
/// `memory`.
int64_t countSharedReads(const Layout &dist, const Layout &memory,
                         unsigned elementBits, const Chip &chip);

} // namespace tile

#endif // TILE_ANALYSIS_TRANSPOSINGREADS_H
