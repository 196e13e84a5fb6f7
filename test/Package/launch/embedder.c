//===- embedder.c - A launcher in C, up to the launch ---------------------===//
//
// Reads a manifest (first argument), checks arguments of the kernel `attention`
// (f16 tensors [2, 256, 2, 128]), and encodes its tensor maps. A local function
// stands for the driver's encoder. Nothing is launched.
//
//===----------------------------------------------------------------------===//

#include "tile-c/Launch.h"
#include "tile-c/TensorMap.h"
#include <stdio.h>
#include <stdlib.h>

// A program on a machine with a GPU gets the encoder from the driver:
// cuGetProcAddress("cuTensorMapEncodeTiled", ...).
static int encode(void *map, int type, uint32_t rank, void *address,
                  const uint64_t *extents, const uint64_t *strides,
                  const uint32_t *box, const uint32_t *steps, int interleave,
                  int swizzle, int promotion, int fill) {
  (void)map, (void)address, (void)steps;
  printf("type %d, %u dimensions, extents", type, (unsigned)rank);
  for (uint32_t i = 0; i < rank; ++i)
    printf(" %u", (unsigned)extents[i]);
  printf(", strides");
  for (uint32_t i = 0; i + 1 < rank; ++i)
    printf(" %u", (unsigned)strides[i]);
  printf(", box");
  for (uint32_t i = 0; i < rank; ++i)
    printf(" %u", (unsigned)box[i]);
  printf(", swizzle %d, %d %d %d\n", swizzle, interleave, promotion, fill);
  return 0;
}

int main(int argc, char **argv) {
  static char text[1 << 16];
  static _Alignas(
      TILE_TENSOR_MAP_ALIGNMENT) char encoded[8][TILE_TENSOR_MAP_BYTES];
  static const int64_t shape[] = {2, 256, 2, 128},
                       strides[] = {256 * 2 * 128, 2 * 128, 128, 1};
  static const int64_t lseShape[] = {2, 2, 256}, lseStrides[] = {512, 256, 1};
  static const int64_t shorter[] = {2, 255, 2, 128};
  char message[TILE_TENSOR_MAP_MESSAGE] = "";
  TileTensorMap maps[8];
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  if (!file || fread(text, 1, sizeof(text) - 1, file) == 0)
    return EXIT_FAILURE;
  fclose(file);
  TileLaunchArgument tensor = {"f16", 0x10000, 4, shape, strides, 0, 0, 0};
  TileLaunchArgument arguments[6] = {
      tensor,
      tensor,
      tensor,
      tensor,
      {"f32", 0x20000, 3, lseShape, lseStrides, 0, 0, 0},
      {NULL, 0, 0, NULL, NULL, 1, 0.125, 0}};
  int64_t grid[3];
  // The kernel would write after the end of this shorter output tensor.
  arguments[3].shape = shorter;
  if (tileCheckLaunch(text, "attention", arguments, 6, 0, grid, message) == 0)
    return EXIT_FAILURE;
  printf("refused: %s\n", message);
  arguments[3].shape = shape;
  if (tileCheckLaunch(text, "attention", arguments, 6, 0, grid, message) != 0) {
    fprintf(stderr, "%s\n", message);
    return EXIT_FAILURE;
  }
  printf("blocks: %d\n", (int)(grid[0] * grid[1] * grid[2]));
  int count = tileReadTensorMaps(text, "attention", maps, 8, message);
  for (int i = 0; i < count; ++i) {
    TileTensorMapTensor tensor = {0x10000u * (maps[i].argument + 1), 4, shape,
                                  strides, 0};
    if (tileEncodeTensorMap(&maps[i], &tensor, encode, encoded[i], message))
      count = -1;
  }
  if (count < 0)
    fprintf(stderr, "%s\n", message);
  return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
