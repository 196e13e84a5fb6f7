//===- TensorMapImage.h - A tensor map, as the executor has it --*- C++ -*-===//
#ifndef TILE_LIB_TARGET_CPU_TENSORMAPIMAGE_H
#define TILE_LIB_TARGET_CPU_TENSORMAPIMAGE_H

#include "tile/Target/TensorMap.h"

namespace tile::cpu {

/// What stands in the 128 bytes that the driver of a GPU would encode.
/// Dimensions are innermost first; strides count bytes.
struct TensorMapImage {
  static constexpr uint32_t kMark = 0x70616d74;

  const char *base;
  uint32_t mark;
  uint16_t rank;
  uint8_t elementBytes, swizzle;
  int32_t box[kTensorMapRank];
  int64_t extents[kTensorMapRank], strides[kTensorMapRank];
};
static_assert(sizeof(TensorMapImage) <= kTensorMapBytes);

} // namespace tile::cpu

#endif // TILE_LIB_TARGET_CPU_TENSORMAPIMAGE_H
