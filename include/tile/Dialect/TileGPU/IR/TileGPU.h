//===- TileGPU.h - The tile_gpu dialect -------------------------*- C++ -*-===//
//
// The documentation of the operations is in TileGPUOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TILEGPU_IR_TILEGPU_H
#define TILE_DIALECT_TILEGPU_IR_TILEGPU_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Target/Atomics.h"

#include "tile/Dialect/TileGPU/IR/TileGPUDialect.h.inc"

#define GET_OP_CLASSES
#include "tile/Dialect/TileGPU/IR/TileGPUOps.h.inc"

namespace tile::gpu {

/// The kind of an atomic operation and the type of one element, as the table of
/// atomics names them; nothing if no chip has such an operation.
std::optional<AtomicKind> getAtomicKind(mlir::arith::AtomicRMWKind kind);
std::optional<AtomicElement> getAtomicElement(mlir::Type type);
/// How the back end sees an access to memory by an atomic operation.
inline AtomicOrder getOrder(MemoryOrder order) {
  return static_cast<AtomicOrder>(order);
}
inline AtomicScope getScope(MemoryScope scope) {
  return static_cast<AtomicScope>(scope);
}

/// Success if `chip` is one of `vendor` and has all that the operations in
/// `root` need: matrix instructions, ldmatrix, asynchronous copies, and warps
/// as wide as each gpu.shuffle. Otherwise an error on each that it lacks.
llvm::LogicalResult verifyChip(mlir::Operation *root, const Chip &chip,
                               Vendor vendor);

} // namespace tile::gpu

#endif // TILE_DIALECT_TILEGPU_IR_TILEGPU_H
