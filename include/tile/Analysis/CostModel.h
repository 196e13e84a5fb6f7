//===- CostModel.h - Predicted time of a tile program -----------*- C++ -*-===//
//
// Predicts the time of a kernel on tiles without layouts, for given values of
// its open extents and a given number of warps. The time of a loop iteration is
// a p-norm of the cycles of the units that it uses: units overlap, but not
// perfectly. The units are those of a multiprocessor with all its blocks (MMAs,
// exponentials, arithmetic, shared memory, second-level cache) and the serial
// path of one warpgroup (its own MMAs, the gap that the wait for each of them
// leaves, its own arithmetic, latencies that stages do not hide). Blocks run in
// waves of as many as a multiprocessor has registers and shared memory for.
//
// The model ranks candidates; its cycles are off by a few percent, because it
// knows nothing of power, of the instructions that a back end adds or of misses
// in the second-level cache. docs/notes/cost-model.md compares it with
// measurements.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_COSTMODEL_H
#define TILE_ANALYSIS_COSTMODEL_H

#include "tile/Chips/Chips.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/StringMap.h"
#include <array>
#include <memory>

namespace tile {

/// Cycles from the issue of a copy to its arrival from the second-level cache,
/// and those that global memory adds. They are fitted like the other constants
/// of the model (docs/notes/cost-model.md).
inline constexpr double kCopyLatency = 700, kMemoryLatency = 1200;

/// The registers that a thread does without, relative to those of the tiles
/// that a loop copies to shared memory: tile-copy-ahead reads them again behind
/// barriers, and moves tiles of 16 bits from before the loop there, too.
inline constexpr double kSparedRegisters = 1.5;

/// The extents of buffers and the values of scalars that a kernel is compiled
/// for, by the names of its arguments. An extent may be unknown (kDynamic).
using ProblemSizes = llvm::StringMap<llvm::SmallVector<int64_t>>;

/// Returns the name of an argument: its tile.name, or `arg` and its number.
std::string getArgumentName(KernelOp kernel, unsigned argument);

/// Returns true if no two elements of `buffer` are known to lie in one aligned
/// word, so that an access has one element.
bool hasSingleAccesses(BufferType buffer);

/// Values of the parameters of a kernel (an i64 each), its warps, the stages of
/// its rings if they are not those that tile-choose-roles chooses, and the
/// blocks that share the iterations of its loop: of each tile, as a cluster or
/// not, or of the tiles that are left over (Analysis/SplitReduction.h).
struct Candidate {
  mlir::DictionaryAttr params;
  int64_t warps;
  std::optional<int64_t> stages = std::nullopt;
  std::optional<int64_t> split = std::nullopt;
  bool splitsInCluster = false;
  std::optional<int64_t> streamK = std::nullopt;
  /// Whether the blocks of the launch are known to be in a line, and walk in
  /// the plain order, which takes no divisions.
  bool isLine = false;
  /// The stages of the tiles of the next work, 0 if a block carries out one
  /// work; nothing where tile-choose-roles decides.
  std::optional<int64_t> workStages = std::nullopt;
};

/// Combinations that a scan computes for each element: of the elements of a
/// thread, and with what precedes these.
inline constexpr double kScanCombinations = 2;

/// The parts of the time of a block.
enum class CostUnit { Matrix, Exponential, Arithmetic, Shared, Cache, Serial };
inline constexpr unsigned kCostUnits = 6;
/// Returns the name of a unit in remarks.
llvm::StringRef stringify(CostUnit unit);

/// The prediction for a candidate.
struct Cost {
  /// Clock cycles of the launch.
  double cycles = 0;
  /// Cycles of each unit in one block.
  std::array<double, kCostUnits> units{};
  /// 32-bit registers of a thread that computes, bytes of shared memory of a
  /// block, and stages of the rings in loops.
  int64_t registers = 0, sharedBytes = 0, stages = 1;
  /// Whether instructions do not divide a product among the warps, or threads
  /// do not divide a tile.
  bool isPadded = false;
  /// Whether a wave on AMD has more masks of lanes in bounds than scalar
  /// registers.
  bool spillsMasks = false;
  /// Whether producer warps copy, and whether storer warps add tiles and
  /// results leave through shared memory then.
  bool hasRoles = false, hasStorers = false, stagesStores = false;
  /// Whether a block carries out one work after another (tile-persist).
  bool isPersistent = false;
  /// Whether a block without products does so, and loads the tiles of its next
  /// work during one.
  bool loadsNextWork = false;
  /// Whether the program and the sizes tell the extents of the launch.
  bool isGridKnown = false;
  /// Whether the launch is known to have one block along x or along y, so that
  /// groups of blocks (tile-order-blocks) share no more tiles.
  bool isLine = false;
  /// Blocks of the launch, and blocks that run on a multiprocessor at once.
  double blocks = 0;
  int64_t residentBlocks = 1;
  /// Blocks that the chip runs at once.
  double places = 0;
  /// The share of the places for blocks that is in use, over all waves.
  double waveEfficiency = 1;
  /// Bytes that all blocks read and write through the second-level cache.
  double cacheBytes = 0;
  /// Iterations of all loops in one block.
  double iterations = 0;

  /// Returns the unit with the most cycles.
  CostUnit getBound() const;
};

class ProgramFacts;

/// Predicts the cost of a kernel, whose tiles have no layouts, for candidates.
/// The kernel must not change while the model lives.
class CostModel {
public:
  CostModel(KernelOp kernel, const Chip &chip, const ProblemSizes &sizes);
  ~CostModel();

  /// Predicts the cost for a candidate. Refuses one whose tiles do not fit the
  /// chip.
  Refusal predict(const Candidate &candidate, Cost &cost) const;

private:
  KernelOp kernel;
  const Chip &chip;
  const ProblemSizes &sizes;
  std::unique_ptr<const ProgramFacts> facts;
};

} // namespace tile

#endif // TILE_ANALYSIS_COSTMODEL_H
