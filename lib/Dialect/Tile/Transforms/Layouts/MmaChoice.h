//===- MmaChoice.h - Choice of matrix instructions --------------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_MMACHOICE_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_MMACHOICE_H

#include "tile/Chips/Chips.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Returns the accumulator layout of `dot` as chooseMma() does, or null.
MmaAttr findMma(DotOp dot, int64_t numWarps, const Chip &chip);

/// Returns the accumulator layout of `dot` for `numWarps` warps: that of the
/// pinned instruction, else of the first instruction of the chip that divides
/// the product, or of another shape of it with which warps exchange less with
/// shared memory, or that needs fewer instructions. If there is none, reports
/// an error on `dot` and fails.
llvm::FailureOr<MmaAttr> chooseMma(DotOp dot, int64_t numWarps,
                                   const Chip &chip);

/// Returns true if `chip` has no instruction for the elements of `dot`.
bool lacksInstruction(DotOp dot, const Chip &chip);

/// Returns the divisors of M, N and K, one triple for each instruction of the
/// chip and each grid of `numWarps` warps that `dot` allows: an instruction
/// computes the product if it has a triple that divides the extents. Returns
/// nothing for a product whose accumulator the author laid out.
llvm::SmallVector<std::array<int64_t, 3>>
listMmaDivisors(DotOp dot, int64_t numWarps, const Chip &chip);

/// Returns the tile that `value` is, before conversions between layouts in
/// registers.
mlir::Value skipConversions(mlir::Value value);

/// Returns true if operand `index` of `dot` is contiguous along the depth in
/// shared memory, where it is or would be stored.
bool isKMajor(DotOp dot, unsigned index);

/// Returns true if `mma` can read operand `index` in shared memory, where it is
/// or would be stored: the size of a swizzle divides that of its rows, and they
/// go along the depth if the instruction needs that.
bool canReadShared(DotOp dot, unsigned index, const Mma &mma);

/// Returns the size in bytes of the columns of operand b of `dot` that a
/// warpgroup reads by one matrix descriptor, if they are contiguous in shared
/// memory; else 0. The size must be a multiple of the swizzle.
int64_t descriptorBytes(DotOp dot, MmaAttr mma);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTS_MMACHOICE_H
