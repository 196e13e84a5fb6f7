//===- Combine.h - Merges the parts of tile.attention -----------*- C++ -*-===//
#ifndef TILE_LIB_KERNELS_ATTENTION_COMBINE_H
#define TILE_LIB_KERNELS_ATTENTION_COMBINE_H

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// The warps of the kernel.
inline constexpr int64_t kCombineWarps = 1;

/// Writes the body of the kernel that merges the parts of `op` into its result,
/// at the insertion point; `mapping` maps the operands of `op` to values of the
/// kernel. `schedule` is that of the kernel that writes the parts.
void buildAttentionCombine(mlir::ImplicitLocOpBuilder &builder, AttentionOp op,
                           const mlir::IRMapping &mapping,
                           const Schedule &schedule);

} // namespace tile

#endif // TILE_LIB_KERNELS_ATTENTION_COMBINE_H
