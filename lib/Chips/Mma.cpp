//===- Mma.cpp - Matrix instructions, one row each ------------------------===//
//
// In A, d0 is the row m and d1 the depth k. In B, d0 is k and d1 the column n.
// In the accumulator, d0 is m and d1 is n. WMMA of gfx12 orders the depth of
// both operands as {k = 0-3, 8-11}, {4-7, 12-15}; the contiguous order used
// here gives the same sums, because both operands have it.
//
//===----------------------------------------------------------------------===//
#include "tile/Chips/Mma.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace tile;

/// Returns the layout of a fragment, which belongs to a single warp.
static Layout fragment(Digits registers, Digits lanes, int64_t rows,
                       int64_t columns) {
  return Layout::distributed(std::move(registers), std::move(lanes), {},
                             {rows, columns});
}

/// Returns the fragment of B that mirrors A, with columns in place of rows.
static Layout mirrored(const Layout &a) { return a.permuteDims({1, 0}); }

/// Returns the type of the sums of products of `operand`.
static MmaElement sumOf(MmaElement operand) {
  return isInteger(operand) ? MmaElement::I32 : MmaElement::F32;
}

/// The depth is 32 bytes. A register of 32 bits has neighbouring elements of a
/// row of A, or of a column of B.
static Mma mmaSync(llvm::StringLiteral name, MmaElement operand,
                   llvm::StringLiteral intrinsic) {
  int64_t count = 32 / getBits(operand), k = 8 * count;
  Mma row{name,
          "nvgpu.mma.sync",
          /*m=*/16,
          /*n=*/8,
          k,
          operand,
          sumOf(operand),
          /*warpSize=*/32,
          fragment({{count, 1, 1}, {2, 0, 8}, {2, 1, 4 * count}},
                   {{4, 1, count}, {8, 0, 1}}, 16, k),
          fragment({{count, 0, 1}, {2, 0, 4 * count}},
                   {{4, 0, count}, {8, 1, 1}}, k, 8),
          fragment({{2, 1, 1}, {2, 0, 8}}, {{4, 1, 2}, {8, 0, 1}}, 16, 8),
          intrinsic,
          /*preferTransposed=*/false};
  row.independent = 4;
  return row;
}

/// Each of the four warps has 16 of the 64 rows, in the fragments of mma.sync
/// (PTX ISA, "Register Fragments and Shared Memory Matrix Layouts"). A may be
/// in registers or in shared memory, B must be in shared memory, and only
/// operands of 16 bits may be contiguous along m or n there (PTX ISA,
/// "wgmma.mma_async"). The cycles of a product are measured on H200, in loops
/// of attention.
static Mma wgmma(llvm::StringLiteral name, MmaElement operand) {
  Mma row = mmaSync(name, operand, /*intrinsic=*/"");
  if (isInteger(operand)) {
    // The numbers of columns are multiples of 16.
    row.n = 16;
    row.b = fragment({{4, 0, 1}, {2, 0, 16}, {2, 1, 8}}, {{4, 0, 4}, {8, 1, 1}},
                     row.k, row.n);
    row.acc = fragment({{2, 1, 1}, {2, 0, 8}, {2, 1, 8}},
                       {{4, 1, 2}, {8, 0, 1}}, row.m, row.n);
  }
  row.needsKMajor = getBits(operand) != 16;
  row.operation = "tile_gpu.wgmma";
  row.warps = 4;
  row.maxColumns = 256;
  row.spaces[0] = {/*registers=*/true, /*shared=*/true};
  row.spaces[1] = {/*registers=*/false, /*shared=*/true};
  row.isAsync = true;
  row.issueCycles = 32;
  row.gapCycles = 120;
  row.latencyCycles = 40;
  return row;
}

/// Both halves of the wave hold all of A and B.
static Mma wmmaGfx11(llvm::StringLiteral name, MmaElement operand,
                     llvm::StringLiteral intrinsic) {
  Layout a = fragment({{16, 1, 1}}, {{16, 0, 1}, {2, 0, 0}}, 16, 16);
  return {name,
          "amdgpu.wmma",
          /*m=*/16,
          /*n=*/16,
          /*k=*/16,
          operand,
          sumOf(operand),
          /*warpSize=*/32,
          a,
          mirrored(a),
          fragment({{8, 0, 2}}, {{16, 1, 1}, {2, 0, 1}}, 16, 16),
          intrinsic,
          /*preferTransposed=*/false};
}

static Mma wmmaGfx12(llvm::StringLiteral name, MmaElement operand,
                     llvm::StringLiteral intrinsic) {
  Layout a = fragment({{8, 1, 1}}, {{16, 0, 1}, {2, 1, 8}}, 16, 16);
  return {name,
          "amdgpu.wmma",
          /*m=*/16,
          /*n=*/16,
          /*k=*/16,
          operand,
          sumOf(operand),
          /*warpSize=*/32,
          a,
          mirrored(a),
          fragment({{8, 0, 1}}, {{16, 1, 1}, {2, 0, 8}}, 16, 16),
          intrinsic,
          /*preferTransposed=*/true};
}

/// The consecutive rows that a lane of an MFMA's accumulator holds.
static constexpr int64_t kMfmaRows = 4;

/// Returns a square MFMA of `size` rows and columns. The lanes beyond one
/// column of A divide the depth, in runs of `run` elements. The accumulator
/// holds groups of consecutive rows.
static Mma mfma(llvm::StringLiteral name, MmaElement operand, int64_t size,
                int64_t k, llvm::StringLiteral intrinsic, int64_t run) {
  int64_t parts = 64 / size;
  Layout a = fragment({{run, 1, 1}, {k / (parts * run), 1, parts * run}},
                      {{size, 0, 1}, {parts, 1, run}}, size, k)
                 .coalesced();
  int64_t groups = size / (kMfmaRows * parts);
  return {name,
          "amdgpu.mfma",
          size,
          size,
          k,
          operand,
          sumOf(operand),
          /*warpSize=*/64,
          a,
          mirrored(a),
          fragment({{kMfmaRows, 0, 1}, {groups, 0, kMfmaRows * parts}},
                   {{size, 1, 1}, {parts, 0, kMfmaRows}}, size, size)
              .coalesced(),
          intrinsic,
          /*preferTransposed=*/true};
}

/// Returns an MFMA in which each lane has consecutive elements of the depth.
static Mma mfma(llvm::StringLiteral name, MmaElement operand, int64_t size,
                int64_t k, llvm::StringLiteral intrinsic) {
  return mfma(name, operand, size, k, intrinsic, /*run=*/k * size / 64);
}

/// Returns an MFMA with the depth of both operands in another order, which
/// gives the same sums: a lane has the elements of an accumulator, so that one
/// becomes an operand as it lies.
static Mma chainedMfma(llvm::StringLiteral name, MmaElement operand,
                       int64_t size, int64_t k, llvm::StringLiteral intrinsic) {
  return mfma(name, operand, size, k, intrinsic, /*run=*/kMfmaRows);
}

llvm::ArrayRef<Mma> tile::mmas() {
  using E = MmaElement;
  static const Mma table[] = {
      mmaSync("mma.m16n8k16.f16", E::F16,
              "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"),
      mmaSync("mma.m16n8k16.bf16", E::BF16,
              "llvm.nvvm.mma.m16n8k16.row.col.bf16"),
      mmaSync("mma.m16n8k8.tf32", E::TF32,
              "llvm.nvvm.mma.m16n8k8.row.col.tf32"),
      mmaSync("mma.m16n8k32.i8", E::I8, "llvm.nvvm.mma.m16n8k32.row.col.s8"),
      wgmma("wgmma.m64k16.f16", E::F16),
      wgmma("wgmma.m64k16.bf16", E::BF16),
      wgmma("wgmma.m64k8.tf32", E::TF32),
      wgmma("wgmma.m64k32.i8", E::I8),
      wmmaGfx11("wmma.gfx11.16x16x16.f16", E::F16,
                "llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16"),
      wmmaGfx11("wmma.gfx11.16x16x16.bf16", E::BF16,
                "llvm.amdgcn.wmma.f32.16x16x16.bf16.v8f32.v16i16"),
      wmmaGfx11("wmma.gfx11.16x16x16.i8", E::I8,
                "llvm.amdgcn.wmma.i32.16x16x16.iu8.v8i32.v4i32"),
      wmmaGfx12("wmma.gfx12.16x16x16.f16", E::F16,
                "llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v8f16"),
      wmmaGfx12("wmma.gfx12.16x16x16.bf16", E::BF16,
                "llvm.amdgcn.wmma.f32.16x16x16.bf16.v8f32.v8i16"),
      wmmaGfx12("wmma.gfx12.16x16x16.i8", E::I8,
                "llvm.amdgcn.wmma.i32.16x16x16.iu8.v8i32.v2i32"),
      mfma("mfma.16x16x16.f16", E::F16, 16, 16,
           "llvm.amdgcn.mfma.f32.16x16x16f16"),
      mfma("mfma.16x16x16.bf16", E::BF16, 16, 16,
           "llvm.amdgcn.mfma.f32.16x16x16bf16.1k"),
      mfma("mfma.32x32x8.f16", E::F16, 32, 8,
           "llvm.amdgcn.mfma.f32.32x32x8f16"),
      mfma("mfma.32x32x8.bf16", E::BF16, 32, 8,
           "llvm.amdgcn.mfma.f32.32x32x8bf16.1k"),
      mfma("mfma.16x16x32.f16", E::F16, 16, 32,
           "llvm.amdgcn.mfma.f32.16x16x32.f16"),
      mfma("mfma.16x16x32.bf16", E::BF16, 16, 32,
           "llvm.amdgcn.mfma.f32.16x16x32.bf16"),
      mfma("mfma.32x32x16.f16", E::F16, 32, 16,
           "llvm.amdgcn.mfma.f32.32x32x16.f16"),
      mfma("mfma.32x32x16.bf16", E::BF16, 32, 16,
           "llvm.amdgcn.mfma.f32.32x32x16.bf16"),
      chainedMfma("mfma.16x16x32.chained.f16", E::F16, 16, 32,
                  "llvm.amdgcn.mfma.f32.16x16x32.f16"),
      chainedMfma("mfma.16x16x32.chained.bf16", E::BF16, 16, 32,
                  "llvm.amdgcn.mfma.f32.16x16x32.bf16"),
      chainedMfma("mfma.32x32x16.chained.f16", E::F16, 32, 16,
                  "llvm.amdgcn.mfma.f32.32x32x16.f16"),
      chainedMfma("mfma.32x32x16.chained.bf16", E::BF16, 32, 16,
                  "llvm.amdgcn.mfma.f32.32x32x16.bf16"),
      mfma("mfma.16x16x4.f32", E::F32, 16, 4,
           "llvm.amdgcn.mfma.f32.16x16x4f32"),
      mfma("mfma.32x32x2.f32", E::F32, 32, 2,
           "llvm.amdgcn.mfma.f32.32x32x2f32"),
      mfma("mfma.16x16x16.i8", E::I8, 16, 16,
           "llvm.amdgcn.mfma.i32.16x16x16i8"),
      mfma("mfma.32x32x8.i8", E::I8, 32, 8, "llvm.amdgcn.mfma.i32.32x32x8i8"),
      mfma("mfma.16x16x32.i8", E::I8, 16, 32,
           "llvm.amdgcn.mfma.i32.16x16x32.i8"),
      mfma("mfma.32x32x16.i8", E::I8, 32, 16,
           "llvm.amdgcn.mfma.i32.32x32x16.i8"),
      mfma("mfma.16x16x64.i8", E::I8, 16, 64,
           "llvm.amdgcn.mfma.i32.16x16x64.i8"),
      mfma("mfma.32x32x32.i8", E::I8, 32, 32,
           "llvm.amdgcn.mfma.i32.32x32x32.i8"),
  };
  return table;
}

llvm::StringRef tile::stringify(MmaElement element) {
  switch (element) {
  case MmaElement::F16:
    return "f16";
  case MmaElement::BF16:
    return "bf16";
  case MmaElement::TF32:
    return "tf32";
  case MmaElement::F32:
    return "f32";
  case MmaElement::I8:
    return "i8";
  case MmaElement::I32:
    return "i32";
  }
  llvm_unreachable("not an element of the table");
}

llvm::StringRef tile::getPtxType(MmaElement element) {
  if (isInteger(element))
    return element == MmaElement::I8 ? "s8" : "s32";
  return stringify(element);
}

int64_t tile::getPeakRate(const Chip &chip, const Mma &mma) {
  switch (getBits(mma.operand)) {
  case 8:
    return chip.throughput.matrix8;
  case 32:
    return chip.throughput.matrix32;
  default:
    return chip.throughput.matrix;
  }
}

bool tile::divides(const Mma &mma, std::array<int64_t, 2> warps, int64_t rows,
                   int64_t columns) {
  return warps[0] % mma.warps == 0 && rows % (mma.m * warps[0]) == 0 &&
         columns % (mma.n * warps[1]) == 0;
}

const Mma *tile::findMma(llvm::StringRef name) {
  llvm::ArrayRef<Mma> rows = mmas();
  const Mma *row =
      llvm::find_if(rows, [&](const Mma &row) { return row.name == name; });
  return row == rows.end() ? nullptr : row;
}
