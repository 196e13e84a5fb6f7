//===- TensorMapImage.h - The executor's tensor maps ------------*- C++ -*-===//
#ifndef TILE_LIB_EXECUTOR_NVIDIA_TENSORMAPIMAGE_H
#define TILE_LIB_EXECUTOR_NVIDIA_TENSORMAPIMAGE_H

#include "../Instruction.h"
#include "tile/Chips/Atomics.h"
#include "tile/Chips/NVIDIA/TensorMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tile::cpu {

/// The executor's content of the 128 bytes of a tensor map. Dimensions are
/// innermost first; strides are in bytes.
struct TensorMapImage {
  static constexpr uint32_t kMark = 0x70616d74;

  const char *base;
  uint32_t mark;
  uint16_t rank;
  uint8_t elementBytes, swizzle;
  int32_t box[kTensorMapRank];
  AtomicElement element;
  int64_t extents[kTensorMapRank], strides[kTensorMapRank];
};
static_assert(sizeof(TensorMapImage) <= kTensorMapBytes);

/// Returns the tensor map at `address`, whose rank the call's site gives.
TensorMapImage readTensorMap(Thread &thread, const Call &call,
                             uint64_t address);

/// 16 bytes of a box.
struct TensorMapChunk {
  /// Their addresses in shared memory and in global memory.
  uint64_t address;
  const char *global;
  /// The number of bytes, from the first on, that are inside the tensor.
  unsigned valid;
};

/// Calls `visit` for each chunk of the box that begins at `address` of shared
/// memory. The operands from `firstCoordinate` on are the coordinates. Returns
/// the bytes of the box.
int64_t forEachChunk(Thread &thread, const TensorMapImage &map,
                     const Call &call, unsigned firstCoordinate,
                     uint64_t address,
                     llvm::function_ref<void(const TensorMapChunk &)> visit);

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_NVIDIA_TENSORMAPIMAGE_H
