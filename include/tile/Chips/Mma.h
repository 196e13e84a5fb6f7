//===- Mma.h - Matrix instructions, one row each ----------------*- C++ -*-===//
//
// D = A * B + C for fragments of M x K, K x N and M x N elements, distributed
// over the lanes of one warp. The layouts map (register, lane) to (row, column)
// and have no warp digits. Sources: PTX ISA "Matrix Fragments for mma.m16n8k16"
// and AMD's matrix instruction calculator
// (https://github.com/ROCm/amd_matrix_instruction_calculator).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CHIPS_MMA_H
#define TILE_CHIPS_MMA_H

#include "tile/Layout/Layout.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tile {

enum class MmaElement { F16, BF16, F32 };

/// Returns the size of an element in bits.
constexpr int64_t getBits(MmaElement element) {
  return element == MmaElement::F32 ? 32 : 16;
}
/// Returns the name of a type, which MLIR and PTX share: `f16`, `bf16`, `f32`.
llvm::StringRef stringify(MmaElement element);

/// The memories from which an instruction reads an operand. An operand in
/// shared memory is described by matrix descriptors
/// (Chips/NVIDIA/MatrixDescriptor.h).
struct OperandSpaces {
  bool registers = true, shared = false;
};

struct Mma {
  /// Unique: `mma.m16n8k16.f16`, `wmma.gfx11.16x16x16.bf16`, ...
  llvm::StringLiteral name;
  /// The MLIR operation of the instruction. Only the lowering to it reads this
  /// column; passes ask the others.
  llvm::StringLiteral operation;
  /// The shape of one warp's MMA.
  int64_t m, n, k;
  MmaElement operand, accumulator;
  int64_t warpSize;
  /// (register, lane) -> (m, k), (k, n) and (m, n).
  Layout a, b, acc;
  /// The LLVM intrinsic, with its types; empty if inline assembly is emitted.
  llvm::StringLiteral intrinsic;
  /// Whether to use the instruction with swapped operands, which gives the
  /// transposed product. The fragments are the same (A and B have mirrored
  /// layouts and M == N), and the layout of the transposed accumulator is
  /// closer to that of an operand.
  bool preferTransposed;
  /// Neighbouring warps along m that must execute the instruction together.
  int64_t warps = 1;
  /// One instruction takes any multiple of n columns up to this number.
  int64_t maxColumns = n;
  /// The memories of operands A and B.
  OperandSpaces spaces[2] = {};
  /// Whether the instruction only starts the product, and a later one waits for
  /// it.
  bool isAsync = false;
  /// Cycles of an asynchronous product beside those of the matrix unit: of the
  /// threads to issue it, of the matrix unit until it starts, and from its end
  /// until the threads go on.
  int64_t issueCycles = 0, gapCycles = 0, latencyCycles = 0;
};

/// Returns all rows.
llvm::ArrayRef<Mma> mmas();
/// Returns the row of that name, or null.
const Mma *findMma(llvm::StringRef name);

} // namespace tile

#endif // TILE_CHIPS_MMA_H
