//===- Render.h - Layouts as text and pictures ------------------*- C++ -*-===//
//
// What tile-layout shows. A tile is drawn as a grid of its last two dimensions,
// one grid for each index of the others. All functions need a static layout
// that verifies and return an error if it is not, or is too large to be read.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LAYOUT_RENDER_H
#define TILE_LAYOUT_RENDER_H

#include "tile/Layout/Layout.h"

namespace tile {

/// The memory that a memory layout is seen in.
struct MemoryView {
  unsigned elementBits = 16;
  /// Shared memory banks of 4 bytes.
  unsigned banks = 32;
};

/// The canonical digits and what follows from them: sizes, copies, unused
/// storage.
llvm::Error renderFacts(llvm::raw_ostream &os, const Layout &layout);

/// From elements to places. Distributed: `lane:register` of the first thread
/// that holds the element, `warp/` before it if there are several, `+n` after
/// it if n more hold a copy. Memory: the offset.
llvm::Error renderElements(llvm::raw_ostream &os, const Layout &layout);

/// From places to elements. Distributed: one table a warp, a line a lane, a
/// column a register. Memory: the storage, a line for each sweep of the banks.
llvm::Error renderPlaces(llvm::raw_ostream &os, const Layout &layout,
                         const MemoryView &view);

/// A memory layout only: the bank of every element, and the conflicts of 32
/// lanes that read along rows and down a column, with the widest accesses of
/// at most 16 bytes that the layout allows.
llvm::Error renderBanks(llvm::raw_ostream &os, const Layout &memory,
                        const MemoryView &view);

/// How the threads of `dist` reach their elements in `memory`: access width
/// (at most 16 bytes) and bank conflicts.
llvm::Error renderAccess(llvm::raw_ostream &os, const Layout &dist,
                         const Layout &memory, const MemoryView &view);

/// An SVG picture: what renderElements() prints, coloured by lane or by bank.
llvm::Error renderSVG(llvm::raw_ostream &os, const Layout &layout,
                      const MemoryView &view);

} // namespace tile

#endif // TILE_LAYOUT_RENDER_H
