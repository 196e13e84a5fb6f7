//===- BF16Pairs.h - bf16 elements as f32, two at a time --------*- C++ -*-===//

#ifndef TILE_LIB_CONVERSION_GPUTOLLVM_NVIDIA_BF16PAIRS_H
#define TILE_LIB_CONVERSION_GPUTOLLVM_NVIDIA_BF16PAIRS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace tile {

/// Extends bf16 vectors to f32 word by word: one instruction for each element,
/// where LLVM first splits a word into two registers. Elements that are rounded
/// to bf16 and extended again are rounded in pairs: the instruction for a pair
/// runs at the full rate, that for one element at an eighth of it.
void extendBF16InPairs(mlir::gpu::GPUModuleOp module);

} // namespace tile

#endif // TILE_LIB_CONVERSION_GPUTOLLVM_NVIDIA_BF16PAIRS_H
