//===- Chips.h - The chips, one row each ------------------------*- C++ -*-===//
//
// All facts about a chip that passes use are columns of this table. To add a
// chip, add a row in lib/Chips/Chips.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CHIPS_CHIPS_H
#define TILE_CHIPS_CHIPS_H

#include "tile/Layout/Banks.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace tile {

enum class Vendor { NVIDIA, AMD };

/// The warps of a warpgroup, which execute wgmma and setmaxnreg together (PTX
/// ISA, "wgmma" and "setmaxnreg").
inline constexpr int64_t kWarpgroupWarps = 4;

/// The most threads of a block on all chips, and the most warps of 32 threads.
inline constexpr int64_t kMostThreads = 1024, kMostWarps = kMostThreads / 32;

/// The most blocks of a cluster, and the most warps of its blocks.
inline constexpr int64_t kMostClusterBlocks = 8,
                         kMostClusterWarps = kMostClusterBlocks * kMostWarps;

/// The most warps of a block that belongs to a cluster, as long as the cluster
/// may have more blocks. Several such blocks fit a multiprocessor, so that one
/// loads while another one waits or stores: four with 64 registers for each
/// thread.
inline constexpr int64_t kClusterBlockWarps = 8;

/// Asynchronous copies from global to shared memory.
struct AsyncCopy {
  enum Mechanism {
    None,
    /// cp.async: each thread copies to an address of its own and waits for
    /// groups of its copies.
    CpAsync,
    /// global_load_lds: a wave fills contiguous memory, one part per lane in
    /// the order of the lanes, and waits by its counter of memory operations.
    DirectToLDS
  } mechanism = None;
  /// The sizes, in bytes, of the copy of one lane, the largest first.
  llvm::ArrayRef<int64_t> bytes = {};
  /// Loops use these copies even if the schedule does not ask for stages.
  bool isDefault = false;
};

/// How one instruction of a thread has two results of f32 arithmetic.
enum class F32Pairs {
  None,
  /// The operands are pairs of registers.
  Packed,
  /// Two operations are issued together if their operands are in different
  /// banks of registers.
  Dual
};

/// The peak rates of a multiprocessor or compute unit in one clock cycle, and
/// the resources that its blocks share. Predictions of time read it.
struct Throughput {
  /// Operations of dense MMAs with operands of 16, 32 and 8 bits; an FMA is two
  /// of them. 0 if the chip has no such instruction.
  int64_t matrix, matrix32, matrix8;
  /// Results of f32 arithmetic, and of exp2.
  int64_t arithmetic, exponentials;
  F32Pairs pairs;
  /// Bytes that shared memory reads or writes.
  int64_t sharedBytes;
  /// Bytes that come through the second-level cache while all multiprocessors
  /// read.
  int64_t cacheBytes;
  /// Bytes of global memory for each multiprocessor.
  int64_t memoryBytes;
  /// 32-bit registers, threads and blocks that run at once.
  int64_t registers, threads, blocks;
};

struct Chip {
  llvm::StringLiteral name;
  Vendor vendor;
  /// Threads of a warp (NVIDIA) or wave (AMD).
  int64_t warpSize;
  /// Multiprocessors or compute units of the largest product with this chip.
  int64_t processors;
  Throughput throughput;
  /// Bytes of the second-level cache, or of a cache behind it.
  int64_t cacheSize;
  /// Bytes of shared memory (LDS) that one block may use, opt-in included.
  int64_t sharedBytes;
  /// Number of banks of shared memory that a read uses, of 4 bytes each.
  unsigned banks;
  /// 32-bit registers that a thread may use.
  int64_t maxRegisters;
  /// Bytes of the widest load or store of one thread, global and shared.
  int64_t maxGlobalAccess, maxSharedAccess;
  AsyncCopy asyncCopy;
  /// ldmatrix (sm_75 and later) and stmatrix (sm_90 and later).
  bool ldmatrix, stmatrix;
  /// TMA and the reallocation of registers among warps, setmaxnreg (sm_90a and
  /// later chips with the suffix "a"). It does not imply asynchronous products.
  bool bulkCopy;
  /// Blocks of a cluster, which run at the same time and access the shared
  /// memory of each other; 1 without clusters.
  int64_t clusterBlocks;
  /// Programmatic dependent launch: kernels that start before the previous one
  /// has ended (sm_90 and later).
  bool dependentLaunch;
  /// The PTX ISA version of the generated code, times ten (LLVM's +ptxNN); 0 on
  /// AMD.
  unsigned ptxVersion;
  /// The last word of a buffer descriptor on AMD: no format, no swizzle, bounds
  /// checks by its bytes. 0 on NVIDIA.
  uint32_t bufferFlags;
  /// The features of LLVM's target on AMD.
  llvm::StringLiteral features;
  /// The cache policy of an AMD instruction of device scope.
  uint32_t devicePolicy;
  /// MMA instructions: names of rows of Mma.h, the preferred one first.
  llvm::ArrayRef<llvm::StringLiteral> mma;
  /// Atomic instructions: names of rows of Atomics.h.
  llvm::ArrayRef<llvm::StringLiteral> atomics;
  /// Reads of the LDS that transpose elements of 16 bits, 4 of each lane, among
  /// 16 lanes (ds_read_b64_tr_b16, gfx950).
  bool transposingReads = false;
  /// The order in which blocks of 4 lanes are served by a read of 16 bytes of
  /// each lane; their own order if empty (Banks).
  llvm::ArrayRef<uint8_t> readBlocks = {};
  /// Number of banks that a store uses; that of a read if 0.
  unsigned storeBanks = 0;
  /// Dies with a second-level cache of their own, to which the hardware gives
  /// consecutive blocks in turn.
  int64_t dies = 1;
  /// Clusters of 1, 2, ... blocks that run at once if each multiprocessor has
  /// room for one block. A cluster has its blocks in one group of
  /// multiprocessors, so some of these stay idle. If empty, an eighth does.
  llvm::ArrayRef<uint8_t> clusters = {};

  /// Returns how reads and stores use the banks of shared memory.
  Banks getReadBanks() const { return {banks, readBlocks}; }
  Banks getStoreBanks() const { return storeBanks ? storeBanks : banks; }
};

/// Returns the blocks that share the `warps` warps of a program: one, if a
/// block may have so many, else those of a cluster.
int64_t countClusterBlocks(const Chip &chip, int64_t warps);

/// Returns how many blocks run at once in clusters of `blocks` blocks, if a
/// multiprocessor has room for `resident` blocks.
int64_t countClusterPlaces(const Chip &chip, int64_t resident, int64_t blocks);

/// Returns all chips, in the order of --chip=help.
llvm::ArrayRef<Chip> chips();
/// Returns the chip of that name, or null.
const Chip *findChip(llvm::StringRef name);

} // namespace tile

#endif // TILE_CHIPS_CHIPS_H
