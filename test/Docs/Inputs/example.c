// The names that examples in the comments of headers in C use. code_blocks.py
// puts each example into a function after this text and compiles it.
#include "tile-c/Compile.h"
#include "tile-c/Executor.h"
#include "tile-c/Launch.h"
#include "tile-c/TensorMap.h"
#include <string.h>

extern const char *text, *manifest;
extern TileLaunchArgument arguments[5];
extern TileTensorMapTensor tensors[4];
extern char encoded[4][TILE_TENSOR_MAP_BYTES];
void print(const TileDiagnostic *diagnostic, void *userData);
int encode(void *map, int type, uint32_t rank, void *address,
           const uint64_t *extents, const uint64_t *strides,
           const uint32_t *box, const uint32_t *steps, int interleave,
           int swizzle, int promotion, int fill);
