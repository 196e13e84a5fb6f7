//===- MmaChoice.h - Choice of matrix instructions --------------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_MMACHOICE_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_MMACHOICE_H

#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Target/Chips.h"

namespace tile {

/// Returns the accumulator layout of `dot` for `numWarps` warps: that of the
/// pinned instruction, else of the first instruction of the chip that divides
/// the product. If there is none, reports an error on `dot` and fails.
llvm::FailureOr<MmaAttr> chooseMma(DotOp dot, int64_t numWarps,
                                   const Chip &chip);

/// Returns true if wgmma can read operand `index` from shared memory, where it
/// is or would be stored: the size of a swizzle divides that of its rows.
bool canReadShared(DotOp dot, unsigned index);

/// Returns the size in bytes of the columns of operand b of `dot` that a
/// warpgroup reads by one matrix descriptor, if they are contiguous in shared
/// memory; else 0. The size must be a multiple of the swizzle.
int64_t descriptorBytes(DotOp dot, MmaAttr mma);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_MMACHOICE_H
