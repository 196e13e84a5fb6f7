//===- SharedAddress.h - Addresses of workgroup memory ----------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETONVGPU_SHAREDADDRESS_H
#define TILE_LIB_CONVERSION_TILETONVGPU_SHAREDADDRESS_H

#include "mlir/IR/Builders.h"

namespace tile {

/// Emits the address of an element of workgroup memory, an i32 in bytes.
/// `memory` is a memref and `index` an index, in elements.
mlir::Value sharedAddress(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value memory, mlir::Value index);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVGPU_SHAREDADDRESS_H
