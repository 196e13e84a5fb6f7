//===- Compile.h - C interface of the compiler ------------------*- C -*-===//
//
// Compiles tile IR to LLVM IR, PTX or an AMD code object; see
// tile/Driver/Compile.h.
//
//   TileContext *context = tileContextCreate();
//   tileContextSetDiagnosticHandler(context, print, NULL);
//   TileModule *module =
//       tileModuleParse(context, text, strlen(text), "a.mlir");
//   TileArtifact *artifact =
//       module ? tileModuleCompile(module, TILE_PTX, NULL) : NULL;
//   ...
//   tileArtifactDestroy(artifact);
//   tileModuleDestroy(module);
//   tileContextDestroy(context);
//
// Several threads may use one context and one artifact at once, but not one
// module. Functions that take a module or an artifact accept null only to
// destroy it.
//
//===--------------------------------------------------------------------===//
#ifndef TILE_C_COMPILE_H
#define TILE_C_COMPILE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Dialects and the handler of diagnostics. Lives longer than its modules.
typedef struct TileContext TileContext;
/// A program.
typedef struct TileModule TileModule;
/// The result of a compilation.
typedef struct TileArtifact TileArtifact;

typedef enum {
  TILE_NOTE,
  TILE_REMARK,
  TILE_WARNING,
  TILE_ERROR,
} TileSeverity;

typedef struct {
  TileSeverity severity;
  const char *message;
  /// Where in the source; `file` is empty and the numbers are 0 if that is not
  /// known. Lines and columns count from 1.
  const char *file;
  unsigned line, column;
  /// The whole diagnostic as the tools print it, with the line of the source.
  const char *text;
} TileDiagnostic;

/// Receives one diagnostic on the thread that called the compiler. Notes follow
/// the diagnostic they belong to. The strings live until the handler returns.
typedef void (*TileDiagnosticHandler)(const TileDiagnostic *diagnostic,
                                      void *userData);

typedef enum {
  TILE_LLVM_IR,
  TILE_PTX,
  /// An AMD code object.
  TILE_HSACO,
} TileOutputKind;

typedef struct {
  /// The chip to compile for (tileChipName); null for the target that the
  /// module names.
  const char *chip;
  /// LLVM's optimization level, 0 to 3.
  int optLevel;
  /// Fail if a kernel has no tile_gpu.manifest. If this is 0,
  /// the manifest of such a module is `null`.
  int requireManifest;
  /// Emit the source location of each instruction.
  int sourceLocations;
  /// Report the optimization remarks of the compiler.
  int remarks;
  /// Fields of the schedules of the kernels, for example "stages = 3" (pass
  /// tile-apply-schedule); null for none.
  const char *schedule;
  /// A folder of files <chip>.mlir that replace the compiler's schedules; null
  /// for that of the environment variable TILE_SCHEDULES.
  const char *schedules;
  /// The problem that open extents are chosen for, for example
  /// "a = 4096x7168, n = 3" (pass tile-close-extents); null for a large one.
  const char *sizes;
  /// The candidates for open extents that remarks show; 0 for six.
  unsigned candidates;
  /// Remove the assertions of kernels (pass tile-strip-assertions).
  int noAssertions;
} TileCompileOptions;

/// Returns the version, for example `Tile 0.1.0, LLVM 22.1.8`.
const char *tileVersion(void);

/// Returns the number of chips, and the name of one; null from the number on.
size_t tileChipCount(void);
const char *tileChipName(size_t index);
/// Returns the most blocks of a cluster of a chip: 1 without clusters; 0 from
/// the number of chips on.
size_t tileChipClusterBlocks(size_t index);

/// Without a handler, diagnostics go to stderr.
TileContext *tileContextCreate(void);
void tileContextSetDiagnosticHandler(TileContext *context,
                                     TileDiagnosticHandler handler,
                                     void *userData);
void tileContextDestroy(TileContext *context);

/// Parses `size` bytes of text or bytecode; `data` need not end with a null
/// character. Diagnostics name the program `name`. Returns null after an error.
TileModule *tileModuleParse(TileContext *context, const char *data, size_t size,
                            const char *name);
void tileModuleDestroy(TileModule *module);

/// Sets `options` to optimization level 3 and the rest to null or 0.
void tileCompileOptionsInit(TileCompileOptions *options);

/// Compiles a copy of the module, which may be compiled again, for another chip
/// too. `options` may be null. Returns null after an error.
TileArtifact *tileModuleCompile(TileModule *module, TileOutputKind kind,
                                const TileCompileOptions *options);

/// Returns text, or the bytes of a code object, followed by a null character.
/// `size` receives the number of bytes before it and may be null.
const char *tileArtifactData(const TileArtifact *artifact, size_t *size);
/// Returns the manifest (docs/Manifest.md) as JSON text.
const char *tileArtifactManifest(const TileArtifact *artifact);
void tileArtifactDestroy(TileArtifact *artifact);

#ifdef __cplusplus
}
#endif

#endif // TILE_C_COMPILE_H
