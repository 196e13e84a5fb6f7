//===- Executor.h - C interface of the executor -----------------*- C -*-===//
//
// The executor runs compiled kernels on the CPU (tile/Executor/Executor.h).
// Several threads may call these functions at once, but not with the same
// program.
//
//===--------------------------------------------------------------------===//
#ifndef TILE_C_EXECUTOR_H
#define TILE_C_EXECUTOR_H

#include "tile-c/Compile.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TileExecutorProgram TileExecutorProgram;

/// One argument: a tensor if `type` is not null, else a number.
typedef struct {
  void *data;
  /// The element type: `f16`, `bf16`, `f32`, `f64`, `i8`, `i32` or `i64`.
  const char *type;
  int64_t rank;
  /// Extents and strides in elements, the outermost dimension first.
  const int64_t *shape, *strides;
  /// The value of a number: `real` if `isReal` is not zero, else `integer`.
  int isReal;
  double real;
  int64_t integer;
} TileExecutorArgument;

/// Compiles the tile IR `source` for the chip of `options` and this machine.
/// Diagnostics name the program `name`. With `checks`, runs check every memory
/// access; with `statistics`, they count instructions and bytes. Returns null
/// on failure. Sets `message` to the diagnostics, or to null if there are none;
/// the caller frees it with tileExecutorFree.
TileExecutorProgram *tileExecutorCompile(const char *source, const char *name,
                                         const TileCompileOptions *options,
                                         int checks, int statistics,
                                         char **message);

/// Returns the parameters of all kernels as a JSON array of objects with
/// "name", "type", "buffer" and "written". The caller frees it with
/// tileExecutorFree.
char *tileExecutorParameters(TileExecutorProgram *program);

/// Returns the manifest of the kernels (docs/Manifest.md) as JSON text. The
/// caller frees it with tileExecutorFree.
char *tileExecutorManifest(TileExecutorProgram *program);

/// Hands what kernels print (tile.print) to `print`, with `context`, instead of
/// the standard output. The threads of a run call it one at a time. Null stands
/// for the standard output.
void tileExecutorSetPrint(TileExecutorProgram *program,
                          void (*print)(const char *text, void *context),
                          void *context);

/// Runs all kernels in order, with one argument for each parameter. `grid` is
/// the number of blocks in three dimensions, or null for that of the manifest.
/// `jobs` is the number of host threads, 0 for one per core. Returns 0 on
/// success. `message` is set as by tileExecutorCompile.
int tileExecutorRun(TileExecutorProgram *program,
                    const TileExecutorArgument *arguments, size_t count,
                    const int64_t *grid, unsigned jobs, char **message);

/// Returns the statistics of the last run, for a program that was compiled with
/// them. The result is a JSON array with an object for each kernel that ran to
/// its end: "kernel", "blocks", the "instructions" of warps by their kind,
/// "global_read", "global_written", "shared_read" and "shared_written" in
/// bytes, "shared_sweeps" (passes over the shared memory banks) and
/// "bank_conflicts". The caller frees it with tileExecutorFree.
char *tileExecutorStatistics(TileExecutorProgram *program);

/// Destroys a program; null is ignored.
void tileExecutorDestroy(TileExecutorProgram *program);

/// Frees a string that one of these functions returned.
void tileExecutorFree(char *text);

#ifdef __cplusplus
}
#endif

#endif // TILE_C_EXECUTOR_H
