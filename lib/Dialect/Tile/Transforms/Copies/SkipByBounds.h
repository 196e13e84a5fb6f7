//===- SkipByBounds.h - Loads that bounds skip ------------------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_COPIES_SKIPBYBOUNDS_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_COPIES_SKIPBYBOUNDS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Chips/Chips.h"

namespace tile {

/// Moves the operations of the first block of `branch`, loads of tiles and what
/// computes their operands, in front of it. Where the condition does not hold,
/// the loads start at the end of their buffers, so that they read nothing and
/// give zeros. Does nothing and returns false if the chip checks bounds by
/// branches, or if another operation must not run without the condition. The
/// caller erases the branch.
bool skipByBounds(mlir::scf::IfOp branch, const Chip &chip);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_COPIES_SKIPBYBOUNDS_H
