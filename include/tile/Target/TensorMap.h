//===- TensorMap.h - Tiles that the copy engine moves -----------*- C++ -*-===//
//
// TMA copies a box of a tensor of up to five dimensions to shared memory, the
// innermost dimension fastest, permuting 16-byte chunks as #tile.swizzle does.
// Launchers encode base, extents, strides, box and swizzle as a tensor map of
// 128 bytes, a parameter of the kernel (CUDA driver API, "Tensor Map Object
// Management"; PTX ISA, "cp.async.bulk.tensor").
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_TENSORMAP_H
#define TILE_TARGET_TENSORMAP_H

#include "tile/Layout/Layout.h"
#include <optional>
#include <string>

namespace tile {

/// A tile of rows x columns in shared memory as boxes side by side along the
/// columns, one after another in memory. A tile of one dimension is one row.
struct TensorMapBoxes {
  /// Bytes of the swizzle: 128, 64 or 32; 0 for a tile of one dimension.
  int64_t swizzle;
  /// Extents of one box, in elements.
  int64_t rows, columns;
  int64_t count;

  /// Elements from one box to the next.
  int64_t distance() const { return rows * columns; }
};

/// The boxes of a tile of `elementBytes` in shared memory, whose base is
/// aligned to 1024 bytes (without a swizzle: 128), if its layout is such.
std::optional<TensorMapBoxes> matchTensorMap(const Layout &memory,
                                             int64_t elementBytes);

/// A ragged map ends at the end of each of the sequences that follow each other
/// in its rows, for which it has two dimensions more. Of them and the rows, which
/// have the extent R = kRaggedRows and the stride s, the coordinates of row i of a
/// sequence of n rows from `begin` on are
///   rows: R - n + i, out of bounds exactly for i >= n;
///   first more, extent 2^31, stride s: begin + n;
///   second more, extent 2^31, stride 2^64 / R * 2 - s: R;
/// which together move begin + i rows, as addresses have 64 bits.
constexpr int64_t kRaggedDims = 2, kRaggedRows = int64_t(1) << 30;
constexpr int64_t kRaggedExtent = int64_t(1) << 31;
/// Bytes from which the second one's stride is counted down.
constexpr int64_t kRaggedBytes = int64_t(1) << 35;

/// Bounds of the tensor map.
constexpr int64_t kTensorMapBytes = 128, kTensorMapRank = 5;
constexpr int64_t kTensorMapBox = 256;

} // namespace tile

#endif // TILE_TARGET_TENSORMAP_H
