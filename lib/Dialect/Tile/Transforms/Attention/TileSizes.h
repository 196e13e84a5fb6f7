//===- TileSizes.h - How kernels of attention divide the work ---*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_ATTENTION_TILESIZES_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_ATTENTION_TILESIZES_H

#include "tile/Target/Chips.h"
#include <optional>

namespace tile {

/// Rows of scores, keys per step and warps of one block of threads, and stages
/// of the rings of K and V: 0 leaves these to tile-pipeline.
struct TileSizes {
  int64_t blockM, blockN, warps;
  int64_t stages = 0;
};

/// What to use for tile.attention on `chip`, where `headDim` is the larger of
/// the two head dimensions; none if no size is known to fit.
std::optional<TileSizes> findForwardTileSizes(const Chip &chip,
                                              int64_t headDim);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_ATTENTION_TILESIZES_H
