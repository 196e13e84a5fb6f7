//===- TileGPU.h - The tile_gpu dialect -------------------------*- C++ -*-===//
//
// The documentation of the operations is in TileGPUOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TILEGPU_IR_TILEGPU_H
#define TILE_DIALECT_TILEGPU_IR_TILEGPU_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Target/Chips.h"

#include "tile/Dialect/TileGPU/IR/TileGPUDialect.h.inc"

#define GET_OP_CLASSES
#include "tile/Dialect/TileGPU/IR/TileGPUOps.h.inc"

namespace tile::gpu {

/// Success if `chip` is one of `vendor` and has all that the operations in
/// `root` need: matrix instructions, ldmatrix, asynchronous copies, and warps
/// as wide as each gpu.shuffle. Otherwise an error on each that it lacks.
llvm::LogicalResult verifyChip(mlir::Operation *root, const Chip &chip,
                               Vendor vendor);

} // namespace tile::gpu

#endif // TILE_DIALECT_TILEGPU_IR_TILEGPU_H
