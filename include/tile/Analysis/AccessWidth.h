//===- AccessWidth.h - How wide may an access be ----------------*- C++ -*-===//
//
// One decision for every access of a distributed tile to memory, be it load,
// store, copy or atomic: the widest group of registers that lies side by side
// in every buffer concerned, for every thread, as far as the layouts of ALL
// sides, the alignment of bases and starts, the bounds and the instructions
// allow. Every width that is refused is reported with what refuses it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_ACCESSWIDTH_H
#define TILE_ANALYSIS_ACCESSWIDTH_H

#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Layout/Queries.h"
#include <functional>

namespace tile {

/// The largest power of two (at most 2^20) that is known to divide an index.
int64_t knownDivisor(mlir::Value index);

/// True if an index is known to be at least zero.
bool isKnownNonNegative(mlir::Value index);

/// True if dimension `dim` of a tile of `extent` elements that starts at
/// `index` is known to lie within the extents of `buffer`.
bool isInBounds(BufferType buffer, mlir::Value index, unsigned dim,
                int64_t extent);

/// One side of an access in memory: a tile that starts at `indices` of a
/// buffer.
struct MemoryOperand {
  BufferType type;
  mlir::ValueRange indices;
  /// What remarks call the buffer.
  std::string name;
};

/// What an access may be at most, whatever the operands are.
struct WidthRequest {
  /// Elements of the widest access that anybody could wish for.
  int64_t widest;
  /// The widths, in elements, that there is an instruction for, 1 among them.
  llvm::SmallVector<int64_t> instructions;
  /// Says of a width that is not among them: "sm_80 has no atomic addf of 4
  /// f32".
  std::function<std::string(int64_t)> unavailable;
};

/// Why an access is not wider. The id is stable; it is the name of the remark:
///   width-instruction  the chip has no such instruction
///   width-alignment    the base of a buffer is less aligned
///   width-start        the start of the tile is no known multiple
///   width-layout       elements of a group are not neighbours in a buffer, or
///                      not aligned there, in some thread
///   width-extent       a group may lie on both sides of the end of a buffer
struct WidthLimit {
  llvm::StringRef id;
  int64_t from, to;
  /// The name of the buffer that refuses; empty for the chip.
  std::string operand;
  /// "elements (0, 0), (0, 1) are 32 apart"
  std::string witness;

  /// "width 4 -> 1: %dq: elements (0, 0), (0, 1) are 32 apart"
  std::string str() const;
};

struct AccessWidth {
  /// Groups of registers, each one access. The order of the registers is the
  /// one that makes the accesses widest; permuting them costs nothing.
  AccessGroups groups;
  /// From the widest wish down to the width of the groups; empty if that is it.
  llvm::SmallVector<WidthLimit> limits;
};

/// The width of the accesses of a tile with the layout `dist` to all `operands`
/// at once (two for a copy): the largest that the layouts of all sides, the
/// bases, the starts, the bounds and the instructions allow.
AccessWidth decideWidth(const Layout &dist,
                        llvm::ArrayRef<MemoryOperand> operands,
                        const WidthRequest &request);

/// Loads and stores of every power of two up to `maxBytes`.
WidthRequest anyWidth(BufferType buffer, int64_t maxBytes);

} // namespace tile

#endif // TILE_ANALYSIS_ACCESSWIDTH_H
