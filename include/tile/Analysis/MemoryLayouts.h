//===- MemoryLayouts.h - Layouts that suit each other -----------*- C++ -*-===//
//
// Given one side of an access, the layout of the other that makes the access
// wide and coalesced.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_MEMORYLAYOUTS_H
#define TILE_ANALYSIS_MEMORYLAYOUTS_H

#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Target/Atomics.h"

namespace tile {

/// How `lanes` x `warps` threads share a tile of `shape` elements so that they
/// access `memory` (a layout of such tiles, see BufferType::getTileMemory) in
/// the order of its offsets: `width` elements each, neighbouring lanes side by
/// side. Threads that are left over hold copies.
LayoutAttrInterface getCoalescedLayout(mlir::MLIRContext *context,
                                       llvm::ArrayRef<int64_t> shape,
                                       const Layout &memory, int64_t width,
                                       int64_t lanes, int64_t warps);

/// The layout of a global buffer of `shape` (of which extents may be dynamic)
/// into whose dimensions `rows` and `columns` tiles with the layout `fragment`
/// are added: one access of every lane of a warp is as wide as `chip` adds
/// elements of this type at once, and the lanes of a warp access neighbours.
/// Elements that one access combines differ in static dimensions only, where
/// the fragment allows it, so that a dynamic end divides no access. The other
/// dimensions are outermost. Failure for fragments that hold an element twice
/// in one thread. The base is aligned to 16 bytes, so that whatever reads the
/// buffer can be wide.
///
/// tile-choose-accumulators applies this to kernel arguments with the attribute
/// `tile.accumulator`.
llvm::FailureOr<MapAttr>
chooseAccumulatorLayout(mlir::MLIRContext *context, const Layout &fragment,
                        llvm::ArrayRef<int64_t> shape, unsigned rows,
                        unsigned columns, AtomicElement element,
                        const Chip &chip);

} // namespace tile

#endif // TILE_ANALYSIS_MEMORYLAYOUTS_H
