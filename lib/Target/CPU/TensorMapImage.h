//===- TensorMapImage.h - A tensor map, as the executor has it --*- C++ -*-===//
#ifndef TILE_LIB_TARGET_CPU_TENSORMAPIMAGE_H
#define TILE_LIB_TARGET_CPU_TENSORMAPIMAGE_H

#include "Instruction.h"
#include "tile/Target/Atomics.h"
#include "tile/Target/TensorMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

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
  AtomicElement element;
  int64_t extents[kTensorMapRank], strides[kTensorMapRank];
};
static_assert(sizeof(TensorMapImage) <= kTensorMapBytes);

/// The tensor map at `address`, of as many dimensions as the call's site says.
TensorMapImage readTensorMap(Thread &thread, const Call &call,
                             uint64_t address);

/// 16 bytes of a box.
struct TensorMapChunk {
  /// Where they are in shared memory, and in global memory.
  uint64_t address;
  const char *global;
  /// How many bytes, from the first on, are inside the tensor.
  unsigned valid;
};

/// Calls `visit` for each chunk of the box that begins at `address` of shared
/// memory; the operands from `firstCoordinate` on say where in the tensor.
/// Returns the bytes of the box.
int64_t forEachChunk(Thread &thread, const TensorMapImage &map,
                     const Call &call, unsigned firstCoordinate,
                     uint64_t address,
                     llvm::function_ref<void(const TensorMapChunk &)> visit);

} // namespace tile::cpu

#endif // TILE_LIB_TARGET_CPU_TENSORMAPIMAGE_H
