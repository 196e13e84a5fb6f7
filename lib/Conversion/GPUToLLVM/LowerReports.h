//===- LowerReports.h - Calls that print ------------------------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_GPUTOLLVM_LOWERREPORTS_H
#define TILE_LIB_CONVERSION_GPUTOLLVM_LOWERREPORTS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "tile/Chips/Chips.h"

namespace tile {

/// Lowers gpu.printf and tile_gpu.fail to calls (TileGPU/IR/Reports.h). Fails
/// with an error at an operation whose format does not suit its arguments.
llvm::LogicalResult lowerReports(mlir::gpu::GPUModuleOp module,
                                 const Chip &chip);

} // namespace tile

#endif // TILE_LIB_CONVERSION_GPUTOLLVM_LOWERREPORTS_H
