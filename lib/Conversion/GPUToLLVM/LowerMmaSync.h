//===- LowerMmaSync.h - nvgpu.mma.sync to registers -------------*- C++ -*-===//

#ifndef TILE_CONVERSION_GPUTOLLVM_LOWERMMASYNC_H
#define TILE_CONVERSION_GPUTOLLVM_LOWERMMASYNC_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace tile {

/// Replaces each nvgpu.mma.sync of f16 or bf16 operands by nvvm.mma.sync on
/// scalars and 32-bit registers; upstream's conversion knows no bf16. A
/// fragment is taken apart once, where it is defined, and the accumulator of
/// one product goes to the next as it is.
void lowerMmaSync(mlir::gpu::GPUModuleOp module);

} // namespace tile

#endif // TILE_CONVERSION_GPUTOLLVM_LOWERMMASYNC_H
