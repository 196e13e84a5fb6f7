//===- TensorMap.c - Tensor maps encoded from C ---------------------------===//
//
// This file needs only the C library (see tile-c/TensorMap.h).
//
//===----------------------------------------------------------------------===//

#include "tile-c/TensorMap.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int fail(char *message, const char *format, ...) {
  if (message) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, TILE_TENSOR_MAP_MESSAGE, format, arguments);
    va_end(arguments);
  }
  return -1;
}

/// The CUtensorMapDataType and the bytes of an element of each type. The driver
/// has only unsigned bytes, which are copied alike.
static const struct {
  const char *name;
  int type, bytes;
} kTypes[] = {{"i8", 0, 1},  {"i32", 3, 4}, {"i64", 5, 8}, {"f16", 6, 2},
              {"f32", 7, 4}, {"f64", 8, 8}, {"bf16", 9, 2}};

/// The CUtensorMapSwizzle of each swizzle in bytes.
static const struct {
  uint32_t bytes;
  int swizzle;
} kSwizzles[] = {{0, 0}, {32, 1}, {64, 2}, {128, 3}};

/// CU_TENSOR_MAP_L2_PROMOTION_L2_128B: a row of a swizzled box has at most 128
/// bytes. With 256, attention over a cache is up to 8 % slower
/// (docs/notes/hopper-decode.md).
enum { kPromotion = 2 };

/// Limits of TMA (CUDA driver API, cuTensorMapEncodeTiled): strides are below
/// MAX_STRIDE bytes, boxes have at most kMaxBox elements per dimension, and
/// addresses and strides are multiples of kUnit bytes.
#define MAX_STRIDE (INT64_C(1) << 40)
enum { kMaxBox = 256, kUnit = 16 };

/// Extents and strides of ragged maps (docs/Manifest.md).
#define RAGGED_ROWS (INT64_C(1) << 30)
#define RAGGED_EXTENT (INT64_C(1) << 31)
#define RAGGED_BYTES (INT64_C(1) << 35)
enum { kRaggedDims = 2 };

/// Sets the dimension `at` of offsets, which replaces those that the map lacks,
/// the ones that `seen` does not have. Returns 0, or -1 if an offset of the
/// tensor does not fit.
static int addOffsets(const TileTensorMap *map,
                      const TileTensorMapTensor *tensor, unsigned seen,
                      int64_t bytes, int empty, uint32_t at,
                      TileTensorMapArguments *arguments, char *message) {
  arguments->extents[at] = empty ? 1 : RAGGED_EXTENT;
  arguments->strides[at - 1] = kUnit;
  arguments->box[at] = 1;
  arguments->steps[at] = 1;
  int64_t room = RAGGED_EXTENT * kUnit;
  for (uint32_t dim = 0; dim < map->rank && !empty; ++dim) {
    int64_t extent = tensor->shape[dim], stride = tensor->strides[dim];
    if ((seen & (1u << dim)) != 0 || extent == 1)
      continue;
    if (stride < 0 || stride >= room / bytes || stride * bytes % kUnit != 0 ||
        stride * bytes > (room - 1) / (extent - 1))
      return fail(message,
                  "stride %" PRIu32 " is %" PRId64
                  ", must be divisible by %" PRId64
                  " and give offsets below 2^35 bytes",
                  dim, stride, kUnit / bytes);
    room -= stride * bytes * (extent - 1);
  }
  return 0;
}

int tileTensorMapArguments(const TileTensorMap *map,
                           const TileTensorMapTensor *tensor,
                           TileTensorMapArguments *arguments, char *message) {
  memset(arguments, 0, sizeof(*arguments));
  if (map->rank < 1 || map->rank > TILE_TENSOR_MAP_RANK)
    return fail(message, "the map has %" PRIu32 " dimensions", map->rank);
  int hasOffsets = map->count < map->rank;
  if (map->count < 1 || map->count > map->rank ||
      (hasOffsets && (!map->isRagged || map->count != 2)))
    return fail(message, "the map has %" PRIu32 " of %" PRIu32 " dimensions",
                map->count, map->rank);
  if (map->isRagged &&
      (map->ragged == map->dims[0] || map->ragged >= map->rank ||
       map->count + hasOffsets + kRaggedDims > TILE_TENSOR_MAP_RANK))
    return fail(message,
                "dimension %" PRIu32 " of %" PRIu32
                " cannot have the ends of sequences",
                map->ragged, map->rank);
  if (tensor->rank != map->rank)
    return fail(message, "rank is %" PRIu32 ", must be %" PRIu32, tensor->rank,
                map->rank);
  int64_t bytes = 0;
  for (size_t i = 0; i < sizeof(kTypes) / sizeof(*kTypes); ++i)
    if (strncmp(kTypes[i].name, map->type, sizeof(map->type)) == 0) {
      arguments->type = kTypes[i].type;
      bytes = kTypes[i].bytes;
    }
  if (bytes == 0)
    return fail(message, "the map has elements of an unknown type");
  arguments->swizzle = -1;
  for (size_t i = 0; i < sizeof(kSwizzles) / sizeof(*kSwizzles); ++i)
    if (kSwizzles[i].bytes == map->swizzle)
      arguments->swizzle = kSwizzles[i].swizzle;
  if (arguments->swizzle < 0)
    return fail(message, "the map has a swizzle of %" PRIu32 " bytes",
                map->swizzle);

  int empty = 0;
  for (uint32_t i = 0; i < tensor->rank; ++i)
    empty |= tensor->shape[i] == 0;
  unsigned seen = 0;
  for (uint32_t i = 0; i < map->count; ++i) {
    uint32_t dim = map->dims[i];
    if (dim >= map->rank || (seen & (1u << dim)) != 0)
      return fail(message, "the dimensions of the map are not the tensor's");
    seen |= 1u << dim;
    if (map->box[i] < 1 || map->box[i] > kMaxBox)
      return fail(message, "the map copies %" PRIu32 " elements at once",
                  map->box[i]);
    int64_t extent = tensor->shape[dim], stride = tensor->strides[dim];
    if (extent < 0 || extent > INT32_MAX)
      return fail(message,
                  "extent %" PRIu32 " is %" PRId64 ", must be below 2^31", dim,
                  extent);
    // The map of a tensor without elements has one element, which is zero.
    arguments->extents[i] = empty ? 1 : (uint64_t)extent;
    arguments->box[i] = map->box[i];
    arguments->steps[i] = 1;
    if (i == 0) {
      if (!empty && extent > 1 && stride != 1)
        return fail(message, "stride %" PRIu32 " is %" PRId64 ", must be 1",
                    dim, stride);
      continue;
    }
    int isRagged = map->isRagged && dim == map->ragged;
    if (isRagged) {
      if (extent > RAGGED_ROWS)
        return fail(message,
                    "extent %" PRIu32 " is %" PRId64
                    ", must be at most 2^30 for sequences in it",
                    dim, extent);
      arguments->extents[i] = empty ? 1 : RAGGED_ROWS;
    }
    if (empty || extent <= 1) {
      arguments->strides[i - 1] = kUnit;
      continue;
    }
    int64_t most = isRagged ? RAGGED_BYTES : MAX_STRIDE;
    if (stride < 0 || stride >= most / bytes || stride * bytes % kUnit != 0)
      return fail(message,
                  "stride %" PRIu32 " is %" PRId64
                  ", must be divisible by %" PRId64 " and below 2^%d bytes",
                  dim, stride, kUnit / bytes, isRagged ? 35 : 40);
    arguments->strides[i - 1] = (uint64_t)(stride * bytes);
  }
  arguments->rank = map->count;
  if (hasOffsets && addOffsets(map, tensor, seen, bytes, empty,
                               arguments->rank++, arguments, message) != 0)
    return -1;
  for (uint32_t i = 1; map->isRagged && i < map->count; ++i) {
    if (map->dims[i] != map->ragged)
      continue;
    uint64_t stride = arguments->strides[i - 1];
    arguments->strides[arguments->rank - 1] = stride;
    arguments->strides[arguments->rank] =
        empty ? stride : (uint64_t)RAGGED_BYTES - stride;
    for (int more = 0; more < kRaggedDims; ++more) {
      arguments->extents[arguments->rank] = empty ? 1 : RAGGED_EXTENT;
      arguments->box[arguments->rank] = 1;
      arguments->steps[arguments->rank++] = 1;
    }
  }
  arguments->address = empty ? tensor->zeros : tensor->address;
  if (empty && arguments->address == 0)
    return fail(message,
                "a tensor without elements needs the address of 16 zeros");
  if (arguments->address == 0 || arguments->address % kUnit != 0)
    return fail(message,
                "address 0x%" PRIx64 " must be aligned to 16 bytes and not 0",
                arguments->address);
  arguments->promotion = kPromotion;
  return 0;
}

int tileEncodeTensorMap(const TileTensorMap *map,
                        const TileTensorMapTensor *tensor,
                        TileTensorMapEncoder encode, void *encoded,
                        char *message) {
  TileTensorMapArguments arguments;
  if (tileTensorMapArguments(map, tensor, &arguments, message) != 0)
    return -1;
  if ((uintptr_t)encoded % TILE_TENSOR_MAP_ALIGNMENT != 0)
    return fail(message, "the map must be aligned to 64 bytes");
  int status = encode(encoded, arguments.type, arguments.rank,
                      (void *)(uintptr_t)arguments.address, arguments.extents,
                      arguments.strides, arguments.box, arguments.steps,
                      arguments.interleave, arguments.swizzle,
                      arguments.promotion, arguments.fill);
  if (status != 0)
    fail(message, "cuTensorMapEncodeTiled returned %d", status);
  return status;
}
