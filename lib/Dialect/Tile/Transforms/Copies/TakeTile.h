//===- TakeTile.h - Tiles of copies out of rings ----------------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_COPIES_TAKETILE_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_COPIES_TAKETILE_H

#include "mlir/IR/PatternMatch.h"
#include "tile/Analysis/RunAhead.h"

namespace tile {

/// Takes the tile of `copy` out of `ring` before `place`, in the block of the
/// copy. The slot replaces the buffer, the copy is erased.
RingTakeOp takeTile(mlir::RewriterBase &rewriter, const BufferCopy &copy,
                    mlir::Value ring, mlir::Operation *place);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_COPIES_TAKETILE_H
