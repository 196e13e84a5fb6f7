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
//   memory       axes = element coordinates   -> one offset in elements; a
//                                                swizzle may permute offsets
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
// Sources: the mixed-radix digits (extent, stride) follow the shape:stride
// algebra of CuTe (CUTLASS documentation, "CuTe Layout Algebra"). XOR swizzles
// are CuTe's Swizzle<bits, base, shift>.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LAYOUT_LAYOUT_H
#define TILE_LAYOUT_LAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
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

/// An extent that is known only at run time.
inline constexpr int64_t kDynamic = std::numeric_limits<int64_t>::min();

/// One digit of a mixed-radix index. The digit has the values 0 to extent - 1;
/// the value v adds v * stride to coordinate `dim`.
struct Digit {
  int64_t extent;
  unsigned dim;
  int64_t stride;

  bool operator==(const Digit &other) const {
    return extent == other.extent && stride == other.stride &&
           (stride == 0 || dim == other.dim);
  }
  friend llvm::hash_code hash_value(const Digit &digit) {
    return llvm::hash_combine(digit.extent, digit.stride == 0 ? 0 : digit.dim,
                              digit.stride);
  }
};

using Digits = llvm::SmallVector<Digit, 4>;

/// An XOR swizzle of offsets, which are in elements:
///   offset ^= ((offset >> (base + shift)) & (2^bits - 1)) << base
/// bits == 0 is the identity. shift >= bits is required, so that the function
/// is its own inverse.
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

  /// Builds a distributed layout. `shape` is the extent of each destination
  /// dimension. None of these functions checks its arguments; verify() does.
  static Layout distributed(Digits registers, Digits lanes, Digits warps,
                            llvm::ArrayRef<int64_t> shape);
  /// Builds a map, with one list of digits per axis.
  static Layout map(llvm::ArrayRef<Digits> axes, llvm::ArrayRef<int64_t> shape);
  /// Builds a memory layout. Every digit must have dim 0. `size` is the number
  /// of elements of storage: at least the largest offset + 1, or kDynamic.
  static Layout memory(llvm::ArrayRef<Digits> axes, int64_t size,
                       Swizzle swizzle = {});
  /// Builds the memory layout with element (i, j, ...) at the offset
  /// i * strides[0] + j * strides[1] + ..., in elements. The storage ends after
  /// the largest offset; with a swizzle it ends after the last swizzled block.
  static Layout strided(llvm::ArrayRef<int64_t> extents,
                        llvm::ArrayRef<int64_t> strides, Swizzle swizzle = {});
  /// Builds the identity map on `shape`.
  static Layout identity(llvm::ArrayRef<int64_t> shape);

  LayoutFamily family() const { return kind; }
  unsigned numAxes() const { return axes.size(); }
  unsigned rank() const { return extents.size(); }
  llvm::ArrayRef<Digit> axis(unsigned i) const { return axes[i]; }
  /// Returns the extents of the destination dimensions (for memory: {size}).
  llvm::ArrayRef<int64_t> shape() const { return extents; }
  Swizzle swizzle() const { return swz; }

  /// Returns the number of values of axis `i`, the product of its digits'
  /// extents; kDynamic if an extent is dynamic.
  int64_t axisSize(unsigned i) const;
  /// Returns the product of all axis sizes; kDynamic if one is dynamic.
  int64_t inputSize() const;
  bool isStatic() const;

  /// Checks the class invariants: positive extents, dims in range, kDynamic
  /// only where allowed, a power-of-two swizzle, and every coordinate inside
  /// shape(). The error names the axis, the digit and a witness.
  llvm::Error verify() const;

  /// Returns the coordinates of an index tuple. `index` has one index per axis,
  /// each in range. A swizzle permutes the first coordinate, in every family.
  llvm::SmallVector<int64_t, 4> apply(llvm::ArrayRef<int64_t> index) const;
  /// Returns the offset, in elements, of an element of a memory layout.
  int64_t offset(llvm::ArrayRef<int64_t> coords) const;
  /// Returns the element that a register of a distributed layout holds.
  llvm::SmallVector<int64_t, 4> element(int64_t reg, int64_t lane,
                                        int64_t warp) const {
    return apply({reg, lane, warp});
  }

  // -- Algebra. These functions return an error with the reason if the result
  //    is not a layout.

  /// Returns the composition x -> (*this)(inner(x)). The result has the axes of
  /// `inner` and the swizzle of *this. Its family is Distributed if that of
  /// `inner` is, else Memory if that of *this is, else Map. The error names the
  /// digit of `inner` that crosses a digit boundary of *this, or the carry of
  /// the digits of `inner` over such a boundary.
  llvm::Expected<Layout> compose(const Layout &inner) const;
  /// Returns the inverse of a layout that is a bijection onto shape(). The
  /// inverse has one axis per destination dimension and one destination
  /// dimension per axis. The inverse of a swizzled memory layout swizzles its
  /// input instead (see inputSwizzle()).
  llvm::Expected<Layout> invert() const;
  /// Returns the complement in shape(): a layout of one axis, the last
  /// dimension fastest. The sums of its coordinates and those of *this are all
  /// elements of shape(), each exactly once. *this must be static and have no
  /// swizzle.
  llvm::Expected<Layout> complement() const;
  /// Splits every axis a of *this into a tile of tiler[a] consecutive values
  /// and the rest. The result has the axes (a0 tile, a0 rest, a1 tile, a1 rest,
  /// ...). *this must be a map or a memory layout.
  llvm::Expected<Layout> divide(llvm::ArrayRef<int64_t> tiler) const;
  /// Returns *this repeated over `outer`. Dimension d of the result has the
  /// extent shape()[d] * outer.shape()[d]. Every axis has the digits of *this,
  /// followed by those of `outer` with strides scaled by shape(). Both layouts
  /// have the same number of axes, the same rank, and no swizzle.
  llvm::Expected<Layout> product(const Layout &outer) const;
  /// Reorders the destination dimensions: dimension i of the result is
  /// dimension order[i] of *this. *this must not be a memory layout (see
  /// permuteAxes).
  Layout permuteDims(llvm::ArrayRef<unsigned> order) const;
  /// Reorders the axes: axis i of the result is axis order[i] of *this.
  Layout permuteAxes(llvm::ArrayRef<unsigned> order) const;
  /// Removes dimension `dim`; its digits become replication. The result is the
  /// layout after a reduction along `dim`. Register replication is removed from
  /// distributed layouts, so that the registers of a thread name distinct
  /// elements. *this must not be a memory layout.
  Layout dropDim(unsigned dim) const;
  /// Returns the layout after a reduction along `dim` within each warp.
  /// Dimension `dim` of the result has one element for each warp that shares
  /// the dimension. That element is replicated over the lanes that differed
  /// along `dim`. *this must be a distributed layout.
  Layout reduceInWarps(unsigned dim) const;
  /// Returns the layout after a reduction along `dim` within each thread.
  /// Dimension `dim` of the result has one element for each lane of each warp
  /// that shares the dimension; neighbouring lanes have neighbouring elements.
  /// *this must be a distributed layout.
  Layout reduceInThreads(unsigned dim) const;
  /// Returns the length of the longest runs along `dim` that warps hold: the
  /// elements from i * length to (i + 1) * length - 1 are in the same warps for
  /// all i. *this must be a distributed layout in which no two places other
  /// than copies name one element.
  int64_t runInWarps(unsigned dim) const;
  /// Returns the layout after a reduction of each run of `length` elements
  /// along `dim`. Each result is replicated over the threads that held elements
  /// of its run. A digit of `dim` moves within a run or between runs. *this
  /// must be a distributed layout.
  Layout reduceRuns(unsigned dim, int64_t length) const;
  /// Inserts a dimension `dim` of `extent` elements. Each thread holds all of
  /// them in its fastest registers. dropDim(dim) is the inverse. *this must be
  /// a distributed layout.
  Layout insertDim(unsigned dim, int64_t extent) const;
  /// Returns the layout of the first part of `shape` of the tile, if each
  /// thread holds the same elements of all parts: the extents of `shape` divide
  /// those of the tile, and other parts are in other registers. Otherwise
  /// returns std::nullopt. *this must be a distributed layout.
  std::optional<Layout> part(llvm::ArrayRef<int64_t> shape) const;
  /// Returns the layout of counts[d] tiles along each dimension d that all have
  /// this layout, in the slowest registers. part(shape()) is the inverse. *this
  /// must be a distributed layout.
  Layout repeated(llvm::ArrayRef<int64_t> counts) const;
  /// Returns the layout in which each thread has one element for each of the
  /// longest runs along `dim` that warps hold, and for each of its elements
  /// along the other dimensions.
  Layout allRuns(unsigned dim) const {
    return dropDim(dim).insertDim(dim, extents[dim] / runInWarps(dim));
  }
  /// Returns the same function with the fewest digits: digits of extent 1 are
  /// removed and digits that continue each other are merged.
  Layout coalesced() const;
  /// Reinterprets the destination with another shape of as many elements, row
  /// major in both shapes. *this must not be a memory layout, whose destination
  /// is the offset: compose that with a map instead.
  llvm::Expected<Layout> reshape(llvm::ArrayRef<int64_t> newShape) const;

  // -- Queries.

  /// Returns true if both layouts are the same function: the same axes and
  /// shape, whatever their digits.
  bool equivalent(const Layout &other) const;
  /// Returns true if every thread holds the same elements in both distributed
  /// layouts: they are equal up to a renaming of registers.
  bool equivalentUpToRegisters(const Layout &other) const;
  /// Two index tuples with the same coordinates.
  struct Witness {
    llvm::SmallVector<int64_t, 4> first, second;
  };
  /// Returns true if no two indices have the same coordinates. Digits with
  /// stride 0 are ignored unless `countReplication`. A dynamic extent stands
  /// for every value. On failure, writes two such indices to `witness` if it is
  /// not null.
  bool isInjective(bool countReplication = false,
                   Witness *witness = nullptr) const;
  /// Returns the number of distinct coordinates; kDynamic if a digit with a
  /// nonzero stride is dynamic.
  int64_t imageSize() const;
  /// Returns true if the layout covers every element of shape().
  bool isSurjective() const;
  /// Returns the number of copies of each element over one axis: the product of
  /// the extents of its stride-0 digits, kDynamic if one is dynamic.
  int64_t replication(unsigned axis) const;
  /// Returns the largest power of two w such that the indices w*i to w*i+w-1 of
  /// `axis` have consecutive values of dimension `dim`, the first of them a
  /// multiple of w, and equal other coordinates. A dynamic extent is no limit:
  /// its divisibility is known elsewhere. Without any limit w is 2^30. A
  /// swizzle limits w to 2^base, the size of the blocks that it moves whole.
  int64_t contiguity(unsigned axis, unsigned dim) const;

  bool operator==(const Layout &other) const;
  bool operator!=(const Layout &other) const { return !(*this == other); }

  /// Prints `register = [2 -> d1, 2 -> d0 * 8], lane = [...], warp = [] :
  /// 16x8`.
  void print(llvm::raw_ostream &os) const;
  std::string str() const;

  /// Returns the swizzle that is applied to the index of axis 0. Only inverses
  /// of memory layouts have one.
  Swizzle inputSwizzle() const { return inSwz; }

private:
  /// Reduces along `dim`, of which one element remains for each place on the
  /// axes `spread`.
  Layout reduceWithin(unsigned dim, llvm::ArrayRef<unsigned> spread) const;

  LayoutFamily kind = LayoutFamily::Map;
  llvm::SmallVector<Digits, 3> axes;
  llvm::SmallVector<int64_t, 4> extents;
  Swizzle swz, inSwz;
};

/// Prints `[2 -> d1, 2 -> d0 * 8, 4 -> 0]`.
void printDigits(llvm::raw_ostream &os, llvm::ArrayRef<Digit> digits);

} // namespace tile

#endif // TILE_LAYOUT_LAYOUT_H
