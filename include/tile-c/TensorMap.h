//===- TensorMap.h - C interface to encode tensor maps ----------*- C -*-===//
//
// Kernels that copy by TMA take tensor maps (CUtensorMap of cuda.h) in addition
// to the arguments of the caller. The manifest describes each map
// (docs/Manifest.md). A program that launches kernels itself reads the
// descriptions once and encodes a map for each tensor:
//
//   TileTensorMap maps[4];
//   char message[TILE_TENSOR_MAP_MESSAGE];
//   int count = tileReadTensorMaps(manifest, "attention", maps, 4, message);
//   for (int i = 0; i < count; ++i)
//     tileEncodeTensorMap(&maps[i], &tensors[maps[i].argument], encode,
//                         &encoded[i], message);
//
// `encode` is the driver's cuTensorMapEncodeTiled, found by cuGetProcAddress or
// dlsym: this library does not link CUDA. tileEncodeTensorMap and
// tileTensorMapArguments are plain C (lib/CAPI/TensorMap.c), which a launcher
// may compile into itself. tileReadTensorMaps is in libTileLaunchC.
//
// Sources: CUDA driver API, "Tensor Map Object Management".
//
//===--------------------------------------------------------------------===//
#ifndef TILE_C_TENSORMAP_H
#define TILE_C_TENSORMAP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /// Size and alignment of a CUtensorMap in bytes, and its largest rank.
  TILE_TENSOR_MAP_BYTES = 128,
  TILE_TENSOR_MAP_ALIGNMENT = 64,
  TILE_TENSOR_MAP_RANK = 5,
  /// Bytes of the longest message.
  TILE_TENSOR_MAP_MESSAGE = 256
};

/// The description of a tensor map: a parameter of kind `tensor_map`.
typedef struct {
  /// The index of the parameter whose tensor the map describes.
  uint32_t argument;
  /// The element type of the tensor: `f16`, `bf16`, `f32`, `f64`, `i32` or
  /// `i64`.
  char type[8];
  /// The dimensions of the tensor, and how many of them the map has: all, or
  /// two of a ragged map. The others are one dimension then, of offsets in
  /// units of 16 bytes.
  uint32_t rank, count;
  /// The dimensions of the tensor, the innermost first, and the extents of one
  /// copy in that order, in elements; `count` of both.
  uint32_t dims[TILE_TENSOR_MAP_RANK], box[TILE_TENSOR_MAP_RANK];
  /// The swizzle in bytes: 0 (none), 32, 64 or 128.
  uint32_t swizzle;
  /// If `isRagged` is not zero, sequences are packed along the dimension
  /// `ragged` of the tensor and copies end with their sequence. Such a map has
  /// two dimensions more.
  uint32_t isRagged, ragged;
} TileTensorMap;

/// A tensor in GPU memory. `shape` and `strides` have `rank` entries each, in
/// elements, the outermost dimension first, as in the manifest. `zeros` is the
/// address of 16 bytes of zeros in the memory of the GPU, aligned to 16 bytes.
/// Only tensors without elements need it; for others it may be 0.
typedef struct {
  uint64_t address;
  uint32_t rank;
  const int64_t *shape, *strides;
  uint64_t zeros;
} TileTensorMapTensor;

/// The arguments of cuTensorMapEncodeTiled after the map, in their order.
/// Enumerators have the values of cuda.h.
typedef struct {
  int type;
  uint32_t rank;
  uint64_t address;
  /// Extents in elements; strides in bytes, of each dimension except the
  /// innermost.
  uint64_t extents[TILE_TENSOR_MAP_RANK], strides[TILE_TENSOR_MAP_RANK - 1];
  uint32_t box[TILE_TENSOR_MAP_RANK], steps[TILE_TENSOR_MAP_RANK];
  int interleave, swizzle, promotion, fill;
} TileTensorMapArguments;

/// The type of cuTensorMapEncodeTiled, with enumerations and CUresult as int.
typedef int (*TileTensorMapEncoder)(void *map, int type, uint32_t rank,
                                    void *address, const uint64_t *extents,
                                    const uint64_t *strides,
                                    const uint32_t *box, const uint32_t *steps,
                                    int interleave, int swizzle, int promotion,
                                    int fill);

/// Reads the descriptions of the tensor maps of `kernel` from `manifest`, which
/// is JSON text, in the order of the kernel's parameters. Writes at most
/// `capacity` of them and returns their number. Returns -1 if there is no such
/// kernel or the manifest is malformed. On failure, these functions write the
/// reason to `message`, which has room for TILE_TENSOR_MAP_MESSAGE bytes or is
/// null.
int tileReadTensorMaps(const char *manifest, const char *kernel,
                       TileTensorMap *maps, size_t capacity, char *message);

/// Computes the arguments that encode `map` for `tensor`. Returns 0, or -1 if
/// the tensor does not match the map or TMA cannot access it: its address and
/// strides must be multiples of 16 bytes and its innermost dimension
/// contiguous. The map of a tensor without elements has the extents 1 over
/// `zeros`, so that every box holds zeros; neither its address nor its strides
/// are checked. Strides of dimensions with one element are not checked.
int tileTensorMapArguments(const TileTensorMap *map,
                           const TileTensorMapTensor *tensor,
                           TileTensorMapArguments *arguments, char *message);

/// Encodes `map` for `tensor` into TILE_TENSOR_MAP_BYTES bytes at `encoded`,
/// which is aligned to TILE_TENSOR_MAP_ALIGNMENT. Returns 0 on success, -1 as
/// tileTensorMapArguments does, or the error of `encode`.
int tileEncodeTensorMap(const TileTensorMap *map,
                        const TileTensorMapTensor *tensor,
                        TileTensorMapEncoder encode, void *encoded,
                        char *message);

#ifdef __cplusplus
}
#endif

#endif // TILE_C_TENSORMAP_H
