//===- AccessWidth.h - Widths of memory accesses ----------------*- C++ -*-===//
//
// Decides the width of every access of a distributed tile to memory: loads,
// stores, copies and atomics. The width is that of the widest group of
// registers that is contiguous in every buffer of the access, in every thread.
// It is limited by the layouts of ALL sides, the alignment of bases and starts,
// the bounds, and the instructions of the chip. Every wider width is reported
// together with its limit.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_ACCESSWIDTH_H
#define TILE_ANALYSIS_ACCESSWIDTH_H

#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Layout/Queries.h"
#include <functional>

namespace tile {

/// Returns the largest power of two (at most 2^20) that is known to divide
/// `index`.
int64_t knownDivisor(mlir::Value index);

/// Returns true if `index` is known to be at least zero.
bool isKnownNonNegative(mlir::Value index);

/// Returns true if the elements [index, index + extent) along dimension `dim`
/// are known to lie within the extents of `buffer`.
bool isInBounds(BufferType buffer, mlir::Value index, unsigned dim,
                int64_t extent);

/// Returns true if the elements [index, index + extent) are known to lie within
/// [0, length): `index` is the number of a loop that counts in steps of
/// `extent` up to at most `length`, a multiple of `extent`.
bool isWithin(mlir::Value index, int64_t extent, mlir::Value length);

/// Returns true if the elements [index, index + extent) are known to lie within
/// a length: `index` is the number of a loop that counts in steps of `extent`
/// up to a multiple of `extent` that is at most that length. `isLength` tells
/// whether a value is the length.
bool isWithinLoop(mlir::Value index, int64_t extent,
                  llvm::function_ref<bool(mlir::Value)> isLength);

/// One memory side of an access: a tile that starts at `indices` of a buffer.
struct MemoryOperand {
  BufferType type;
  mlir::ValueRange indices;
  /// The name of the buffer in remarks.
  std::string name;
  /// Powers of two that divide the dynamic extents, per dimension; 1 where
  /// nothing is known. Empty: nothing is known of any.
  llvm::SmallVector<int64_t> extentDivisors = {};
};

/// The widths that the chip has for an access, whatever its operands are.
struct WidthRequest {
  /// The widest access worth a remark, in elements.
  int64_t widest;
  /// The widths, in elements, that an instruction exists for; contains 1.
  llvm::SmallVector<int64_t> instructions;
  /// Returns the message for a width without an instruction: "sm_80 has no
  /// atomic addf of 4 f32".
  std::function<std::string(int64_t)> unavailable;
  /// Whether an access may consist of its first elements only, those before the
  /// end of a buffer.
  bool canBePartial = false;
};

/// The reason why an access is not wider. The id is stable and is the name of
/// the remark:
///   width-instruction  the chip has no such instruction
///   width-alignment    the base of a buffer is less aligned
///   width-start        the start of the tile is no known multiple
///   width-layout       elements of a group are not neighbours in a buffer, or
///                      not aligned there, in some thread
///   width-extent       a group may lie on both sides of the end of a buffer
struct WidthLimit {
  llvm::StringRef id;
  int64_t from, to;
  /// The name of the buffer that limits the width; empty for the chip.
  std::string operand;
  /// For example "elements (0, 0), (0, 1) are 32 apart".
  std::string witness;

  /// Returns, for example,
  /// "width 4 -> 1: %dq: elements (0, 0), (0, 1) are 32 apart".
  std::string str() const;
};

/// An access of a warp to global memory whose elements lie far apart.
struct UncoalescedAccess {
  /// The name of the buffer.
  std::string operand;
  SegmentCount segments;

  /// Returns, for example, "%x: an access of a warp touches 32 segments of 32
  /// bytes; its elements would fit in 4".
  std::string str() const;
};

struct AccessWidth {
  /// Groups of registers, one access each. Registers are in the order that
  /// makes accesses widest; permuting them costs nothing.
  AccessGroups groups;
  /// The limits on the way from WidthRequest::widest down to the width of the
  /// groups; empty if these are equal.
  llvm::SmallVector<WidthLimit> limits;
  /// The dimension along which accesses may be partial.
  std::optional<unsigned> partialDim;
  /// The buffers of which an access touches more than twice the least number of
  /// segments of 32 bytes, the unit in which caches move global memory.
  llvm::SmallVector<UncoalescedAccess> uncoalesced;
};

/// Returns the width of the accesses of a tile with the layout `dist` to all
/// `operands` at once (two for a copy): the largest that the layouts of all
/// sides, the bases, the starts, the bounds and the instructions allow.
AccessWidth decideWidth(const Layout &dist,
                        llvm::ArrayRef<MemoryOperand> operands,
                        const WidthRequest &request);

/// Returns the request for loads and stores, which have an instruction for
/// every power of two of bytes up to `maxBytes`.
WidthRequest anyWidth(BufferType buffer, int64_t maxBytes);

} // namespace tile

#endif // TILE_ANALYSIS_ACCESSWIDTH_H
