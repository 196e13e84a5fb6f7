//===- MemoryLayouts.h - Layouts for wide accesses --------------*- C++ -*-===//
//
// Chooses the layout of one side of an access, given that of the other, so that
// the access is wide and coalesced.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_MEMORYLAYOUTS_H
#define TILE_ANALYSIS_MEMORYLAYOUTS_H

#include "tile/Chips/Atomics.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include <functional>

namespace tile {

/// Returns the distributed layout of a tile of `shape` elements of `bits` each
/// that places threads along the last dimension first, 16 bytes each, or fewer
/// where that leaves fewer threads with copies.
LayoutAttrInterface getDefaultLayout(mlir::MLIRContext *context,
                                     llvm::ArrayRef<int64_t> shape,
                                     int64_t bits, int64_t lanes,
                                     int64_t warps);

/// Returns the distributed layout of a tile of `shape` elements over
/// `lanes` x `warps` threads that makes accesses to `memory` coalesced: each
/// thread accesses `width` elements at once, and neighbouring lanes access
/// neighbouring offsets. `memory` is the layout of such a tile (see
/// BufferType::getTileMemory). Threads that are left over hold copies.
LayoutAttrInterface getCoalescedLayout(mlir::MLIRContext *context,
                                       llvm::ArrayRef<int64_t> shape,
                                       const Layout &memory, int64_t width,
                                       int64_t lanes, int64_t warps);

/// Returns the distributed layout of a copy from `source` in global memory to
/// `dest` in shared memory. Each thread copies up to `width` elements along the
/// dimension that is contiguous in global memory. If another dimension is
/// contiguous in shared memory, each thread also copies 8 bytes along that one,
/// so that accesses to both memories are wide. On chips without ldmatrix, whose
/// tiles have padding instead of swizzles, the order of the lanes is the one
/// whose stores have the fewest bank conflicts.
LayoutAttrInterface getCopyLayout(BufferType source, BufferType dest,
                                  int64_t width, int64_t warps,
                                  const Chip &chip);

/// An access to a tile in shared memory: the distribution of the tile over the
/// threads, as a function of its layout in shared memory.
struct AccessOfLayout {
  template <typename FunctionT>
  AccessOfLayout(FunctionT threads, bool isStore = false)
      : threads(std::move(threads)), isStore(isStore) {}

  std::function<llvm::FailureOr<Layout>(LayoutAttrInterface shared)> threads;
  bool isStore;
};

/// Returns the layout of a tile in shared memory, with its dimensions in
/// `order`, for which the accesses take the fewest cycles: one for each
/// instruction and one for each pass over the banks (see countBankPasses).
/// Among equals, the one with the fewest bytes. It is the one whose rows have
/// `padding` bytes if that has no conflicts, and takes at most a 32nd of the
/// shared memory more than that, or a 16th with 64 banks. Rows are swizzled
/// where padding leaves conflicts.
LayoutAttrInterface
choosePadding(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape,
              int64_t bits, llvm::ArrayRef<int64_t> order, int64_t padding,
              llvm::ArrayRef<AccessOfLayout> accesses, const Chip &chip);

/// Returns the layout by choosePadding for a tile that threads copy from
/// `source` through registers and access by `reads`. The lanes of the copy have
/// the order that avoids the most conflicts; where bounds of rows take time
/// beside MMAs, a warp has as few rows as possible unless that leaves some.
LayoutAttrInterface chooseCopiedLayout(BufferType source,
                                       llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<int64_t> order,
                                       int64_t padding,
                                       llvm::ArrayRef<AccessOfLayout> reads,
                                       int64_t warps, const Chip &chip);

/// Returns the passes that bank conflicts add to the accesses of a tile with
/// `layout`.
int64_t countConflicts(LayoutAttrInterface layout,
                       llvm::ArrayRef<int64_t> shape, int64_t bits,
                       llvm::ArrayRef<AccessOfLayout> accesses,
                       const Chip &chip);

/// Returns the layout of a global accumulator: a buffer of `shape`, to whose
/// dimensions `rows` and `columns` tiles with the layout `fragment` are added
/// atomically. Extents of `shape` may be dynamic. Atomic operations are as wide
/// as `chip` has them for this element type, and the lanes of a warp access
/// neighbouring addresses. If the fragment allows it, the elements of one
/// access differ in static dimensions only, so that no access crosses a dynamic
/// bound. The other dimensions are outermost. The base is aligned to 16 bytes,
/// so that reads of the buffer can be wide. Fails if a thread holds an element
/// of the fragment twice.
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
