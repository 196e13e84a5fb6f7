//===- DirectCopy.h - Copies to the LDS without registers -------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_AMD_DIRECTCOPY_H
#define TILE_LIB_CONVERSION_TILETOGPU_AMD_DIRECTCOPY_H

#include "../Access/BufferParts.h"
#include "tile/Chips/Chips.h"

namespace tile {

/// Emits the copy of a tile from `source` at `indices` to the LDS buffer `dest`
/// at `origin`, zeros, by instructions that write the LDS without registers.
/// Returns the reason, and emits nothing, if the layouts do not permit that.
Refusal emitDirectCopy(Emitter &b, CopyOp op, const BufferParts &source,
                       mlir::ValueRange indices, const BufferParts &dest,
                       mlir::ValueRange origin, const Chip &chip,
                       int64_t warps);

/// Makes the waits for groups of copies exact. A wait counts the copies that
/// are newer than its groups, so every path must issue the same number of
/// copies. On a path that skips the copies of a branch, adds a wait for all
/// copies.
void waitWhereCopiesAreSkipped(KernelOp kernel);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_AMD_DIRECTCOPY_H
