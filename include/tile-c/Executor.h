//===- Executor.h - Kernels on the CPU, from C ------------------*- C -*-===//
//
// See tile/Target/CPU/Executor.h. Functions may be called by several threads,
// but only by one at a time with the same program.
//
//===--------------------------------------------------------------------===//
#ifndef TILE_C_EXECUTOR_H
#define TILE_C_EXECUTOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TileExecutorProgram TileExecutorProgram;

/// A tensor if `type` is set, else a number.
typedef struct {
  void *data;
  /// `f16`, `bf16`, `f32`, `f64`, `i32` or `i64`.
  const char *type;
  int64_t rank;
  /// Both in elements.
  const int64_t *shape, *strides;
  /// Of a number: `isReal` says which of the two counts.
  int isReal;
  double real;
  int64_t integer;
} TileExecutorArgument;

/// Compiles a program of tile IR, whose messages call it `name`, for `chip` and
/// this machine. With `checks`, runs watch every access to memory; with
/// `statistics`, they count what they do. Returns null on failure. `message`,
/// to be freed by the caller, gets the diagnostics, or null if there are none.
TileExecutorProgram *tileExecutorCompile(const char *source, const char *name,
                                         const char *chip, int checks,
                                         int statistics, char **message);

/// The parameters of all kernels as a JSON array of objects with "name",
/// "type", "buffer" and "written"; to be freed by the caller.
char *tileExecutorParameters(TileExecutorProgram *program);

/// Runs all kernels with one argument for each parameter. `grid` is three
/// extents, or null for those of the manifest; `jobs` the number of threads of
/// this machine, 0 for one for each core. Returns 0 on success.
int tileExecutorRun(TileExecutorProgram *program,
                    const TileExecutorArgument *arguments, size_t count,
                    const int64_t *grid, unsigned jobs, char **message);

/// What the last run of a program that counts did: a JSON array with an object
/// for each kernel that ran to its end, with "kernel", "blocks", the
/// "instructions" of warps by their kind, "global_read", "global_written",
/// "shared_read" and "shared_written" in bytes, "shared_sweeps" and
/// "bank_conflicts". To be freed by the caller.
char *tileExecutorStatistics(TileExecutorProgram *program);

void tileExecutorDestroy(TileExecutorProgram *program);

/// Frees what these functions return.
void tileExecutorFree(char *text);

#ifdef __cplusplus
}
#endif

#endif // TILE_C_EXECUTOR_H
