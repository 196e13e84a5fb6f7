//===- SharedAddress.h - Addresses of workgroup memory ----------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_SHAREDADDRESS_H
#define TILE_LIB_CONVERSION_TILETOGPU_SHAREDADDRESS_H

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace tile {

/// Emits the address of an element of shared memory in bytes, an i32. `memory`
/// is a memref and `index` an index, in elements.
mlir::Value sharedAddress(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value memory, mlir::Value index);

/// Emits the same address as a pointer, for operations of nvvm. The addresses
/// of a block are the same in the space of its cluster.
mlir::Value sharedPointer(
    mlir::OpBuilder &builder, mlir::Location loc, mlir::Value memory,
    mlir::Value index,
    mlir::NVVM::NVVMMemorySpace space = mlir::NVVM::NVVMMemorySpace::Shared);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_SHAREDADDRESS_H
