//===- Loops.h - Instructions of the loops of code objects ------*- C++ -*-===//
//
// The innermost loops of the kernels of an AMD code object, disassembled, with
// the number of instructions of each kind.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DRIVER_AMD_LOOPS_H
#define TILE_DRIVER_AMD_LOOPS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tile {

/// The unit that executes an instruction.
enum class AMDUnit {
  Matrix,         ///< MFMA and WMMA.
  Vector,         ///< Other vector arithmetic.
  Transcendental, ///< exp2, log2, reciprocals, roots, sine and cosine.
  Shared,         ///< The LDS.
  Memory,         ///< Loads, stores and atomics of global and private memory.
  Wait,           ///< Waits, barriers and no-ops.
  Branch,
  Scalar,
};
inline constexpr unsigned kNumAMDUnits = 8;

/// Returns "matrix", "vector" etc.
llvm::StringRef stringifyUnit(AMDUnit unit);

/// Returns the unit of the instruction with that mnemonic.
AMDUnit getUnit(llvm::StringRef mnemonic);

/// Operations of an MMA instruction of one wave; an FMA is two of them. Zero
/// for other instructions.
struct MatrixOperations {
  int64_t operations = 0;
  /// The bits of an element of the operands: 8, 16 or 32.
  int64_t bits = 0;
};
MatrixOperations getMatrixOperations(llvm::StringRef mnemonic);

/// Returns the bytes that a lane exchanges with the LDS by an instruction of
/// AMDUnit::Shared. A lane takes a bank for narrower elements than 4 bytes.
int64_t getSharedBytes(llvm::StringRef mnemonic);

/// The work of one iteration of a loop.
struct AMDWork {
  std::array<int64_t, kNumAMDUnits> instructions{};
  /// Operations of a wave's MMAs, by operands of 16, 32 and 8 bits.
  int64_t matrix16 = 0, matrix32 = 0, matrix8 = 0;
  /// Bytes of a lane that the LDS reads and writes.
  int64_t sharedReads = 0, sharedWrites = 0;

  int64_t count(AMDUnit unit) const {
    return instructions[static_cast<unsigned>(unit)];
  }
};

struct AMDLoop {
  /// The first byte of the loop, from the beginning of the kernel.
  uint64_t offset = 0;
  /// All blocks, and those that no branch skips where no lane needs them, such
  /// as those for rows that end within an access.
  AMDWork all, common;
};

struct AMDKernelLoops {
  std::string name;
  /// The loops without a loop in them; also those with MMAs whose inner loops
  /// have none.
  std::vector<AMDLoop> loops;
};

/// Disassembles the functions of a code object for `chip`, for example
/// "gfx942". An instruction that LLVM does not know is an error.
llvm::Expected<std::vector<AMDKernelLoops>>
readCodeObjectLoops(llvm::StringRef codeObject, llvm::StringRef chip);

} // namespace tile

#endif // TILE_DRIVER_AMD_LOOPS_H
