//===- RoundingFlags.h - fastmath<nnan> of conversions to bf16 --*- C++ -*-===//

#ifndef TILE_LIB_CONVERSION_GPUTOLLVM_AMD_ROUNDINGFLAGS_H
#define TILE_LIB_CONVERSION_GPUTOLLVM_AMD_ROUNDINGFLAGS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace tile {

/// Puts a fence (llvm.arithmetic.fence) with the flag `nnan` around the operand
/// of each conversion from f32 to bf16 with that flag. llvm.fptrunc has none.
/// The driver removes the fences (Driver/Backend/RoundToBF16.h).
void keepRoundingFlags(mlir::gpu::GPUModuleOp module);

} // namespace tile

#endif // TILE_LIB_CONVERSION_GPUTOLLVM_AMD_ROUNDINGFLAGS_H
