//===- Layout.h - The layout algebra ----------------------------*- C++ -*-===//
//
// A layout is a function from a tuple of indices (one per *axis*) to a tuple
// of coordinates (one per *dimension*). Every axis is a mixed-radix number: a
// list of digits, fastest first. The digit with value v adds v * stride to the
// coordinate of its dimension. Extents need not be powers of two.
//
// Three families use this one class:
//
//   distributed  axes (register, lane, warp)  -> element coordinates of a tile
//   memory       axes = element coordinates   -> one offset, in elements, which
//                                                a swizzle may permute
//   map          axes = coordinates           -> coordinates of another space
//
// Example, the accumulator of mma.m16n8k16 (16 x 8 elements over 32 lanes):
//
//   register = [2 -> d1, 2 -> d0 * 8], lane = [4 -> d1 * 2, 8 -> d0]
//
// lane 5 holds in its register 2 the element (1 + 8, 1 * 2 + 0) = (9, 2).
//
// Strides are non-negative. A digit with stride 0 is replication: all its
// values name the same element. Only the last digit of an axis may have the
// extent kDynamic, and only in memory layouts and maps.
//
// The mixed-radix digits with (extent, stride) follow CuTe's shape:stride
// algebra as the CUTLASS documentation describes it; XOR swizzles are CuTe's
// Swizzle<bits, base, shift>.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LAYOUT_LAYOUT_H
#define TILE_LAYOUT_LAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tile {

/// An extent that is known only when the kernel runs.
inline constexpr int64_t kDynamic = std::numeric_limits<int64_t>::min();

/// `extent` values, each of which moves coordinate `dim` by `stride`.
struct Digit {
  int64_t extent;
  unsigned dim;
  int64_t stride;

  bool operator==(const Digit &other) const {
    return extent == other.extent && stride == other.stride &&
           (stride == 0 || dim == other.dim);
  }
};

using Digits = llvm::SmallVector<Digit, 4>;

/// offset ^= ((offset >> (base + shift)) & (2^bits - 1)) << base
/// All in elements. bits == 0 is the identity; shift >= bits is required, so
/// that the function is its own inverse.
struct Swizzle {
  unsigned bits = 0;
  unsigned base = 0;
  unsigned shift = 0;

  int64_t operator()(int64_t offset) const {
    int64_t mask = (int64_t(1) << bits) - 1;
    return offset ^ (((offset >> (base + shift)) & mask) << base);
  }
  bool operator==(const Swizzle &other) const {
    return (bits == 0 && other.bits == 0) ||
           (bits == other.bits && base == other.base && shift == other.shift);
  }
};

enum class LayoutFamily { Distributed, Memory, Map };

/// The axes of a distributed layout, in order.
enum DistributedAxis : unsigned { kRegister = 0, kLane = 1, kWarp = 2 };

class Layout {
public:
  Layout() = default;

  /// Layouts of each family. `shape` is the extent of each destination
  /// dimension. No check is made here: see verify().
  static Layout distributed(Digits registers, Digits lanes, Digits warps,
                            llvm::ArrayRef<int64_t> shape);
  static Layout map(llvm::ArrayRef<Digits> axes, llvm::ArrayRef<int64_t> shape);
  /// Memory: every digit has dim 0. `size` is the number of elements of
  /// storage (kDynamic if unknown), at least the largest offset + 1.
  static Layout memory(llvm::ArrayRef<Digits> axes, int64_t size,
                       Swizzle swizzle = {});
  /// Element (i, j, ...) at offset i * strides[0] + j * strides[1] + ... The
  /// storage ends after the largest offset, or after the block in which the
  /// swizzle permutes it.
  static Layout strided(llvm::ArrayRef<int64_t> extents,
                        llvm::ArrayRef<int64_t> strides, Swizzle swizzle = {});
  /// The identity on `shape`, as a map.
  static Layout identity(llvm::ArrayRef<int64_t> shape);

  LayoutFamily family() const { return kind; }
  unsigned numAxes() const { return axes.size(); }
  unsigned rank() const { return extents.size(); }
  llvm::ArrayRef<Digit> axis(unsigned i) const { return axes[i]; }
  /// Extents of the destination dimensions (for memory: {size}).
  llvm::ArrayRef<int64_t> shape() const { return extents; }
  Swizzle swizzle() const { return swz; }

  /// Number of values of one axis (the product of its extents); kDynamic if a
  /// digit is.
  int64_t axisSize(unsigned i) const;
  /// Product over all axes; kDynamic if an axis is.
  int64_t inputSize() const;
  bool isStatic() const;

  /// Checks the class invariants: positive extents, dims in range, kDynamic
  /// only where allowed, power-of-two swizzle, every coordinate inside
  /// shape(). The message names the axis, the digit and a witness.
  llvm::Error verify() const;

  /// The coordinates of one index tuple (one index per axis), which must be in
  /// range. A swizzle permutes the first coordinate, in every family.
  llvm::SmallVector<int64_t, 4> apply(llvm::ArrayRef<int64_t> index) const;
  /// The same for a memory layout: the offset.
  int64_t offset(llvm::ArrayRef<int64_t> coords) const;
  /// Coordinates of a distributed layout.
  llvm::SmallVector<int64_t, 4> element(int64_t reg, int64_t lane,
                                        int64_t warp) const {
    return apply({reg, lane, warp});
  }

  // -- Algebra. An operation whose result is not a layout returns an error
  //    that says why.

  /// (*this)(inner(x)): the axes of the result are those of inner, and its
  /// family is Distributed if inner's is, Memory if this one's is, else Map.
  /// The swizzle of this layout is that of the result. An error says which
  /// digit of inner crosses a digit boundary of this layout, or how much the
  /// digits of inner carry over it.
  llvm::Expected<Layout> compose(const Layout &inner) const;
  /// The map back, for a layout that is a bijection onto shape(): one axis per
  /// destination dimension, one destination dimension per axis. The inverse of
  /// a swizzled memory layout keeps the swizzle on the way in (see
  /// inputSwizzle()).
  llvm::Expected<Layout> invert() const;
  /// One axis, the last dimension fastest, whose coordinates added to those of
  /// *this tile shape() exactly once. Static layouts without swizzle.
  llvm::Expected<Layout> complement() const;
  /// Splits every axis a of *this into a tile of tiler[a] consecutive values
  /// and the rest: axes (a0 tile, a0 rest, a1 tile, a1 rest, ...). A Map or a
  /// Memory layout.
  llvm::Expected<Layout> divide(llvm::ArrayRef<int64_t> tiler) const;
  /// *this repeated over `outer`: dimension d of the result has the extent
  /// shape()[d] * outer.shape()[d], every axis the digits of *this followed by
  /// those of outer with their strides scaled by shape(). Same number of axes
  /// and rank, no swizzles.
  llvm::Expected<Layout> product(const Layout &outer) const;
  /// Destination dimensions reordered: dimension i of the result is dimension
  /// order[i] of *this. Not for memory layouts (permuteAxes is).
  Layout permuteDims(llvm::ArrayRef<unsigned> order) const;
  Layout permuteAxes(llvm::ArrayRef<unsigned> order) const;
  /// Forgets dimension dim: its digits become replication (what a reduction
  /// along dim leaves in every thread). Register replication is dropped from
  /// distributed layouts, so that registers name distinct elements again. Not
  /// for memory layouts.
  Layout dropDim(unsigned dim) const;
  /// What a reduction along dimension dim within each warp leaves: the
  /// dimension numbers the warps that share it, each holding one element, which
  /// is replicated over the lanes that differed along it. Distributed layouts.
  Layout reduceInWarps(unsigned dim) const;
  /// Dimension dim inserted, with `extent` elements, each thread holding all of
  /// them in its fastest registers; dropDim(dim) gives *this back. Distributed
  /// layouts.
  Layout insertDim(unsigned dim, int64_t extent) const;
  /// Same function, fewest digits: extents of 1 dropped, digits that continue
  /// each other merged.
  Layout coalesced() const;
  /// The destination reinterpreted with another shape, row major on both sides
  /// (same element count). Not for memory layouts, whose destination is the
  /// offset: compose them with a map.
  llvm::Expected<Layout> reshape(llvm::ArrayRef<int64_t> newShape) const;

  // -- Queries.

  /// Same function (same axes, same shape), whatever the digits.
  bool equivalent(const Layout &other) const;
  /// Distributed layouts with the same image for every thread: equal up to a
  /// renaming of registers.
  bool equivalentUpToRegisters(const Layout &other) const;
  /// No two indices have the same coordinates. Digits with stride 0 are
  /// ignored unless `countReplication`. Dynamic extents may take any value. On
  /// failure `witness`, if given, gets two index tuples.
  struct Witness {
    llvm::SmallVector<int64_t, 4> first, second;
  };
  bool isInjective(bool countReplication = false,
                   Witness *witness = nullptr) const;
  /// Number of distinct coordinates; kDynamic if a digit that moves is.
  int64_t imageSize() const;
  bool isSurjective() const;
  /// Number of copies of each element over one axis (product of its stride-0
  /// extents; kDynamic if one is).
  int64_t replication(unsigned axis) const;
  /// Largest power-of-two w such that indices w*i .. w*i+w-1 of `axis` have
  /// consecutive values of dimension `dim`, all other coordinates equal, and
  /// the first is a multiple of w. A dynamic extent sets no limit (its
  /// divisibility is known elsewhere); without any limit w is 2^30. A swizzle
  /// limits w to the blocks that it moves whole, 2^base.
  int64_t contiguity(unsigned axis, unsigned dim) const;

  bool operator==(const Layout &other) const;
  bool operator!=(const Layout &other) const { return !(*this == other); }

  /// `register = [2 -> d1, 2 -> d0 * 8], lane = [...], warp = [] : 16x8`
  void print(llvm::raw_ostream &os) const;
  std::string str() const;

  /// A swizzle applied to the index of axis 0 (inverses of memory layouts).
  Swizzle inputSwizzle() const { return inSwz; }

private:
  LayoutFamily kind = LayoutFamily::Map;
  llvm::SmallVector<Digits, 3> axes;
  llvm::SmallVector<int64_t, 4> extents;
  Swizzle swz, inSwz;
};

/// Prints `[2 -> d1, 2 -> d0 * 8, 4 -> 0]`.
void printDigits(llvm::raw_ostream &os, llvm::ArrayRef<Digit> digits);

} // namespace tile

#endif // TILE_LAYOUT_LAYOUT_H
