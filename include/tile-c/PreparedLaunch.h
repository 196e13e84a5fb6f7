//===- PreparedLaunch.h - Launches prepared for repeated use ----*- C -*-===//
//
// Kernels whose arguments are checked already and whose parameters are laid out
// in memory. A launch patches the addresses and the numbers that vary, encodes
// tensor maps for addresses that it has not seen, and calls the CUDA driver.
// The Python package prepares launches this way (python/tile/fast.py).
//
// The functions may be called from several threads at once.
//
//===--------------------------------------------------------------------===//
#ifndef TILE_C_PREPAREDLAUNCH_H
#define TILE_C_PREPAREDLAUNCH_H

#include "tile-c/TensorMap.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Functions of the CUDA driver as cuda.h declares them, with handles as
/// `void *` and CUresult as int.
typedef struct {
  int (*ctxGetCurrent)(void **context);
  int (*ctxPushCurrent)(void *context);
  int (*ctxPopCurrent)(void **context);
  TileTensorMapEncoder tensorMapEncodeTiled;
  int (*launchKernelEx)(const void *config, void *function, void **parameters,
                        void **extra);
} TileDriver;

/// A value of a launch: an address or an integer, or a real number.
typedef union {
  uint64_t word;
  double real;
} TileLaunchValue;

typedef enum {
  /// Eight bytes: an address, i64, index or f64.
  TILE_PATCH_WORD = 0,
  TILE_PATCH_I32 = 1,
  /// A real number, rounded to f32, f16 or bf16.
  TILE_PATCH_F32 = 2,
  TILE_PATCH_F16 = 3,
  TILE_PATCH_BF16 = 4,
  /// One byte, 0 or 1.
  TILE_PATCH_I1 = 5
} TilePatchKind;

/// A parameter that is set at each launch: byte `offset` of the parameters
/// takes the value of index `value`. `kind` is a TilePatchKind.
typedef struct {
  uint32_t offset, value, kind;
} TileParameterPatch;

/// A tensor map of a kernel. The address is the value of index `value`; where
/// `isEmpty` is not zero, it is that of `arguments`, which are zeros.
typedef struct {
  uint32_t value;
  int isEmpty;
  TileTensorMapArguments arguments;
} TilePreparedMap;

/// A kernel and its parameters. All arrays are copied.
typedef struct {
  /// A CUfunction.
  void *function;
  uint32_t grid[3], block[3];
  uint32_t sharedBytes;
  /// Whether the kernel may start before the one in front of it has ended.
  int overlaps;
  /// The parameters with the values that do not change.
  const void *memory;
  size_t memoryBytes;
  const TileParameterPatch *patches;
  size_t patchCount;
  /// The offset of each parameter in `memory`, in their order. The tensor maps
  /// follow these parameters.
  const uint32_t *offsets;
  size_t offsetCount;
  const TilePreparedMap *maps;
  size_t mapCount;
} TilePreparedKernel;

typedef struct TilePreparedLaunch TilePreparedLaunch;

/// Returns a launch of `count` kernels in their order, in `context`, which the
/// functions of the kernels belong to.
TilePreparedLaunch *tilePreparedLaunchCreate(const TileDriver *driver,
                                             void *context,
                                             const TilePreparedKernel *kernels,
                                             size_t count);

/// Launches the kernels on `stream`, a CUstream. Returns 0 or the error of the
/// driver.
int tilePreparedLaunchRun(TilePreparedLaunch *launch,
                          const TileLaunchValue *values, void *stream);

/// No other thread may use the launch.
void tilePreparedLaunchDestroy(TilePreparedLaunch *launch);

#ifdef __cplusplus
}
#endif

#endif // TILE_C_PREPAREDLAUNCH_H
