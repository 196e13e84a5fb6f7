//===- Mma.h - Matrix instructions, one row each ----------------*- C++ -*-===//
//
// D = A * B + C for fragments of M x K, K x N and M x N elements, distributed
// over the lanes of one warp. The layouts map (register, lane) to (row, column)
// and have no warp digits. Sources: PTX ISA, "Matrix Fragments for
// mma.m16n8k8", for mma.m16n8k16 and for mma.m16n8k32; AMD's matrix instruction
// calculator (https://github.com/ROCm/amd_matrix_instruction_calculator).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CHIPS_MMA_H
#define TILE_CHIPS_MMA_H

#include "tile/Chips/Chips.h"
#include "tile/Layout/Layout.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <array>

namespace tile {

/// TF32 is an f32 number of which the instruction reads the 11 leading bits of
/// the significand. I8 and I32 are signed.
enum class MmaElement { F16, BF16, TF32, F32, I8, I32 };

/// Returns the size of an element in bits.
constexpr int64_t getBits(MmaElement element) {
  switch (element) {
  case MmaElement::F16:
  case MmaElement::BF16:
    return 16;
  case MmaElement::I8:
    return 8;
  case MmaElement::TF32:
  case MmaElement::F32:
  case MmaElement::I32:
    return 32;
  }
  return 0;
}
constexpr bool isInteger(MmaElement element) {
  return element == MmaElement::I8 || element == MmaElement::I32;
}
/// Returns the name of a type: `f16`, `bf16`, `tf32`, `f32`, `i8`, `i32`.
llvm::StringRef stringify(MmaElement element);
/// Returns the name of a type in PTX: `f16`, ..., `s8`, `s32`.
llvm::StringRef getPtxType(MmaElement element);

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
  /// Whether operands in shared memory must be contiguous along the depth.
  bool needsKMajor = false;
  /// Whether the instruction only starts the product, and a later one waits for
  /// it.
  bool isAsync = false;
  /// Cycles of an asynchronous product beside those of the matrix unit: of the
  /// threads to issue it, of the matrix unit until it starts, and from its end
  /// until the threads go on.
  int64_t issueCycles = 0, gapCycles = 0, latencyCycles = 0;
  /// The independent MMAs of a warp that keep the unit busy. Where it is 1, the
  /// unit passes the sums of an MMA on to the next one.
  int64_t independent = 1;
};

/// Returns the operations that a multiprocessor of `chip` does in one clock
/// cycle by this instruction, at its peak.
int64_t getPeakRate(const Chip &chip, const Mma &mma);

/// Returns true if each warp of a grid has whole MMAs of an accumulator with so
/// many rows and columns. `warps` are those along the rows and the columns.
bool divides(const Mma &mma, std::array<int64_t, 2> warps, int64_t rows,
             int64_t columns);

/// Returns all rows.
llvm::ArrayRef<Mma> mmas();
/// Returns the row of that name, or null.
const Mma *findMma(llvm::StringRef name);

} // namespace tile

#endif // TILE_CHIPS_MMA_H
