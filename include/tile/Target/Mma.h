//===- Mma.h - Matrix instructions, one row each ----------------*- C++ -*-===//
//
// D = A * B + C for a fragment of M x K, K x N and M x N elements spread over
// the lanes of one warp. The layouts say which lane holds which element in
// which register: (register, lane) -> (row, column), no warp digits. Sources:
// PTX ISA "Matrix Fragments for mma.m16n8k16" and AMD's matrix instruction
// calculator (https://github.com/ROCm/amd_matrix_instruction_calculator).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_MMA_H
#define TILE_TARGET_MMA_H

#include "tile/Layout/Layout.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tile {

/// Which back-end operation performs a row. Wgmma is asynchronous and reads B,
/// and A if it lies there, from shared memory (Target/MatrixDescriptor.h).
enum class MmaKind { MmaSync, Wgmma, Wmma, Mfma };

enum class MmaElement { F16, BF16, F32 };

struct Mma {
  /// Unique: `mma.m16n8k16.f16`, `wmma.gfx11.16x16x16.bf16`, ...
  llvm::StringLiteral name;
  MmaKind kind;
  /// What one warp computes. Wgmma takes any multiple of n up to 256 at once.
  int64_t m, n, k;
  MmaElement operand, accumulator;
  int64_t warpSize;
  /// (register, lane) -> (m, k), (k, n) and (m, n).
  Layout a, b, acc;
  /// The LLVM intrinsic that performs it, with its types; empty where it is
  /// inline assembly.
  llvm::StringLiteral intrinsic;
  /// Swapping the operands gives the transposed product with the same
  /// fragments (A and B have mirrored layouts and M == N), and the transposed
  /// accumulator is closer to an operand: use the instruction that way.
  bool preferTransposed;
  /// Neighbouring warps along m that must perform the instruction together.
  int64_t warps = 1;
};

/// All rows.
llvm::ArrayRef<Mma> mmas();
/// The row of that name, or null.
const Mma *findMma(llvm::StringRef name);

} // namespace tile

#endif // TILE_TARGET_MMA_H
