//===- TileSizes.cpp - How kernels of attention divide the work -----------===//

#include "TileSizes.h"
#include "tile/Target/Mma.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace tile;

namespace {
/// One row of the table of defaults: it applies to chips that have this kind of
/// matrix instruction and at least this much shared memory, to head dimensions
/// up to `maxHeadDim`, and to those of V up to `maxValueDim`.
struct TileSizesRow {
  MmaKind kind;
  int64_t minSharedBytes, maxHeadDim;
  TileSizes sizes;
  int64_t maxValueDim = 256;
  int64_t minHeadDim = 0;
};
} // namespace

// The first row that applies counts. In registers, a thread holds
// blockM * (blockN + head dimension) / threads accumulators; in shared memory
// lie Q, K and V (two of each where copies are asynchronous) and, on AMD, P.
// Blocks of wgmma are small, so that one multiplies while another
// exponentiates.
// clang-format off
static constexpr TileSizesRow kForward[] = {
    // kind              shared   head  M    N   warps stages
    {MmaKind::Wgmma,         0,    64, { 64, 128, 4}},
    {MmaKind::Wgmma,         0,    96, {128,  64, 4}},
    {MmaKind::Wgmma,         0,   128, { 64, 160, 4, 1}},
    {MmaKind::Wgmma,         0,   192, { 64,  96, 4, 1}},
    {MmaKind::Wgmma,         0,   256, { 64,  64, 4, 1}},
    {MmaKind::MmaSync,       0,    64, {128, 128, 4}},
    {MmaKind::MmaSync,       0,    96, {128,  64, 4}},
    {MmaKind::MmaSync,       0,   128, {128,  64, 4}},
    {MmaKind::MmaSync,  163840,   256, { 64,  64, 4, 1}},
    {MmaKind::MmaSync,       0,   256, { 64,  32, 4}},
    {MmaKind::Mfma,     131072,   256, { 64,  64, 4}},
    {MmaKind::Mfma,          0,   128, { 64,  64, 4}},
    {MmaKind::Mfma,          0,   192, { 64,  32, 4}},
    {MmaKind::Mfma,          0,   256, { 64,  16, 4}},
    {MmaKind::Wmma,          0,   128, { 64,  32, 4}},
    {MmaKind::Wmma,          0,   256, { 64,  16, 4}},
};
// clang-format on

// With warps that copy: a group of 4 warps has 64 rows. In registers, a thread
// holds N / 2 scores, N / 4 of weights at 16 bits and head dimension / 2 of
// output; in shared memory lie K and V twice, and Q once or, so that blocks of
// rows follow each other without a gap, twice. Roles share the registers that a
// block starts with: 168 for each of 384 threads, 128 for each of 512, 96 for
// each of 640. Measured on an H200, docs/notes/hopper-forward.md.
// clang-format off
static constexpr TileSizesRow kForwardRoles[] = {
    // kind              shared   head  M    N   warps stages - producers, registers, stages of Q, turns; head of V
    {MmaKind::Wgmma,    163840,    64, {256,  64, 16, 2, 1, 4, 112, 32, 2, true}},
    {MmaKind::Wgmma,    163840,   128, {128, 128,  8, 2, 1, 4, 232, 40, 2}},
    {MmaKind::Wgmma,    163840,   192, {128,  96,  8, 2, 1, 4, 232, 40, 2}, 128},
    {MmaKind::Wgmma,    163840,   192, {128, 112,  8, 2, 1, 4, 232, 40, 1}},
    {MmaKind::Wgmma,    163840,   256, {128,  80,  8, 2, 1, 4, 232, 40, 1}},
};

// What differs in a window, of which large blocks compute more in vain, and
// under a softcap, which takes registers.
static constexpr TileSizesRow kForwardRolesWindow[] = {
    {MmaKind::Wgmma,    163840,    64, {128, 128,  8, 2, 1, 4, 232, 40, 2}},
};
// clang-format on

// A block owns N keys: in registers, a thread holds N * (2 head dimension + 2
// M) / threads accumulators; in shared memory lie K and V, Q and dO (two of
// each where copies are asynchronous), and dS. The fragments that mma.sync
// reads from there are what bounds it: with two warps along the queries it
// reads a fifth less, but P goes through shared memory as well.
// clang-format off
static constexpr TileSizesRow kBackwardKeys[] = {
    // kind              shared   head  M    N   warps stages, query warps
    {MmaKind::Wgmma,         0,   128, { 64, 128, 8}},
    {MmaKind::MmaSync,  163840,    64, {128, 128, 8, 0, 2}},
    {MmaKind::MmaSync,       0,    64, { 64, 128, 8, 0, 2}},
    {MmaKind::MmaSync,  163840,    96, { 64,  64, 4, 0, 2}},
    {MmaKind::MmaSync,  163840,   128, { 64, 128, 8, 0, 2}},
    {MmaKind::MmaSync,       0,   128, {32,  64, 4}},
    {MmaKind::MmaSync,  163840,   256, { 64,  64, 8, 0, 2}},
    {MmaKind::MmaSync,       0,   192, {32,  64, 8}},
    {MmaKind::MmaSync,       0,   256, {32,  32, 4}},
    {MmaKind::Mfma,     131072,   256, {32,  64, 4}},
    {MmaKind::Mfma,          0,   128, {32,  64, 4}},
    {MmaKind::Mfma,          0,   256, {16,  32, 2}},
    {MmaKind::Wmma,          0,    96, {32,  64, 4}},
    {MmaKind::Wmma,          0,   128, {16,  64, 4}},
    {MmaKind::Wmma,          0,   256, {16,  32, 2}},
};

// With warps that copy: a thread holds N * (2 head dimension + 2 M) / 256
// accumulators, then half as many of dS and P beside those of dQ; from 192 on
// both groups of four warps share the columns of all products. dQ leaves by the
// copy engine where that is faster and there is shared memory for it.
// clang-format off
static constexpr TileSizesRow kBackwardKeysRoles[] = {
    // kind              shared   head  M    N   warps stages, query warps - producers, registers, -, -, storers
    {MmaKind::Wgmma,    163840,    64, {128, 128, 8, 0, 1, 4, 232, 40}},
    {MmaKind::Wgmma,    163840,   128, { 64, 128, 8, 0, 1, 1, 232, 40, 0, false, 3}},
    {MmaKind::Wgmma,    163840,   192, { 64,  64, 8, 0, 1, 1, 232, 40, 0, false, 3}},
    {MmaKind::Wgmma,    163840,   256, { 64,  64, 8, 0, 1, 4, 232, 40}},
};

// The same for packed batches, of which the warps that copy know the sequence,
// too: it takes registers.
static constexpr TileSizesRow kBackwardKeysRolesPacked[] = {
    {MmaKind::Wgmma,    163840,    64, {128, 128, 8, 0, 1, 1, 232, 40, 0, false, 3}},
    {MmaKind::Wgmma,    163840,   128, { 64, 128, 8, 0, 1, 1, 232, 40, 0, false, 3}},
    {MmaKind::Wgmma,    163840,   192, { 64,  64, 8, 0, 1, 1, 232, 40, 0, false, 3}},
    {MmaKind::Wgmma,    163840,   256, { 64,  64, 8, 0, 1, 4, 232, 40}},
};

// In windows of packed batches, the sides of the window take registers, too.
static constexpr TileSizesRow kBackwardKeysRolesPackedWindow[] = {
    {MmaKind::Wgmma,    163840,    64, {128, 128, 8, 0, 1, 1, 240, 24, 0, false, 3, true}},
};

// What differs where dK and dV leave by atomics, whose addresses take registers;
// the first row but for packed batches.
static constexpr TileSizesRow kBackwardKeysAtomicDense[] = {
    {MmaKind::Wgmma,    163840,    64, {128, 128, 8, 0, 1, 4, 240, 24, 0, false, 0, true}},
};
static constexpr TileSizesRow kBackwardKeysAtomic[] = {
    {MmaKind::Wgmma,    163840,   128, { 64, 128, 8, 0, 1, 1, 240, 24, 0, false, 3, true}, 256, 65},
};

// What differs under a softcap, whose derivative takes registers; the first row
// in packed batches and where dK and dV leave by atomics, too.
static constexpr TileSizesRow kBackwardKeysSoftcapTight[] = {
    {MmaKind::Wgmma,    163840,   128, { 64, 128, 8, 0, 1, 1, 240, 24, 0, false, 3, true}, 256, 97},
};
static constexpr TileSizesRow kBackwardKeysSoftcap[] = {
    {MmaKind::Wgmma,    163840,    64, { 64, 128, 8, 0, 1, 4, 232, 40}},
    {MmaKind::Wgmma,    163840,    96, { 64, 128, 8, 0, 1, 1, 232, 40, 0, false, 3}},
    {MmaKind::Wgmma,    163840,   128, { 64, 128, 8, 0, 1, 1, 240, 24, 0, false, 3}},
};
// clang-format on

// A block owns M queries: Q and dO, K and V, one accumulator.
// clang-format off
static constexpr TileSizesRow kBackwardQueries[] = {
    // kind              shared   head  M    N   warps
    {MmaKind::MmaSync,       0,    64, {128, 64, 4}},
    {MmaKind::MmaSync,       0,   128, {64,  64, 4}},
    {MmaKind::MmaSync,  163840,   256, {64,  32, 4}},
    {MmaKind::MmaSync,       0,   256, {64,  16, 4}},
    {MmaKind::Mfma,     131072,   256, {64,  32, 4}},
    {MmaKind::Mfma,          0,   128, {64,  32, 4}},
    {MmaKind::Mfma,          0,   256, {32,  16, 2}},
    {MmaKind::Wmma,          0,   128, {64,  16, 4}},
    {MmaKind::Wmma,          0,   256, {32,  16, 2}},
};
// clang-format on

// The same for packed batches, of which more is in registers.
// clang-format off
static constexpr TileSizesRow kBackwardQueriesPacked[] = {
    {MmaKind::MmaSync,       0,    64, { 64, 64, 4}},
};
// clang-format on

static std::optional<TileSizes> find(llvm::ArrayRef<TileSizesRow> table,
                                     const Chip &chip, int64_t headDim,
                                     int64_t valueDim = 0) {
  const auto *row = llvm::find_if(table, [&](const TileSizesRow &row) {
    return row.minSharedBytes <= chip.sharedBytes &&
           headDim >= row.minHeadDim && headDim <= row.maxHeadDim &&
           valueDim <= row.maxValueDim &&
           llvm::any_of(chip.mma, [&](llvm::StringRef name) {
             return findMma(name)->kind == row.kind;
           });
  });
  if (row == table.end())
    return std::nullopt;
  return row->sizes;
}

std::optional<TileSizes>
tile::findForwardTileSizes(const Chip &chip, int64_t headDim, int64_t valueDim,
                           AttentionFeatures features) {
  if (!chip.bulkCopy)
    return find(kForward, chip, headDim);
  std::optional<TileSizes> sizes;
  if (features.window || features.softcap)
    sizes = find(kForwardRolesWindow, chip, headDim, valueDim);
  if (!sizes)
    sizes = find(kForwardRoles, chip, headDim, valueDim);
  if (!sizes)
    return find(kForward, chip, headDim);
  // How much work sequences of a packed batch are, only kernels know. A
  // persistent kernel that reads and writes o would order its iterations.
  if (features.packed || features.merge)
    sizes->queryStages = 0;
  return sizes;
}

std::optional<TileSizes>
tile::findBackwardKeysTileSizes(const Chip &chip, int64_t headDim,
                                AttentionFeatures features) {
  if (!chip.bulkCopy)
    return find(kBackwardKeys, chip, headDim);
  // What differs comes first.
  llvm::SmallVector<llvm::ArrayRef<TileSizesRow>> tables;
  if (features.softcap) {
    if (features.packed || features.atomicKeys)
      tables.push_back(kBackwardKeysSoftcapTight);
    tables.push_back(kBackwardKeysSoftcap);
  } else if (features.atomicKeys) {
    if (!features.packed)
      tables.push_back(kBackwardKeysAtomicDense);
    tables.push_back(kBackwardKeysAtomic);
  }
  if (features.packed && features.window)
    tables.push_back(kBackwardKeysRolesPackedWindow);
  tables.push_back(features.packed ? kBackwardKeysRolesPacked
                                   : kBackwardKeysRoles);
  tables.push_back(kBackwardKeys);
  for (llvm::ArrayRef<TileSizesRow> table : tables)
    if (std::optional<TileSizes> sizes = find(table, chip, headDim))
      return sizes;
  return std::nullopt;
}

std::optional<TileSizes>
tile::findBackwardQueriesTileSizes(const Chip &chip, int64_t headDim,
                                   AttentionFeatures features) {
  std::optional<TileSizes> sizes;
  if (features.packed)
    sizes = find(kBackwardQueriesPacked, chip, headDim);
  return sizes ? sizes : find(kBackwardQueries, chip, headDim);
}
