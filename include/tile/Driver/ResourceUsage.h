//===- ResourceUsage.h - Resources of compiled kernels ----------*- C++ -*-===//
//
// Registers, spills and memory of the kernels of an artifact. For a code object
// they come from its metadata, for PTX from the output of ptxas.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DRIVER_RESOURCEUSAGE_H
#define TILE_DRIVER_RESOURCEUSAGE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tile {

struct KernelResources {
  std::string name;
  /// 32-bit registers of a thread; on AMD, vector registers.
  int64_t registers = 0;
  /// Scalar registers of a wave (AMD).
  std::optional<int64_t> scalarRegisters;
  /// Bytes that a thread spills. On AMD each spilled register counts once.
  int64_t spillBytes = 0;
  /// Bytes of a thread's private memory, including spills.
  int64_t stackBytes = 0;
  /// Bytes of static shared memory.
  int64_t sharedBytes = 0;
  /// Bytes of kernel arguments.
  std::optional<int64_t> argumentBytes;
  /// Threads of a wave (AMD).
  std::optional<int64_t> waveSize;
  /// The most threads of a block (AMD).
  std::optional<int64_t> blockThreads;
  /// The warnings of the assembler for this artifact.
  std::vector<std::string> warnings;
};

/// Reads the metadata of an AMD code object.
llvm::Expected<std::vector<KernelResources>>
readCodeObjectResources(llvm::StringRef codeObject);

/// Returns the chip that an AMD code object is for, for example "gfx942".
llvm::Expected<std::string> readCodeObjectChip(llvm::StringRef codeObject);

/// Returns the path of ptxas: on PATH, in $CUDA_PATH, $CUDA_HOME or
/// /usr/local/cuda.
std::optional<std::string> findPtxas();

/// Assembles PTX with the ptxas at that path and parses its output.
llvm::Expected<std::vector<KernelResources>>
readPtxResources(llvm::StringRef ptx, llvm::StringRef chip,
                 llvm::StringRef ptxas);

/// Emits the remark `registers-spilled` at each kernel of `module`, which has
/// been compiled, that spills registers.
void reportSpills(mlir::ModuleOp module,
                  llvm::ArrayRef<KernelResources> kernels);

/// Returns one line of the output of `tile-translate --resources`.
llvm::json::Value toJSON(const KernelResources &resources);

} // namespace tile

#endif // TILE_DRIVER_RESOURCEUSAGE_H
