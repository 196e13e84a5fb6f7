//===- Launch.h - C interface to check launch arguments ---------*- C -*-===//
//
// For programs that launch kernels themselves. Before a launch, tileCheckLaunch
// checks the arguments against the kernel's manifest and computes the grid
// (docs/Manifest.md). A kernel that is launched with other arguments accesses
// memory out of bounds or computes wrong results.
//
//   char message[TILE_LAUNCH_MESSAGE];
//   int64_t grid[3];
//   if (tileCheckLaunch(manifest, "attention", arguments, 5, 132, grid,
//                       message))
//     ... // the message says why
//
// tileFindScratch says how large the scratch buffers of kernels must be.
//
// The library, libTileLaunchC, needs neither the compiler nor CUDA nor HIP.
//
//===--------------------------------------------------------------------===//
#ifndef TILE_C_LAUNCH_H
#define TILE_C_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /// Bytes of the longest message.
  TILE_LAUNCH_MESSAGE = 256,
  /// The most dimensions of a scratch buffer.
  TILE_LAUNCH_RANK = 8
};

/// One argument: a tensor if `type` is not null, else a number.
typedef struct {
  /// The element type: `f16`, `bf16`, `f32`, `f64`, `i8`, `i32` or `i64`.
  const char *type;
  /// The address in GPU memory.
  uint64_t address;
  int64_t rank;
  /// Extents and strides in elements, the outermost dimension first.
  const int64_t *shape, *strides;
  /// The value of a number: `real` if `isReal` is not zero, else `integer`.
  int isReal;
  double real;
  int64_t integer;
} TileLaunchArgument;

/// Checks the arguments of `kernel` against `manifest`, which is JSON text.
/// There is one argument for each parameter except tensor maps. Checked are
/// types, extents, strides, alignment, and the relations between extents. Sets
/// `grid` to the number of blocks, which may depend on the number of
/// `multiprocessors` of the GPU, and returns 0. Where that number is 0, it is
/// that of the largest part of the chip. Returns -1 if an argument does
/// not fit, if there is no such kernel or if the manifest is malformed; writes
/// the reason to `message`, which has room for TILE_LAUNCH_MESSAGE bytes or is
/// null.
int tileCheckLaunch(const char *manifest, const char *kernel,
                    const TileLaunchArgument *arguments, size_t count,
                    int64_t multiprocessors, int64_t grid[3], char *message);

/// The element type and the smallest shape of a dense scratch buffer.
typedef struct {
  char type[8];
  int64_t rank;
  int64_t shape[TILE_LAUNCH_RANK];
} TileLaunchScratch;

/// Finds the smallest dense scratch buffer for the parameter `name` that all
/// kernels of `manifest` accept. `names` and `arguments` hold the `count`
/// arguments that are not scratch: the shapes of tensors, whose addresses and
/// strides do not matter, and the integers that extents depend on. Returns 0,
/// or -1 if there is no such buffer or the manifest does not determine its
/// shape, with the reason in `message` as for tileCheckLaunch.
int tileFindScratch(const char *manifest, const char *name,
                    const char *const *names,
                    const TileLaunchArgument *arguments, size_t count,
                    TileLaunchScratch *scratch, char *message);

#ifdef __cplusplus
}
#endif

#endif // TILE_C_LAUNCH_H
