//===- ResourceUsage.h - What a compiled kernel uses ------------*- C++ -*-===//
//
// Registers, spills and memory of the kernels of an artifact: of a code object
// from its metadata, of PTX from what ptxas says when it assembles it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_RESOURCEUSAGE_H
#define TILE_TARGET_RESOURCEUSAGE_H

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
  /// 32-bit registers of a thread; of AMD's, the vector registers.
  int64_t registers = 0;
  /// Registers of a wave (AMD).
  std::optional<int64_t> scalarRegisters;
  /// Bytes that a thread stores because it has too few registers. On AMD each
  /// spilled register counts once.
  int64_t spillBytes = 0;
  /// Bytes of a thread's private memory, spills included.
  int64_t stackBytes = 0;
  /// Bytes of shared memory that need not be requested at launch.
  int64_t sharedBytes = 0;
  /// Bytes of kernel arguments.
  std::optional<int64_t> argumentBytes;
  /// Threads of a wave (AMD).
  std::optional<int64_t> waveSize;
  /// What the assembler warned of in this artifact.
  std::vector<std::string> warnings;
};

/// Reads the metadata of an AMD code object.
llvm::Expected<std::vector<KernelResources>>
readCodeObjectResources(llvm::StringRef codeObject);

/// The path of ptxas: on PATH, in $CUDA_PATH, $CUDA_HOME or /usr/local/cuda.
std::optional<std::string> findPtxas();

/// Assembles PTX with the ptxas at that path and reads what it prints.
llvm::Expected<std::vector<KernelResources>>
readPtxResources(llvm::StringRef ptx, llvm::StringRef chip,
                 llvm::StringRef ptxas);

/// One line, as `tile-translate --resources` prints.
llvm::json::Value toJSON(const KernelResources &resources);

} // namespace tile

#endif // TILE_TARGET_RESOURCEUSAGE_H
