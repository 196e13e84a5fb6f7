//===- RoundToBF16.h - f32 values rounded to bf16 ---------------*- C++ -*-===//

#ifndef TILE_LIB_CONVERSION_GPUTOLLVM_NVIDIA_ROUNDTOBF16_H
#define TILE_LIB_CONVERSION_GPUTOLLVM_NVIDIA_ROUNDTOBF16_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace tile {

/// Rounds elements to bf16 and back to f32 two at a time. The instruction for a
/// pair runs at the full rate, that for one element, which LLVM takes, at an
/// eighth of it.
void roundToBF16(mlir::gpu::GPUModuleOp module);

} // namespace tile

#endif // TILE_LIB_CONVERSION_GPUTOLLVM_NVIDIA_ROUNDTOBF16_H
