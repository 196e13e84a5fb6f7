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
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Chips/Atomics.h"
#include "tile/Dialect/Tile/IR/Tile.h"

#include "tile/Dialect/TileGPU/IR/TileGPUDialect.h.inc"

#define GET_OP_CLASSES
#include "tile/Dialect/TileGPU/IR/TileGPUOps.h.inc"

namespace tile::gpu {

/// Return the kind of an atomic operation, and an element type, as the table of
/// atomics has them; nothing if no chip has such an operation.
std::optional<AtomicKind> getAtomicKind(mlir::arith::AtomicRMWKind kind);
std::optional<AtomicElement> getAtomicElement(mlir::Type type);
/// Returns how the back end sees an atomic access to memory.
inline AtomicOrder getOrder(MemoryOrder order) {
  return static_cast<AtomicOrder>(order);
}
inline AtomicScope getScope(MemoryScope scope) {
  return static_cast<AtomicScope>(scope);
}

/// Returns the manifest of a function of a GPU module; null if it has none.
ManifestOp findManifest(mlir::Operation *kernel);

/// Checks that `chip` is of `vendor` and supports the operations in `root`:
/// MMAs, atomics, and the width of each gpu.shuffle. Emits at most one error at
/// each location.
llvm::LogicalResult verifyChip(mlir::Operation *root, const Chip &chip,
                               Vendor vendor);

} // namespace tile::gpu

#endif // TILE_DIALECT_TILEGPU_IR_TILEGPU_H
