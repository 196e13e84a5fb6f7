//===- MatrixDescriptor.cpp - wgmma operands in shared memory -------------===//

#include "tile/Chips/NVIDIA/MatrixDescriptor.h"
#include "llvm/Support/MathExtras.h"

using namespace tile;

uint64_t MatrixDescriptor::bits() const {
  uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3;
  return uint64_t(leading / 16 & 0x3fff) << 16 |
         uint64_t(stride / 16 & 0x3fff) << 32 | mode << 62;
}

/// The hardware swizzles chunks of this size, in bytes.
static constexpr int64_t kChunk = 16;
/// The contracted extent of one instruction, in bytes (PTX ISA,
/// "wgmma.mma_async").
static constexpr int64_t kDepthBytes = 32;

/// Returns the offset, in elements, at which the hardware reads (mn, k).
static int64_t hardwareOffset(const MatrixDescriptor &descriptor,
                              const Swizzle &swizzle, int64_t elementBytes,
                              int64_t start, int64_t mn, int64_t k) {
  int64_t width = descriptor.swizzle / elementBytes;
  int64_t leading = descriptor.leading / elementBytes;
  int64_t stride = descriptor.stride / elementBytes;
  int64_t offset = descriptor.mnMajor ? mn / width * leading + k / 8 * stride +
                                            k % 8 * width + mn % width
                                      : mn / 8 * stride + mn % 8 * width + k;
  return swizzle(start + offset);
}

std::optional<MatrixDescriptor>
tile::matchMatrixDescriptor(const Layout &memory, unsigned mnDim,
                            llvm::ArrayRef<int64_t> start, int64_t extent,
                            int64_t depth, int64_t elementBytes) {
  Swizzle swizzle = memory.swizzle();
  // The permutation of #tile.swizzle<32 | 64 | 128>.
  if (memory.numAxes() != 2 || swizzle.bits < 1 || swizzle.bits > 3 ||
      swizzle.base != llvm::Log2_64(kChunk / elementBytes) ||
      swizzle.shift != 3 || extent % 8 != 0 ||
      depth * elementBytes % kDepthBytes != 0)
    return std::nullopt;
  auto offset = [&](int64_t mn, int64_t k) {
    llvm::SmallVector<int64_t, 2> at(start.begin(), start.end());
    at[mnDim] += mn;
    at[1 - mnDim] += k;
    return memory.offset(at);
  };
  int64_t first = offset(0, 0), bytes = kChunk << swizzle.bits;
  int64_t width = bytes / elementBytes;
  // The swizzle does not permute the first of 8 rows.
  if (swizzle(first) != first)
    return std::nullopt;
  for (bool mnMajor : {false, true}) {
    MatrixDescriptor candidate{bytes, /*leading=*/0, /*stride=*/0, mnMajor};
    if (mnMajor) {
      candidate.leading =
          extent > width ? elementBytes * (offset(width, 0) - first) : 0;
      candidate.stride = elementBytes * (offset(0, 8) - first);
    } else {
      candidate.stride = extent > 8 ? elementBytes * (offset(8, 0) - first) : 0;
    }
    auto encodable = [](int64_t bytes) {
      return bytes >= 0 && bytes % 16 == 0 && bytes / 16 <= 0x3fff;
    };
    if (!encodable(candidate.leading) || !encodable(candidate.stride))
      continue;
    bool matches = true;
    for (int64_t mn = 0; matches && mn < extent; ++mn)
      for (int64_t k = 0; matches && k < depth; ++k)
        matches = offset(mn, k) == hardwareOffset(candidate, swizzle,
                                                  elementBytes, first, mn, k);
    if (matches)
      return candidate;
  }
  return std::nullopt;
}
