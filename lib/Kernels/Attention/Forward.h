//===- Forward.h - tile.attention as a tile program -------------*- C++ -*-===//
#ifndef TILE_LIB_KERNELS_ATTENTION_FORWARD_H
#define TILE_LIB_KERNELS_ATTENTION_FORWARD_H

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Writes the body of the kernel of `op` at the insertion point; `mapping` maps
/// the operands of `op` to values of the kernel.
void buildAttentionForward(mlir::ImplicitLocOpBuilder &builder, AttentionOp op,
                           const mlir::IRMapping &mapping,
                           const Schedule &schedule);

} // namespace tile

#endif // TILE_LIB_KERNELS_ATTENTION_FORWARD_H
