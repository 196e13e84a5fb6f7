//===- RolePlan.h - Warp roles, registers and stages ------------*- C++ -*-===//
//
// Chooses the producers, the registers and the stages of a kernel with warp
// roles. tile-choose-roles asks for a kernel whose tiles have layouts, and the
// cost model for tiles without layouts: both get the same roles from the same
// estimates.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_ROLEPLAN_H
#define TILE_ANALYSIS_ROLEPLAN_H

#include "tile/Chips/Chips.h"
#include "tile/Chips/Mma.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tile {

/// Returns the blocks of `warps` warps for which a multiprocessor has
/// registers and threads if each thread has `registers` registers. Not less
/// than 1.
int64_t countResidentBlocks(const Chip &chip, int64_t warps, int64_t registers);

/// Returns the bytes of shared memory of each of `blocks` blocks of a
/// multiprocessor.
int64_t getSharedLimit(const Chip &chip, int64_t blocks);

/// Returns the most columns of one instruction that divide `columns`, those of
/// a warpgroup.
int64_t chooseColumns(const Mma &mma, int64_t columns);

/// Returns the registers that a thread needs to issue an asynchronous MMA if a
/// warpgroup has `columns` columns of the product; 0 for other MMAs. ptxas
/// refuses the instruction if each thread of the block starts with fewer
/// (error C7602), whatever setmaxnreg gives to its role.
int64_t getIssueRegisters(const Mma &mma, int64_t columns);
/// Returns these registers for a product whose accumulator has a layout.
int64_t getIssueRegisters(DotOp dot);

/// Returns the most registers of a thread that computes, if `warps` warps
/// compute and a warpgroup of producers gives them its registers.
int64_t getMostConsumerRegisters(const Chip &chip, int64_t warps);

/// Refuses a block of `warps` warps that starts with fewer registers than an
/// MMA needs (getIssueRegisters).
Refusal checkIssueRegisters(const Chip &chip, int64_t warps,
                            int64_t issueRegisters);

/// Refuses a kernel whose grid cannot become a loop over works (tile-persist)
/// on `chip`, which is null if it is not known.
Refusal checkPersistence(KernelOp kernel, const Chip *chip);

/// Cycles after which a multiprocessor starts another block (H200: blocks of
/// one warp that load 2 KB).
inline constexpr double kBlockLaunchCycles = 146;

/// The use of memory by a block of a kernel without products, whose tiles stand
/// outside of loops.
struct BlockAccesses {
  /// Bytes of the tiles that it loads for itself, and of all that it loads and
  /// stores.
  int64_t loaded = 0, moved = 0;
  /// Whether its warps wait for each other.
  bool waitsForOthers = false;
};

/// Returns true if a kernel without products is faster as a loop over works
/// that loads the tiles of the next work during one. A multiprocessor has
/// `resident` blocks of clusters of `clusterBlocks`.
bool loadsNextWork(const Chip &chip, int64_t clusterBlocks, int64_t resident,
                   const BlockAccesses &accesses);

/// How results leave a kernel with roles: from registers; by TMA through two
/// staging buffers for parts of a tile, which take turns; or by TMA through a
/// staging buffer for a tile.
enum class StoreStaging { None, Parts, Whole };

/// Bytes of a row of such a part: those of the widest swizzle of TMA.
inline constexpr int64_t kStagedRowBytes = 128;

/// The facts about a kernel from which its roles follow.
struct RoleRequest {
  const Chip &chip;
  /// The author's fields, which remain.
  Schedule given;
  /// The warps that compute.
  int64_t warps;
  /// The estimated registers of a thread that computes (Registers.h).
  int64_t registers;
  /// The largest getIssueRegisters() of the products.
  int64_t issueRegisters;
  /// The most stages of the tiles that are copied once for each work, if the
  /// kernel can be persistent; else 0.
  int64_t mostWorkStages;
  /// Refuses a schedule with which the kernel takes more than `limit` bytes of
  /// shared memory.
  llvm::function_ref<Refusal(const Schedule &schedule, StoreStaging staging,
                             int64_t limit)>
      checkMemory;
  /// Returns true if a kernel without roles copies element by element.
  llvm::function_ref<bool()> copiesElements;
  /// Whether a loop adds tiles to global memory that TMA can add.
  bool addsTiles = false;
};

struct RolePlan {
  /// The given schedule with `producers`, `stages`, where roles exchange
  /// registers `registers`, where TMA adds tiles `storers`, and in a persistent
  /// kernel `work_stages`.
  Schedule schedule;
  /// Registers that a thread that computes may use.
  int64_t registers = 0;
  /// Blocks of a multiprocessor for which the stages leave room.
  int64_t blocks = 1;
  /// Set with a refusal: the kernel could have roles and is faster without.
  bool isSlower = false;
};

/// Plans the roles of a kernel. Refuses a kernel that cannot have roles, or
/// that is faster without them.
Refusal planRoles(const RoleRequest &request, RolePlan &plan);

} // namespace tile

#endif // TILE_ANALYSIS_ROLEPLAN_H
