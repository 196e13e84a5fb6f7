//===- TensorMap.h - Tensor maps of a manifest, from C ----------*- C -*-===//
//
// Kernels whose copies are the copy engine's (TMA) take tensor maps,
// CUtensorMap of cuda.h, beside the arguments of the caller; the manifest says
// what each is built from (docs/Manifest.md). A program with a launcher of its
// own reads that once and encodes a map for each tensor:
//
//   TileTensorMap maps[4];
//   char message[TILE_TENSOR_MAP_MESSAGE];
//   int count = tileReadTensorMaps(manifest, "attention", maps, 4, message);
//   for (int i = 0; i < count; ++i)
//     tileEncodeTensorMap(&maps[i], &tensors[maps[i].argument], encode,
//                         &encoded[i], message);
//
// `encode` is the driver's cuTensorMapEncodeTiled, as cuGetProcAddress or dlsym
// finds it: nothing of CUDA is linked. tileEncodeTensorMap and its parts are
// lib/CAPI/TensorMap.c, plain C that a program which only launches may compile
// into itself; tileReadTensorMaps needs LLVM, which parses the JSON.
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
  /// Bytes and alignment of a CUtensorMap, and its most dimensions.
  TILE_TENSOR_MAP_BYTES = 128,
  TILE_TENSOR_MAP_ALIGNMENT = 64,
  TILE_TENSOR_MAP_RANK = 5,
  /// Bytes of the longest message.
  TILE_TENSOR_MAP_MESSAGE = 256
};

/// A parameter of kind `tensor_map`.
typedef struct {
  /// The parameter of the kernel whose tensor the map describes.
  uint32_t argument;
  /// Of that parameter: `f16`, `bf16`, `f32`, `f64`, `i32` or `i64`.
  char type[8];
  uint32_t rank;
  /// The tensor's dimensions, the innermost first, and the extents of one copy
  /// in that order, in elements.
  uint32_t dims[TILE_TENSOR_MAP_RANK], box[TILE_TENSOR_MAP_RANK];
  /// Bytes: 0, 32, 64 or 128.
  uint32_t swizzle;
  /// Whether sequences follow each other along the dimension `ragged` of the
  /// tensor, with which copies end. Such a map has two dimensions more than the
  /// tensor.
  uint32_t isRagged, ragged;
} TileTensorMap;

/// A tensor in the memory of the GPU. Both arrays have `rank` elements and
/// count elements, the outermost dimension first, as in the manifest.
typedef struct {
  uint64_t address;
  uint32_t rank;
  const int64_t *shape, *strides;
} TileTensorMapTensor;

/// What cuTensorMapEncodeTiled takes, in its order, behind the map. Values of
/// enumerations are those of cuda.h.
typedef struct {
  int type;
  uint32_t rank;
  uint64_t address;
  /// Elements; bytes from one element to the next of each dimension but the
  /// innermost.
  uint64_t extents[TILE_TENSOR_MAP_RANK], strides[TILE_TENSOR_MAP_RANK - 1];
  uint32_t box[TILE_TENSOR_MAP_RANK], steps[TILE_TENSOR_MAP_RANK];
  int interleave, swizzle, promotion, fill;
} TileTensorMapArguments;

/// cuTensorMapEncodeTiled; its enumerations are integers, and so is CUresult.
typedef int (*TileTensorMapEncoder)(void *map, int type, uint32_t rank,
                                    void *address, const uint64_t *extents,
                                    const uint64_t *strides,
                                    const uint32_t *box, const uint32_t *steps,
                                    int interleave, int swizzle, int promotion,
                                    int fill);

/// Reads the tensor maps of `kernel` from a manifest, JSON text, in the order
/// in which they follow the other parameters. Writes at most `capacity` of them
/// and returns their number, or -1 if there is no such kernel or the manifest
/// is malformed. `message`, here and below, has room for
/// TILE_TENSOR_MAP_MESSAGE bytes and gets the reason of a failure; it may be
/// null.
int tileReadTensorMaps(const char *manifest, const char *kernel,
                       TileTensorMap *maps, size_t capacity, char *message);

/// The arguments that encode `map` for `tensor`. Returns 0, or -1 if the tensor
/// is not what the map is for or not what the copy engine can read: 16 bytes
/// must divide its address and its strides, and its innermost dimension must be
/// dense. A dimension without elements becomes one of extent 1, and the strides
/// of dimensions that are never stepped along are free: kernels copy nothing
/// from an empty tensor.
int tileTensorMapArguments(const TileTensorMap *map,
                           const TileTensorMapTensor *tensor,
                           TileTensorMapArguments *arguments, char *message);

/// Encodes `map` for `tensor` into TILE_TENSOR_MAP_BYTES at `encoded`, which
/// are aligned to TILE_TENSOR_MAP_ALIGNMENT. Returns 0, -1 as above, or what
/// `encode` returned.
int tileEncodeTensorMap(const TileTensorMap *map,
                        const TileTensorMapTensor *tensor,
                        TileTensorMapEncoder encode, void *encoded,
                        char *message);

#ifdef __cplusplus
}
#endif

#endif // TILE_C_TENSORMAP_H
