//===- Launch.h - What a manifest asks of arguments, from C -----*- C -*-===//
//
// A program with a launcher of its own checks, before it launches a kernel, that
// the arguments are what the kernel was compiled for, and gets the number of
// blocks (docs/Manifest.md). A kernel that is launched with others reads and
// writes where it must not, or is silently wrong.
//
//   char message[TILE_LAUNCH_MESSAGE];
//   int64_t grid[3];
//   if (tileCheckLaunch(manifest, "attention", arguments, 5, grid, message))
//     ... // the message says why
//
// Needs LLVM, which parses the JSON, but nothing of CUDA or HIP.
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
  TILE_LAUNCH_MESSAGE = 256
};

/// A tensor if `type` is set, else a number.
typedef struct {
  /// `f16`, `bf16`, `f32`, `f64`, `i32` or `i64`.
  const char *type;
  /// In the memory of the GPU.
  uint64_t address;
  int64_t rank;
  /// Both in elements, the outermost dimension first.
  const int64_t *shape, *strides;
  /// Of a number: `isReal` says which of the two counts.
  int isReal;
  double real;
  int64_t integer;
} TileLaunchArgument;

/// Checks one argument for each parameter of `kernel` but its tensor maps, by a
/// manifest, JSON text: types, extents, strides, alignment, and what extents
/// must be to each other. Sets `grid` to the number of blocks and returns 0, or
/// -1 if an argument does not fit, if there is no such kernel or if the manifest
/// is malformed. `message` has room for TILE_LAUNCH_MESSAGE bytes and gets the
/// reason; it may be null.
int tileCheckLaunch(const char *manifest, const char *kernel,
                    const TileLaunchArgument *arguments, size_t count,
                    int64_t grid[3], char *message);

#ifdef __cplusplus
}
#endif

#endif // TILE_C_LAUNCH_H
