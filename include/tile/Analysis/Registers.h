//===- Registers.h - Registers of a thread ----------------------*- C++ -*-===//
//
// The registers of tiles follow from their layouts: a thread holds the elements
// of its register axis. This analysis adds those of all tiles that are live at
// once, and an allowance for addresses and scalars. Results replace operands
// that are not needed any more. Constants, coordinates, predicates and repeated
// elements take no registers, and operands of products that are read from
// shared memory take those of one step of the product. Elementwise operations
// that follow each other take few registers for what is between them
// (ElementwiseRuns).
//
// The estimate is what a kernel needs, and back ends use free registers to keep
// more loads in flight: on 222 kernels of attention and of the examples, ptxas
// without a limit and LLVM for AMD use 7 registers more in the median, from 32
// fewer (10th percentile; elements that are used up one by one) to 72 more
// (90th percentile). The estimate exceeds the limit of 4 of these kernels, of
// which 2 spill; 7 others spill, at most 188 bytes.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_REGISTERS_H
#define TILE_ANALYSIS_REGISTERS_H

#include "tile/Chips/Chips.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/DenseSet.h"

namespace tile {

/// Registers that ptxas takes beyond estimateRegisters, if there are enough: 18
/// for matrix products, 27 to 31 for attention.
inline constexpr int64_t kRegisterMargin = 40;

/// The fewest registers that ptxas takes beyond estimateRegisters.
inline constexpr int64_t kLeastRegisterMargin = 20;

/// Registers of addresses, loop counters and constants. Back ends compute these
/// again when registers are short: the backward kernels of attention at head
/// dimension 64 on sm_90a have 224 registers of tiles and do not spill with
/// 232.
inline constexpr int64_t kRegisterAllowance = 8;

/// Registers of a consumer that the tiles of a rotated loop leave free. With
/// fewer, tile-schedule leaves the loop as it is written or ptxas spills
/// (docs/notes/cost-model.md).
inline constexpr int64_t kRotationAllowance = 24;

/// Registers with which the threads of every producer can do.
inline constexpr int64_t kProducerRegisters = 40;
/// The fewest registers that setmaxnreg gives (PTX ISA), with which producers
/// may spill.
inline constexpr int64_t kFewestRegisters = 24;

/// Returns the 32-bit registers of a thread that hold a tile with a layout; 0
/// for a tile in shared memory. Only elements of 16 bits are packed.
int64_t countRegisters(mlir::RankedTensorType tile);

/// Returns true if the tile of `reduce` has a layout and warps hold parts of
/// what it combines, so that they wait for each other.
bool combinesWarps(ReduceOp reduce);

/// Returns true if `value` is used only by products, directly or through
/// elementwise operations. If it is read from shared memory, its fragments are
/// loaded and computed one by one.
bool feedsOnlyProducts(mlir::Value value);

/// The most elements of a tile that a thread computes or accesses, other than
/// those that only feed products. Each of them takes instructions of its own,
/// and the time of the back end grows with the square of their number.
inline constexpr int64_t kMostThreadElements = 1024;

/// Returns true if the elements of the tile `value` follow from their
/// coordinates and from scalars. They are computed where they are used, and
/// need no registers.
bool isFunctionOfCoordinates(mlir::Value value);

/// Returns true if `op` computes or applies a mask of coordinates. Few
/// iterations of a loop need it: tile-split-masked-loops leaves it out of the
/// others.
bool isMaskOfCoordinates(mlir::Operation *op);

/// The most registers of values inside of a run of elementwise operations, half
/// of those of a thread of a small block, for which the back end finds an order
/// of instructions without spills. tile-split-elementwise-runs computes a run
/// that needs more for a few elements at a time.
inline constexpr int64_t kRunRegisters = 128;

/// Elementwise operations on tiles of one shape and layout that follow each
/// other, with nothing but constants, repeated elements and scalars between
/// them. They are computed for a few elements at a time, so that x * f(x) needs
/// the registers of x or of the result, not those of x and f(x).
class ElementwiseRuns {
public:
  /// Finds the runs of a block. With `addsUp`, a reduction right behind a run
  /// belongs to it: its elements are added up as they are computed.
  explicit ElementwiseRuns(mlir::Block &block, bool addsUp);

  /// Returns true if the place right before or right behind `op` is inside of a
  /// run.
  bool isInsideBefore(mlir::Operation *op) const { return before.contains(op); }
  bool isInsideBehind(mlir::Operation *op) const { return behind.contains(op); }

private:
  llvm::DenseSet<mlir::Operation *> before, behind;
};

/// A tile in registers.
struct LiveTile {
  mlir::RankedTensorType type;
  int64_t registers;
};

/// The place of a program at which the live tiles of a thread take the most
/// registers.
struct RegisterPeak {
  /// The 32-bit registers of these tiles.
  int64_t tiles = 0;
  /// Their sum with the allowance for addresses and scalars.
  int64_t total = 0;
  /// Null if no tile is in registers.
  mlir::Operation *op = nullptr;
  /// The live tiles, the largest first.
  llvm::SmallVector<LiveTile> live;
};

/// Estimates the registers of a thread of `kernel`, whose tiles have layouts.
/// In a kernel with roles, the consumers are the role with tiles. With
/// `within`, only places inside of this operation count.
RegisterPeak estimateRegisters(KernelOp kernel,
                               mlir::Operation *within = nullptr);

/// Returns the warps of a block: those that compute, and those of the other
/// roles that `kernel` or its schedule has.
int64_t countPlannedWarps(KernelOp kernel);

/// Returns the 32-bit registers that a thread which computes on tiles may use:
/// those of its role, else those of the schedule, else those of the chip.
int64_t getRegisterLimit(KernelOp kernel, const Chip &chip);

} // namespace tile

#endif // TILE_ANALYSIS_REGISTERS_H
