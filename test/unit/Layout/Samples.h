//===- Samples.h - Layouts that kernels use ---------------------*- C++ -*-===//
//
// Swizzled shared memory as TMA writes it, padded memory, the permuted dQ
// accumulator and blocked register layouts, for tests of the algebra and of the
// queries.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TEST_UNIT_LAYOUT_SAMPLES_H
#define TILE_TEST_UNIT_LAYOUT_SAMPLES_H

#include "tile/Layout/Layout.h"
#include "llvm/Support/MathExtras.h"

namespace tile::test {

/// Returns the memory layout of rows of `columns` 16-bit elements in panels
/// that are `bytes` bytes wide. Each panel is swizzled in chunks of 16 bytes.
inline Layout tmaSwizzled(int64_t rows, int64_t columns, int64_t bytes) {
  int64_t panel = bytes / 2;
  Swizzle swizzle{llvm::Log2_64(bytes / 16), 3, 3};
  return Layout::memory(
      {{Digit{rows, 0, panel}},
       {Digit{panel, 0, 1}, Digit{columns / panel, 0, rows * panel}}},
      rows * columns, swizzle);
}

/// Returns a row-major layout with `pad` unused elements after each row.
inline Layout padded(int64_t rows, int64_t columns, int64_t pad) {
  return Layout::strided({rows, columns}, {columns + pad, 1});
}

/// Returns the accumulator of dQ,
/// (l, d) -> (l/8, d/8, d%2, 4*(l%8) + (d%8)/2). `rows` may be kDynamic.
inline Layout dqMap(int64_t rows, int64_t columns) {
  int64_t blocks = rows == kDynamic ? kDynamic : rows / 8;
  return Layout::map(
      {{Digit{8, 3, 4}, Digit{blocks, 0, 1}},
       {Digit{2, 2, 1}, Digit{4, 3, 1}, Digit{columns / 8, 1, 1}}},
      {blocks, columns / 8, 2, 32});
}

/// Returns a distributed layout in which each lane holds `vector` consecutive
/// columns. `lanesPerRow` lanes share a row; the other lanes and the warps hold
/// further rows. Registers repeat this pattern over the tile.
inline Layout blocked(int64_t rows, int64_t columns, int64_t vector,
                      int64_t lanesPerRow, int64_t lanes, int64_t warps) {
  int64_t width = vector * lanesPerRow;
  int64_t height = lanes / lanesPerRow * warps;
  return Layout::distributed(
      {Digit{vector, 1, 1}, Digit{columns / width, 1, width},
       Digit{rows / height, 0, height}},
      {Digit{lanesPerRow, 1, vector}, Digit{lanes / lanesPerRow, 0, 1}},
      {Digit{warps, 0, lanes / lanesPerRow}}, {rows, columns});
}

/// Returns the layout that repeats a fragment over `rows` x `columns`: along
/// the rows first over `warps` warps, then over registers.
inline Layout tiled(const Layout &fragment, int64_t rows, int64_t columns,
                    int64_t warps) {
  int64_t high = rows / fragment.shape()[0],
          wide = columns / fragment.shape()[1];
  return llvm::cantFail(fragment.product(
      Layout::distributed({Digit{wide, 1, 1}, Digit{high / warps, 0, warps}},
                          {}, {Digit{warps, 0, 1}}, {high, wide})));
}

} // namespace tile::test

#endif // TILE_TEST_UNIT_LAYOUT_SAMPLES_H
