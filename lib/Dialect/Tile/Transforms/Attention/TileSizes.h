//===- TileSizes.h - How kernels of attention divide the work ---*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_ATTENTION_TILESIZES_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_ATTENTION_TILESIZES_H

#include "tile/Target/Chips.h"
#include <optional>

namespace tile {

/// Rows of scores, keys per step and warps of one block of threads, and stages
/// of the rings of K and V: 0 leaves these to tile-pipeline. Where a block owns
/// keys, `queryWarps` of the warps lie side by side along the queries of S^T.
struct TileSizes {
  int64_t blockM, blockN, warps;
  int64_t stages = 0;
  int64_t queryWarps = 1;
  /// Warps that copy for the others (tile-specialize-warps), 0 for none, and
  /// the registers of a thread of either. With them, the weights of one step
  /// are multiplied in the next one, beside its exponentials.
  int64_t producers = 0, registers = 0, producerRegisters = 0;
  /// Stages of the ring of Q, if the kernel is persistent, else 0. With two,
  /// the first MMA of a block of rows is issued before the last one of the
  /// block before has ended.
  int64_t queryStages = 0;
  /// Whether groups of four warps take turns (tile-overlap-dots).
  bool turns = false;
  /// Warps that let the copy engine add sums to memory, besides the producers.
  int64_t storers = 0;
  /// Whether the kernel has `tile.saves_registers`.
  bool savesRegisters = false;
};

/// What of attention decides between rows of the tables.
struct AttentionFeatures {
  /// Whether keys are hidden otherwise than by a causal mask.
  bool window;
  bool softcap, packed;
  /// Whether the blocks of threads of several heads add to dK and dV.
  bool atomicKeys = false;
  /// Whether the result is merged into o.
  bool merge = false;
};

/// What to use for tile.attention on `chip`, where `headDim` is the larger of
/// the two head dimensions and `valueDim` that of V; none if no size is known
/// to fit.
std::optional<TileSizes> findForwardTileSizes(const Chip &chip, int64_t headDim,
                                              int64_t valueDim,
                                              AttentionFeatures features);

/// Of the kernels of tile.attention_backward that own keys and queries.
struct BackwardSizes {
  TileSizes keys, queries;
};

/// The same for the kernel of tile.attention_backward that owns blockN keys
/// and walks over blockM queries at a time.
std::optional<TileSizes> findBackwardKeysTileSizes(const Chip &chip,
                                                   int64_t headDim,
                                                   AttentionFeatures features);

/// The same for the kernel that owns blockM queries.
std::optional<TileSizes>
findBackwardQueriesTileSizes(const Chip &chip, int64_t headDim,
                             AttentionFeatures features);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_ATTENTION_TILESIZES_H
