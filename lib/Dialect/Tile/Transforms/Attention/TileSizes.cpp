//===- TileSizes.cpp - How kernels of attention divide the work -----------===//

#include "TileSizes.h"
#include "llvm/ADT/STLExtras.h"

using namespace tile;

namespace {
/// One row of the table of defaults: it applies to chips of the vendor with at
/// least this much shared memory, and to head dimensions up to `maxHeadDim`.
struct TileSizesRow {
  Vendor vendor;
  int64_t warpSize, minSharedBytes, maxHeadDim;
  TileSizes sizes;
};
} // namespace

// The first row that applies counts. In registers, a thread holds
// blockM * (blockN + head dimension) / threads accumulators; in shared memory
// lie Q, K and V (two of each where copies are asynchronous) and, on AMD, P.
// clang-format off
static constexpr TileSizesRow kForward[] = {
    // vendor         warp  shared   head  M    N   warps
    {Vendor::NVIDIA,  32,        0,   64, {128, 128, 4}},
    {Vendor::NVIDIA,  32,        0,   96, {128, 64, 4}},
    {Vendor::NVIDIA,  32,        0,  128, {128, 64, 4}},
    {Vendor::NVIDIA,  32,   163840,  256, {64,  64, 4}},
    {Vendor::NVIDIA,  32,        0,  256, {64,  32, 4}},
    {Vendor::AMD,     64,   131072,  256, {64,  64, 4}},
    {Vendor::AMD,     64,        0,  128, {64,  64, 4}},
    {Vendor::AMD,     64,        0,  192, {64,  32, 4}},
    {Vendor::AMD,     64,        0,  256, {64,  16, 4}},
    {Vendor::AMD,     32,        0,  128, {64,  32, 4}},
    {Vendor::AMD,     32,        0,  256, {64,  16, 4}},
};
// clang-format on

static std::optional<TileSizes> find(llvm::ArrayRef<TileSizesRow> table,
                                     const Chip &chip, int64_t headDim) {
  const auto *row = llvm::find_if(table, [&](const TileSizesRow &row) {
    return row.vendor == chip.vendor && row.warpSize == chip.warpSize &&
           row.minSharedBytes <= chip.sharedBytes && headDim <= row.maxHeadDim;
  });
  if (row == table.end())
    return std::nullopt;
  return row->sizes;
}

std::optional<TileSizes> tile::findForwardTileSizes(const Chip &chip,
                                                    int64_t headDim) {
  return find(kForward, chip, headDim);
}
