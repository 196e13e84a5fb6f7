//===- Chips.h - The chips, one row each ------------------------*- C++ -*-===//
//
// Everything that a pass may ask of a chip is a column of this table. Adding a
// chip is adding a row in lib/Target/Chips.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_CHIPS_H
#define TILE_TARGET_CHIPS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace tile {

enum class Vendor { NVIDIA, AMD };

struct Chip {
  llvm::StringLiteral name;
  Vendor vendor;
  /// Threads of a warp (NVIDIA) or wave (AMD).
  int64_t warpSize;
  /// Multiprocessors or compute units of the largest part of this chip: as many
  /// blocks run at once that fill one each.
  int64_t processors;
  /// Bytes of shared memory (LDS) that one block may use, opt-in included.
  int64_t sharedBytes;
  /// Shared memory banks of 4 bytes.
  unsigned banks;
  /// 32-bit registers a thread may use.
  int64_t maxRegisters;
  /// Bytes of the widest load or store of one thread, global and shared.
  int64_t maxGlobalAccess, maxSharedAccess;
  /// cp.async global -> shared (sm_80 and later).
  bool asyncCopy;
  /// ldmatrix (sm_75 and later) and stmatrix (sm_90 and later).
  bool ldmatrix, stmatrix;
  /// Copies of whole tiles by the copy engine, TMA (sm_90 and later), and
  /// registers that warps pass on.
  bool bulkCopy;
  /// Kernels that start before the one in front of them has ended, programmatic
  /// dependent launch (sm_90 and later).
  bool dependentLaunch;
  /// PTX ISA version that the generated code is written for, times ten
  /// (LLVM's +ptxNN); 0 on AMD.
  unsigned ptxVersion;
  /// The last word of a buffer descriptor on AMD: no format, no swizzle, bounds
  /// checked against its bytes. 0 on NVIDIA.
  uint32_t bufferFlags;
  /// The cache policy of an AMD instruction that acts for the whole device.
  uint32_t devicePolicy;
  /// Matrix instructions, names of rows of Mma.h, the preferred one first.
  llvm::ArrayRef<llvm::StringLiteral> mma;
  /// Atomic instructions, names of rows of Atomics.h.
  llvm::ArrayRef<llvm::StringLiteral> atomics;
};

/// All chips, in the order in which --chip=help lists them.
llvm::ArrayRef<Chip> chips();
/// The chip of that name, or null.
const Chip *findChip(llvm::StringRef name);

} // namespace tile

#endif // TILE_TARGET_CHIPS_H
