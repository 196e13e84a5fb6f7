//===- Render.h - Layouts as text and pictures ------------------*- C++ -*-===//
//
// The output of tile-layout. A tile is drawn as a grid of its last two
// dimensions, one grid for each index of the others. All functions require a
// static layout that passes verify(). They return an error if it is not, or if
// the picture would be too large to read.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LAYOUT_RENDER_H
#define TILE_LAYOUT_RENDER_H

#include "tile/Layout/Layout.h"

namespace tile {

/// The properties of shared memory that a drawing depends on.
struct MemoryView {
  /// Bits of one element.
  unsigned elementBits = 16;
  /// Number of shared memory banks, of 4 bytes each.
  unsigned banks = 32;
};

/// Prints the canonical digits and the properties that follow from them: sizes,
/// replication, unused storage.
llvm::Error renderFacts(llvm::raw_ostream &os, const Layout &layout);

/// Prints the place of each element. In a distributed layout this is
/// `lane:register` of the first thread that holds the element, after `warp/` if
/// there are several warps; `+n` follows if n more threads hold a copy. In a
/// memory layout it is the offset, in elements.
llvm::Error renderElements(llvm::raw_ostream &os, const Layout &layout);

/// Prints the element at each place. A distributed layout is one table per
/// warp, with a line per lane and a column per register. A memory layout is its
/// storage, with one line for every 4 * banks bytes.
llvm::Error renderPlaces(llvm::raw_ostream &os, const Layout &layout,
                         const MemoryView &view);

/// Prints the bank of every element of a memory layout, and the bank conflicts
/// of 32 lanes that read along rows and down a column. The accesses are the
/// widest that the layout allows, up to 16 bytes.
llvm::Error renderBanks(llvm::raw_ostream &os, const Layout &memory,
                        const MemoryView &view);

/// Prints the width (at most 16 bytes) and the bank conflicts of the accesses
/// by which the threads of `dist` read or write their elements in `memory`.
llvm::Error renderAccess(llvm::raw_ostream &os, const Layout &dist,
                         const Layout &memory, const MemoryView &view);

/// Draws the output of renderElements() as an SVG picture, coloured by lane or
/// by bank.
llvm::Error renderSVG(llvm::raw_ostream &os, const Layout &layout,
                      const MemoryView &view);

} // namespace tile

#endif // TILE_LAYOUT_RENDER_H
