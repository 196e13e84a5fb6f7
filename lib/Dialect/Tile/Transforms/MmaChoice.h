//===- MmaChoice.h - The matrix instruction of a product --------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_MMACHOICE_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_MMACHOICE_H

#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Target/Chips.h"

namespace tile {

/// The accumulator of `dot` on `numWarps` warps: what the author pinned, else
/// the first instruction of the chip that divides the product. Failure with an
/// error on `dot` if there is none.
llvm::FailureOr<MmaAttr> chooseMma(DotOp dot, int64_t numWarps,
                                   const Chip &chip);

/// Whether wgmma can read operand `index` from shared memory, where it lies or
/// is yet to be put: some swizzle divides its rows.
bool canReadShared(DotOp dot, unsigned index);

/// Bytes of the columns that a group of warps reads of operand b of `dot` by one
/// descriptor, if they lie side by side in shared memory; else 0. They must be
/// whole rows of the swizzle there.
int64_t descriptorBytes(DotOp dot, MmaAttr mma);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_MMACHOICE_H
