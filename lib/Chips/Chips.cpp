//===- Chips.cpp - The chips, one row each --------------------------------===//
//
// Sources: CUDA C++ Programming Guide, "Compute Capabilities"; AMD's CDNA2,
// CDNA3, CDNA4, RDNA3, RDNA3.5 and RDNA4 instruction set architecture guides;
// for the processors, the data sheets of A100, L40S, H100 SXM, B200, B300, RTX
// PRO 6000 Blackwell, MI250X (one of its two devices), MI300X, MI355X, RX 7900
// XTX, Ryzen AI Max+ 395, RX 9060 XT and RX 9070 XT. The PTX version is the
// lowest that supports the chip and the emitted instructions, so that the
// oldest driver accepts it: 7.0 for sm_80, 7.8 for sm_89, and 8.1 for sm_90a,
// because 8.0 lacks vector reductions to global memory; 8.6 for sm_100a, 8.7
// for sm_120a and 8.8 for sm_103a (PTX ISA, "Release Notes").
//
// sm_100a, sm_103a and sm_120a have TMA, clusters and setmaxnreg, which PTX ISA
// gives for "sm_90 or higher" and for these chips by name, but not wgmma. Their
// products are mma.sync; those of tcgen05 are not used.
//
//===----------------------------------------------------------------------===//
#include "tile/Chips/Chips.h"
#include "llvm/ADT/STLExtras.h"

using namespace tile;
using llvm::StringLiteral;

static constexpr StringLiteral mmaSync[] = {
    "mma.m16n8k16.f16", "mma.m16n8k16.bf16", "mma.m16n8k8.tf32",
    "mma.m16n8k32.i8"};
static constexpr StringLiteral wgmma[] = {
    "wgmma.m64k16.f16", "wgmma.m64k16.bf16", "wgmma.m64k8.tf32",
    "wgmma.m64k32.i8",  "mma.m16n8k16.f16",  "mma.m16n8k16.bf16",
    "mma.m16n8k8.tf32", "mma.m16n8k32.i8"};
static constexpr StringLiteral wmmaGfx11[] = {"wmma.gfx11.16x16x16.f16",
                                              "wmma.gfx11.16x16x16.bf16",
                                              "wmma.gfx11.16x16x16.i8"};
static constexpr StringLiteral wmmaGfx12[] = {"wmma.gfx12.16x16x16.f16",
                                              "wmma.gfx12.16x16x16.bf16",
                                              "wmma.gfx12.16x16x16.i8"};
/// Source: CDNA2 ISA guide, "Matrix Arithmetic Instructions": bf16 by the
/// instructions _1K, i8 with the depth of f16.
static constexpr StringLiteral mfmaGfx90a[] = {
    "mfma.16x16x16.f16", "mfma.16x16x16.bf16", "mfma.32x32x8.f16",
    "mfma.32x32x8.bf16", "mfma.16x16x4.f32",   "mfma.32x32x2.f32",
    "mfma.16x16x16.i8",  "mfma.32x32x8.i8"};
static constexpr StringLiteral mfmaGfx942[] = {
    "mfma.16x16x16.f16", "mfma.16x16x16.bf16", "mfma.32x32x8.f16",
    "mfma.32x32x8.bf16", "mfma.16x16x4.f32",   "mfma.32x32x2.f32",
    "mfma.16x16x32.i8",  "mfma.32x32x16.i8"};
static constexpr StringLiteral mfmaGfx950[] = {
    "mfma.16x16x32.f16",         "mfma.16x16x32.bf16",
    "mfma.32x32x16.f16",         "mfma.32x32x16.bf16",
    "mfma.16x16x32.chained.f16", "mfma.16x16x32.chained.bf16",
    "mfma.32x32x16.chained.f16", "mfma.32x32x16.chained.bf16",
    "mfma.16x16x16.f16",         "mfma.16x16x16.bf16",
    "mfma.32x32x8.f16",          "mfma.32x32x8.bf16",
    "mfma.16x16x4.f32",          "mfma.32x32x2.f32",
    "mfma.16x16x64.i8",          "mfma.32x32x32.i8",
    "mfma.16x16x32.i8",          "mfma.32x32x16.i8"};

static constexpr StringLiteral atomicsSm80[] = {
    "nvidia.f32",       "nvidia.f64", "nvidia.f16", "nvidia.f16x2",
    "nvidia.bf16.loop", "nvidia.i32", "nvidia.i64"};
static constexpr StringLiteral atomicsSm90[] = {
    "nvidia.f32",  "nvidia.f32x2",  "nvidia.f32x4",  "nvidia.f64",
    "nvidia.f16",  "nvidia.f16x2",  "nvidia.f16x4",  "nvidia.f16x8",
    "nvidia.bf16", "nvidia.bf16x2", "nvidia.bf16x4", "nvidia.bf16x8",
    "nvidia.i32",  "nvidia.i64"};
/// Sources: CDNA2 ISA guide, and LLVM's features of gfx90a: pairs of f16 are
/// added in global memory only, and pairs of bf16 nowhere.
static constexpr StringLiteral atomicsGfx90a[] = {
    "amd.f32",        "amd.f64",        "amd.f16.loop",    "amd.f16x2.global",
    "amd.f16x2.loop", "amd.bf16.loop",  "amd.bf16x2.loop", "amd.i32",
    "amd.i64",        "amd.f32.buffer", "amd.f64.buffer",  "amd.f16x2.buffer",
    "amd.i32.buffer", "amd.i64.buffer"};
static constexpr StringLiteral atomicsGfx942[] = {
    "amd.f32",        "amd.f64",        "amd.f16.loop",     "amd.f16x2",
    "amd.bf16.loop",  "amd.bf16x2",     "amd.i32",          "amd.i64",
    "amd.f32.buffer", "amd.f64.buffer", "amd.f16x2.buffer", "amd.i32.buffer",
    "amd.i64.buffer"};
static constexpr StringLiteral atomicsGfx950[] = {
    "amd.f32",        "amd.f64",        "amd.f16.loop",     "amd.f16x2",
    "amd.bf16.loop",  "amd.bf16x2",     "amd.i32",          "amd.i64",
    "amd.f32.buffer", "amd.f64.buffer", "amd.f16x2.buffer", "amd.bf16x2.buffer",
    "amd.i32.buffer", "amd.i64.buffer"};
static constexpr StringLiteral atomicsGfx11[] = {
    "amd.f32",        "amd.f64.loop",    "amd.f16.loop",  "amd.f16x2.loop",
    "amd.bf16.loop",  "amd.bf16x2.loop", "amd.i32",       "amd.i64",
    "amd.f32.buffer", "amd.i32.buffer",  "amd.i64.buffer"};
static constexpr StringLiteral atomicsGfx12[] = {
    "amd.f32",        "amd.f64.loop",     "amd.f16.loop",      "amd.f16x2",
    "amd.bf16.loop",  "amd.bf16x2",       "amd.i32",           "amd.i64",
    "amd.f32.buffer", "amd.f16x2.buffer", "amd.bf16x2.buffer", "amd.i32.buffer",
    "amd.i64.buffer"};
/// Word 3 of a buffer descriptor: a format that is not 0 (bits 12 to 18) and,
/// from gfx10 on, bit 24 and bounds checks by offset alone (bits 28 and 29).
static constexpr uint32_t bufferGfx9 = 0x00027000, bufferGfx10 = 0x31027000;
/// With cumode a block runs on one of the two compute units that share a cache,
/// and a barrier need not invalidate the cache. Halves of registers take more
/// moves on RDNA 3, where kernels exchange numbers of 16 bits one by one
/// (docs/notes/amd-attention.md).
static constexpr StringLiteral featuresGfx11 = "+cumode,-real-true16",
                               featuresGfx12 = "+cumode";
/// SCOPE_DEV in bits 3 and 4. Atomics have no such scope before gfx12.
static constexpr uint32_t policyGfx12 = 2 << 3;

/// Source: PTX ISA, "cp.async" (sm_80 and later).
static constexpr int64_t cpAsyncBytes[] = {16, 8, 4};
static constexpr AsyncCopy cpAsync{AsyncCopy::CpAsync, cpAsyncBytes,
                                   /*isDefault=*/true};
/// Sources: CDNA3 and CDNA4 ISA guides, "Global Load to LDS": global_load_lds
/// copies 1, 2 or 4 bytes a lane, on gfx950 also 12 or 16. Copies of 1 and 2
/// bytes fill 4 bytes of the LDS, so they do not copy tiles.
static constexpr int64_t bytesGfx942[] = {4}, bytesGfx950[] = {16, 12, 4};
static constexpr AsyncCopy ldsGfx942{AsyncCopy::DirectToLDS, bytesGfx942},
    ldsGfx950{AsyncCopy::DirectToLDS, bytesGfx950};

/// Sources: AMD's change to Triton (triton-lang/triton, pull request 11365) for
/// MI300 and MI350, with the groups of Composable Kernel's pages on LDS bank
/// conflicts, and HipKittens' measurements on MI355X
/// (analysis/paper_experiments /phases): 4 of these blocks go together on
/// gfx950, 2 on gfx942, and stores of gfx950 use half of the banks. Reads of 4
/// and 8 bytes, and stores, serve neighbours. For gfx90a there is no such
/// source.
static constexpr uint8_t readBlocksGfx942[] = {0, 5, 1, 4, 2, 7, 3, 6},
                         readBlocksGfx950[] = {0, 3, 5, 6, 1, 2, 4, 7};

/// Sources: CUDA C++ Programming Guide, "Throughput of Native Arithmetic
/// Instructions" and "Compute Capabilities"; NVIDIA's white papers on A100, Ada
/// and H100; AMD's white papers on CDNA3, CDNA4 and RDNA3, the ISA guides (512
/// registers a lane in each of 4 SIMDs of CDNA; 1536 in each of 2 SIMDs of
/// RDNA) and the data sheet of the RX 9070 XT. The rate of MMAs is the dense
/// peak by multiprocessors and boost clock: 989.4e12 / (132 * 1.83e9) = 4096 on
/// H100 SXM; those of 32 bits are tf32 on NVIDIA and f32 on CDNA, those of 8
/// bits are i8. A transcendental instruction has a quarter of the lanes of a
/// SIMD on AMD, and half on CDNA4 (white paper).
/// CDNA has packed arithmetic of f32, and RDNA issues two instructions at once.
/// The second-level cache of A100 gives 5120 bytes a clock, that of a CDNA3 die
/// 2048 to 38 compute units; memory is that of H200, 4.8e12 / (132 * 1.83e9),
/// and of the other products; the cache of sm_90a is fitted to matrix products
/// (docs/notes/cost-model.md), and the others are assumed. The blocks of a
/// multiprocessor are those of the programming guide; of the LDS, CDNA gives at
/// most 16 blocks their barriers, and RDNA 32. The sizes of the caches of AMD's
/// products are those of the Infinity Cache, and for gfx90a, which has none, of
/// the second-level cache.
/// The rate of mma.sync on sm_100a and sm_103a is not published: that of A100
/// is assumed. On sm_120a it is that of RTX PRO 6000, 503.8e12 / (188
/// * 2.62e9); GeForce has half of it with f32 accumulators. sm_103a has twice
/// the exponentials of sm_100a. Their second-level cache is assumed to be as
/// fast as that of sm_90a, and that of sm_120a as fast as that of sm_89. CDNA2:
/// white paper, 383e12 / (220 * 1.7e9) = 1024, 4096 bytes of the cache for 110
/// units. gfx1151 has 256e9 bytes a second for 40 units of 2.9e9 clocks, and
/// gfx1200 320e9 for 32 of 3.13e9.
// clang-format off
static constexpr Throughput
    //             matrix 32 bits 8 bits arithmetic exp pairs           shared cache memory registers threads blocks
    rateSm80     {2048,  1024,   4096,  64,        16, F32Pairs::None,   128,   47,   13,     65536,    2048,    32},
    rateSm89     {1024,  512,    2048,  128,       16, F32Pairs::None,   128,   32,   2,      65536,    1536,    24},
    rateSm90     {4096,  2048,   8192,  128,       16, F32Pairs::None,   128,   65,   20,     65536,    2048,    32},
    rateSm100    {2048,  1024,   4096,  128,       16, F32Pairs::None,   128,   65,   29,     65536,    2048,    32},
    rateSm103    {2048,  1024,   4096,  128,       32, F32Pairs::None,   128,   65,   29,     65536,    2048,    32},
    rateSm120    {1024,  512,    2048,  128,       16, F32Pairs::None,   128,   32,   4,      65536,    1536,    24},
    rateGfx90a   {1024,  256,    1024,  128,       16, F32Pairs::Packed, 128,   37,   9,      131072,   2048,    16},
    rateGfx942   {2048,  256,    4096,  128,       16, F32Pairs::Packed, 128,   53,   8,      131072,   2048,    16},
    rateGfx950   {4096,  256,    8192,  128,       32, F32Pairs::Packed, 128,   64,   13,     131072,   2048,    16},
    rateGfx11    {512,   0,      512,   128,       16, F32Pairs::Dual,   128,   24,   4,      98304,    1024,    32},
    rateGfx1151  {512,   0,      512,   128,       16, F32Pairs::Dual,   128,   24,   2,      98304,    1024,    32},
    rateGfx12    {1024,  0,      2048,  128,       16, F32Pairs::Dual,   128,   32,   3,      98304,    1024,    32};
// clang-format on

/// cuOccupancyMaxActiveClusters on an H100 80GB. Which multiprocessors work
/// differs from one chip to the next.
static constexpr uint8_t clustersSm90[] = {132, 66, 39, 30, 22, 17, 15, 15};

// clang-format off
static const Chip table[] = {
    // name      vendor         warp  procs rate        cache      shared  banks regs global shared async      ldmatrix stmatrix bulk   cluster depend ptx buffer      features       policy       instructions atomics
    {"sm_80",   Vendor::NVIDIA, 32,  108, rateSm80,   40 << 20,  166912,  32,  255,  16,   16,   cpAsync,   true,    false,   false, 1,      false, 70, 0,          "",            0,           mmaSync,    atomicsSm80},
    {"sm_89",   Vendor::NVIDIA, 32,  142, rateSm89,   96 << 20,  101376,  32,  255,  16,   16,   cpAsync,   true,    false,   false, 1,      false, 78, 0,          "",            0,           mmaSync,    atomicsSm80},
    {"sm_90a",  Vendor::NVIDIA, 32,  132, rateSm90,   50 << 20,  232448,  32,  255,  16,   16,   cpAsync,   true,    true,    true,  8,      true,  81, 0,          "",            0,           wgmma,      atomicsSm90, /*transposingReads=*/false, /*readBlocks=*/{}, /*storeBanks=*/0, /*dies=*/1, clustersSm90},
    {"sm_100a", Vendor::NVIDIA, 32,  148, rateSm100, 126 << 20,  232448,  32,  255,  16,   16,   cpAsync,   true,    true,    true,  8,      true,  86, 0,          "",            0,           mmaSync,    atomicsSm90},
    {"sm_103a", Vendor::NVIDIA, 32,  148, rateSm103, 126 << 20,  232448,  32,  255,  16,   16,   cpAsync,   true,    true,    true,  8,      true,  88, 0,          "",            0,           mmaSync,    atomicsSm90},
    {"sm_120a", Vendor::NVIDIA, 32,  188, rateSm120, 128 << 20,  101376,  32,  255,  16,   16,   cpAsync,   true,    true,    true,  8,      true,  87, 0,          "",            0,           mmaSync,    atomicsSm90},
    {"gfx90a",  Vendor::AMD,    64,  110, rateGfx90a,  8 << 20,   65536,  32,  512,  16,   16,   ldsGfx942, false,   false,   false, 1,      false,  0, bufferGfx9,  "",            0,           mfmaGfx90a, atomicsGfx90a},
    {"gfx942",  Vendor::AMD,    64,  304, rateGfx942,  256 << 20, 65536 ,  32,  512,  16,   16,   ldsGfx942, false,   false,   false, 1,      false,  0, bufferGfx9,  "",            0,           mfmaGfx942, atomicsGfx942, /*transposingReads=*/false, readBlocksGfx942, /*storeBanks=*/0, /*dies=*/8},
    {"gfx950",  Vendor::AMD,    64,  256, rateGfx950, 256 << 20, 163840,  64,  512,  16,   16,   ldsGfx950, false,   false,   false, 1,      false,  0, bufferGfx9,  "",            0,           mfmaGfx950, atomicsGfx950, /*transposingReads=*/true, readBlocksGfx950, /*storeBanks=*/32, /*dies=*/8},
    {"gfx1100", Vendor::AMD,    32,   96, rateGfx11,   96 << 20,  65536,  32,  256,  16,   16,   {},        false,   false,   false, 1,      false,  0, bufferGfx10, featuresGfx11, 0,           wmmaGfx11,  atomicsGfx11},
    {"gfx1151", Vendor::AMD,    32,   40, rateGfx1151, 32 << 20,  65536,  32,  256,  16,   16,   {},        false,   false,   false, 1,      false,  0, bufferGfx10, featuresGfx11, 0,           wmmaGfx11,  atomicsGfx11},
    {"gfx1200", Vendor::AMD,    32,   32, rateGfx12,   32 << 20,  65536,  32,  256,  16,   16,   {},        false,   false,   false, 1,      false,  0, bufferGfx10, featuresGfx12, policyGfx12, wmmaGfx12,  atomicsGfx12},
    {"gfx1201", Vendor::AMD,    32,   64, rateGfx12,   64 << 20,  65536,  32,  256,  16,   16,   {},        false,   false,   false, 1,      false,  0, bufferGfx10, featuresGfx12, policyGfx12, wmmaGfx12,  atomicsGfx12},
};
// clang-format on

int64_t tile::countClusterBlocks(const Chip &chip, int64_t warps) {
  int64_t blocks = 1;
  if (warps * chip.warpSize > kMostThreads)
    while (blocks < chip.clusterBlocks && warps > blocks * kClusterBlockWarps)
      blocks *= 2;
  return blocks;
}

int64_t tile::countClusterPlaces(const Chip &chip, int64_t resident,
                                 int64_t blocks) {
  if (blocks <= int64_t(chip.clusters.size()))
    return chip.clusters[blocks - 1] * resident * blocks;
  return (chip.processors - chip.processors / 8) * resident / blocks * blocks;
}

llvm::ArrayRef<Chip> tile::chips() { return table; }

const Chip *tile::findChip(llvm::StringRef name) {
  const Chip *chip =
      llvm::find_if(table, [&](const Chip &row) { return row.name == name; });
  return chip == std::end(table) ? nullptr : chip;
}
