//===- Passes.h - Passes over tile programs ---------------------*- C++ -*-===//
//
// Stages S0 to S4. Each pass is documented in Passes.td.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TILE_TRANSFORMS_PASSES_H
#define TILE_DIALECT_TILE_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "tile/Chips/Chips.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Returns the chip that the module around `op` is compiled for. If there is
/// none, reports an error on `op` that tells how to set it and returns null.
const Chip *getTargetChip(mlir::Operation *op);
/// Returns true if copies to shared memory run ahead in the loops of `kernel`:
/// `chip` copies asynchronously, and does so by default or the schedule of the
/// kernel or of a loop asks for stages.
bool runsCopiesAhead(KernelOp kernel, const Chip &chip);

#define GEN_PASS_DECL
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"

} // namespace tile

#endif // TILE_DIALECT_TILE_TRANSFORMS_PASSES_H
