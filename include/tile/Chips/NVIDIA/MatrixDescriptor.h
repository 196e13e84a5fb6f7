//===- MatrixDescriptor.h - wgmma operands in shared memory -----*- C++ -*-===//
//
// wgmma reads operands from shared memory through a 64-bit descriptor: the
// address of the first element, two strides, in units of 16 bytes, and the
// swizzle (PTX ISA, "Matrix Descriptor Format" and "Shared Memory Matrix
// Layout").
//
// With a swizzle of W bytes and elements of E bytes, element (mn, k) of a
// K-major operand is at
//   start + (mn / 8) * stride + (mn % 8) * W + E * k,
// of an MN-major operand, whose rows are those of k, at
//   start + (mn / (W / E)) * leading + (k / 8) * stride + (k % 8) * W
//         + E * (mn % (W / E)),
// where the hardware then permutes the 16-byte chunks as #tile.swizzle<W> does.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CHIPS_NVIDIA_MATRIXDESCRIPTOR_H
#define TILE_CHIPS_NVIDIA_MATRIXDESCRIPTOR_H

#include "tile/Layout/Layout.h"
#include <optional>

namespace tile {

struct MatrixDescriptor {
  /// Bytes of the swizzle: 128, 64 or 32.
  int64_t swizzle;
  /// Strides in bytes; see above.
  int64_t leading, stride;
  /// Whether elements that are contiguous in memory differ in mn, not in k.
  bool mnMajor;

  /// Returns the fields other than the address.
  uint64_t bits() const;
  bool operator==(const MatrixDescriptor &other) const {
    return swizzle == other.swizzle && leading == other.leading &&
           stride == other.stride && mnMajor == other.mnMajor;
  }
};

/// Returns the descriptor with which one instruction reads the `extent` x
/// `depth` elements from `start` on of a tile in shared memory, whose elements
/// have `elementBytes` bytes; nothing if there is none. `memory` gives the
/// offset of (dimension 0, dimension 1). `mnDim` is the dimension that is not
/// contracted. The base of the tile is aligned to 1024 bytes.
std::optional<MatrixDescriptor>
matchMatrixDescriptor(const Layout &memory, unsigned mnDim,
                      llvm::ArrayRef<int64_t> start, int64_t extent,
                      int64_t depth, int64_t elementBytes);

} // namespace tile

#endif // TILE_CHIPS_NVIDIA_MATRIXDESCRIPTOR_H
