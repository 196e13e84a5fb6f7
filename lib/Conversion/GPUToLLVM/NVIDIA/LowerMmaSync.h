//===- LowerMmaSync.h - Lowers nvgpu.mma.sync to registers ------*- C++ -*-===//

#ifndef TILE_LIB_CONVERSION_GPUTOLLVM_NVIDIA_LOWERMMASYNC_H
#define TILE_LIB_CONVERSION_GPUTOLLVM_NVIDIA_LOWERMMASYNC_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace tile {

/// Replaces each nvgpu.mma.sync with f16 or bf16 operands by nvvm.mma.sync on
/// scalars and 32-bit registers, because upstream's conversion does not support
/// bf16. A fragment is taken apart once, at its definition, and the accumulator
/// of one MMA is passed to the next as registers.
void lowerMmaSync(mlir::gpu::GPUModuleOp module);

} // namespace tile

#endif // TILE_LIB_CONVERSION_GPUTOLLVM_NVIDIA_LOWERMMASYNC_H
