//===- TensorMap.h - Boxes of tiles that TMA copies -------------*- C++ -*-===//
//
// TMA copies a box of a tensor of up to five dimensions to shared memory,
// innermost dimension first, and permutes 16-byte chunks as #tile.swizzle does.
// Launchers encode base, extents, strides, box and swizzle as a tensor map of
// 128 bytes, which is a parameter of the kernel (CUDA driver API, "Tensor Map
// Object Management"; PTX ISA, "cp.async.bulk.tensor").
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CHIPS_NVIDIA_TENSORMAP_H
#define TILE_CHIPS_NVIDIA_TENSORMAP_H

#include "tile/Layout/Layout.h"
#include <optional>
#include <string>

namespace tile {

/// A tile of rows x columns in shared memory as boxes next to each other along
/// the columns, stored one after another. A tile of one dimension is one row.
struct TensorMapBoxes {
  /// Bytes of the swizzle: 128, 64 or 32; 0 for a tile of one dimension.
  int64_t swizzle;
  /// Extents of one box, in elements.
  int64_t rows, columns;
  int64_t count;

  /// Returns the elements from one box to the next.
  int64_t distance() const { return rows * columns; }
};

/// Returns the boxes of a tile of elements of `elementBytes` in shared memory,
/// if its layout has that form. The base of the tile is aligned to 1024 bytes,
/// or to 128 without a swizzle.
std::optional<TensorMapBoxes> matchTensorMap(const Layout &memory,
                                             int64_t elementBytes);

/// A ragged map ends at the end of each sequence, where sequences follow one
/// another along its rows. It has two more dimensions. Rows have the extent R =
/// kRaggedRows and the stride s. The coordinates of row i of a sequence of n
/// rows that begins at row `begin` are
///   rows: R - n + i, out of bounds exactly for i >= n;
///   first more, extent 2^31, stride s: begin + n;
///   second more, extent 2^31, stride 2^64 / R * 2 - s: R;
/// Together they address row begin + i, because addresses wrap around modulo
/// 2^64.
constexpr int64_t kRaggedDims = 2, kRaggedRows = int64_t(1) << 30;
constexpr int64_t kRaggedExtent = int64_t(1) << 31;
/// The stride of the second additional dimension is this, in bytes, minus s.
constexpr int64_t kRaggedBytes = int64_t(1) << 35;

/// A tensor with too many dimensions for a ragged map, or one with rows in
/// pages, has a map with the columns and the rows only, and between them and
/// the dimensions of a ragged map a further one, of this stride in bytes and
/// the extent kRaggedExtent. Its coordinate is the offset that the indices
/// along the other dimensions give, in units of the stride.
constexpr int64_t kOffsetUnit = 16;

/// Limits of tensor maps.
constexpr int64_t kTensorMapBytes = 128, kTensorMapRank = 5;
constexpr int64_t kTensorMapBox = 256;
/// The dimensions of a tensor that has a ragged map with all of them.
constexpr int64_t kMostRaggedRank = kTensorMapRank - kRaggedDims;

} // namespace tile

#endif // TILE_CHIPS_NVIDIA_TENSORMAP_H
