//===- Requirements.h - What attention asks of extents ----------*- C++ -*-===//
#ifndef TILE_LIB_KERNELS_ATTENTION_REQUIREMENTS_H
#define TILE_LIB_KERNELS_ATTENTION_REQUIREMENTS_H

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// Scratch memory has whole blocks of so many rows; every chip's divide this.
inline constexpr int64_t kScratchRows = 16;

/// Writes the tile.require of an AttentionOp or AttentionBackwardOp, whose
/// operands `mapping` maps to values of the kernel, for all that its verifier
/// cannot know: extents agree, heads divide heads, scratch memory is large
/// enough.
void buildRequirements(mlir::ImplicitLocOpBuilder &builder, mlir::Operation *op,
                       const mlir::IRMapping &mapping);

/// Writes those of the table of works and of the parts that it numbers, for the
/// kernel with `schedule`.
void buildWorksRequirements(mlir::ImplicitLocOpBuilder &builder, AttentionOp op,
                            const mlir::IRMapping &mapping,
                            const Schedule &schedule);

} // namespace tile

#endif // TILE_LIB_KERNELS_ATTENTION_REQUIREMENTS_H
