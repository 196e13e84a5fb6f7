//===- Compile.h - From a tile module to an artifact ------------*- C++ -*-===//
//
// The entry point for tile-translate, the C API and Python.
//
//   tile::CompileOptions options;
//   options.chip = "sm_90a";
//   llvm::FailureOr<tile::Artifact> artifact =
//       tile::compile(module, tile::OutputKind::PTX, options);
//
// Errors are diagnostics of the module's context. No input aborts the process.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DRIVER_COMPILE_H
#define TILE_DRIVER_COMPILE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace tile {

enum class OutputKind { LLVMIR, PTX, HSACO };

struct CompileOptions {
  /// The name of a row of Chips.h. Required unless the module names its target.
  std::string chip;
  /// LLVM's optimization level, 0 to 3.
  unsigned optLevel = 3;
  /// Fail if a kernel has no tile_gpu.manifest, as a
  /// handwritten kernel may. Without this option the manifest is then null.
  bool requireManifest = false;
  /// Emit the source location of each instruction in the LLVM IR.
  bool sourceLocations = false;
  /// Fields of the schedules of the kernels, as tile-apply-schedule takes them.
  std::string schedule;
  /// The problem that open extents are chosen for, as tile-close-extents takes
  /// it.
  std::string sizes;
  /// The candidates for open extents that remarks show.
  unsigned candidates = 6;
  /// A folder of files of schedules that replace the compiler's; if empty, that
  /// of the environment variable TILE_SCHEDULES.
  std::string schedules;
  /// Keep the assertions of kernels (tile-strip-assertions removes them).
  bool assertions = true;
};

/// Seconds of wall time of one stage.
struct StageTime {
  std::string stage;
  double seconds;
};

struct Artifact {
  OutputKind kind;
  /// LLVM IR or PTX as text, or the bytes of the code object.
  std::string data;
  /// See docs/Manifest.md: {"version": 2, "chip": ..., "kernels": [...]}.
  llvm::json::Value manifest = nullptr;
  std::vector<StageTime> times;
};

/// Lowers `module`, which may be at any stage from S0 to S6, in place, and
/// translates it. On failure a diagnostic has been emitted.
llvm::FailureOr<Artifact> compile(mlir::ModuleOp module, OutputKind kind,
                                  const CompileOptions &options);

} // namespace tile

#endif // TILE_DRIVER_COMPILE_H
