//===- Backward.h - tile.attention_backward as tile programs ----*- C++ -*-===//
#ifndef TILE_LIB_KERNELS_ATTENTION_BACKWARD_H
#define TILE_LIB_KERNELS_ATTENTION_BACKWARD_H

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// One of the kernels that an operation becomes.
struct BackwardKernel {
  /// What its name adds to that of the function.
  llvm::StringRef suffix;
  int64_t warps;
  /// No field is set for kernels that only move and add.
  Schedule schedule;
  /// Writes the body at the insertion point; the operands of the operation are
  /// mapped to values of the kernel.
  std::function<void(mlir::ImplicitLocOpBuilder &, const mlir::IRMapping &)>
      build;
};

/// Returns the kernels of `op`, in the order in which they have to run. `keys`
/// and `queries` are the schedules of the kernels that own keys and queries;
/// the latter is not used if `op` adds dq to dq_acc.
llvm::SmallVector<BackwardKernel, 0>
planAttentionBackward(AttentionBackwardOp op, const Schedule &keys,
                      const Schedule &queries);

/// dK and dV, and with dq_acc dQ: a block owns keys and walks over queries.
void buildBackwardKeys(mlir::ImplicitLocOpBuilder &builder,
                       AttentionBackwardOp op, const mlir::IRMapping &mapping,
                       const Schedule &schedule);
/// dQ alone: a block owns queries and walks over keys.
void buildBackwardQueries(mlir::ImplicitLocOpBuilder &builder,
                          AttentionBackwardOp op,
                          const mlir::IRMapping &mapping,
                          const Schedule &schedule);
/// delta and lse to base 2, and zeros in dq_acc.
void buildBackwardStats(mlir::ImplicitLocOpBuilder &builder,
                        AttentionBackwardOp op, const mlir::IRMapping &mapping);
/// dsink from stats; one block per head.
void buildBackwardSink(mlir::ImplicitLocOpBuilder &builder,
                       AttentionBackwardOp op, const mlir::IRMapping &mapping);
/// Zeros in dk_acc and dv_acc.
void buildBackwardZero(mlir::ImplicitLocOpBuilder &builder,
                       AttentionBackwardOp op, const mlir::IRMapping &mapping);
/// dQ from dq_acc.
void buildBackwardScaleQueries(mlir::ImplicitLocOpBuilder &builder,
                               AttentionBackwardOp op,
                               const mlir::IRMapping &mapping);
/// dK and dV from dk_acc and dv_acc.
void buildBackwardSumKeys(mlir::ImplicitLocOpBuilder &builder,
                          AttentionBackwardOp op,
                          const mlir::IRMapping &mapping);

} // namespace tile

#endif // TILE_LIB_KERNELS_ATTENTION_BACKWARD_H
