//===- Instruction.h - The tables of instructions ---------------*- C++ -*-===//
//
// A row of a table emulates an intrinsic or an inline-assembly instruction of a
// GPU. Each call of one in a kernel is a Site. A thread that reaches a site
// stores its operands into a frame and calls the runtime, which calls the row's
// function for that thread or, once all its lanes have arrived, for the warp.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EXECUTOR_INSTRUCTION_H
#define TILE_LIB_EXECUTOR_INSTRUCTION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

namespace llvm {
class CallBase;
} // namespace llvm

namespace tile::cpu {

class Block;
struct Instruction;
struct Thread;
struct Warp;

/// A place in the program's source; unknown if `file` is empty.
struct Position {
  std::string file;
  unsigned line = 0, column = 0;
};

/// A place in a kernel that calls the runtime.
struct Site {
  /// Null for plain loads, stores and atomics.
  const Instruction *row = nullptr;
  /// The name in messages: `llvm.nvvm.shfl.sync.bfly.f32`, `store`.
  std::string name;
  Position position;
  /// The position among all sites of a program.
  unsigned index = 0;

  /// Byte offsets and sizes of the operands in a frame. The result is at offset
  /// 0.
  struct Operand {
    unsigned offset, size;
  };
  llvm::SmallVector<Operand, 8> operands;
  unsigned resultSize = 0;
  /// The result of Instruction::decode.
  std::shared_ptr<const void> data;
  int64_t immediate = 0;
  /// Set for loads and stores.
  unsigned accessBytes = 0, accessAlignment = 1;
  /// Set for a store, and for a release fence.
  bool writes = false;
  /// Set for a load, and for an acquire fence.
  bool reads = false;
  bool atomic = false;
};

/// The arrival of one thread at a site.
struct Call {
  const Site *site;
  char *frame;

  template <typename T> T operand(unsigned i) const {
    T value;
    std::memcpy(&value, operandBytes(i), sizeof(T));
    return value;
  }
  char *operandBytes(unsigned i) const {
    return frame + site->operands[i].offset;
  }
  /// Returns an integer or address operand of any width.
  uint64_t integer(unsigned i) const {
    uint64_t value = 0;
    std::memcpy(&value, operandBytes(i), site->operands[i].size);
    return value;
  }
  template <typename T> void setResult(T value, unsigned offset = 0) const {
    std::memcpy(frame + offset, &value, sizeof(T));
  }
};

/// The kind of an instruction, by which --stats counts.
enum class Work {
  Index,
  Math,
  Matrix,
  Exchange,
  Copy,
  Memory,
  Atomic,
  Barrier,
  Report
};

struct Instruction {
  /// The name of the intrinsic or function, or the mnemonic of inline assembly.
  /// A `*` at the end matches any ending. The first matching row is used.
  llvm::StringLiteral name;
  Work work;
  /// Exactly one of the next three is set. Emulates the instruction for one
  /// thread.
  void (*thread)(Thread &, const Call &) = nullptr;
  /// Emulates the instruction for a warp, once all lanes (with `masked`, those
  /// of the mask in the first operand) have arrived. The other lanes have no
  /// frame.
  void (*warp)(Warp &, llvm::ArrayRef<Call> lanes) = nullptr;
  /// A function of the host with the operands and the result of the intrinsic.
  void *host = nullptr;
  /// Reads the constant operands. Returns an error that names an unknown one.
  llvm::Error (*decode)(const llvm::CallBase &, Site &) = nullptr;
  bool masked = false;
  /// The operands and results may be registers that an asynchronous instruction
  /// still has to write.
  bool handsOn = false;
};

/// The rows of each file.
llvm::ArrayRef<Instruction> nvidiaInstructions();
llvm::ArrayRef<Instruction> amdInstructions();
llvm::ArrayRef<Instruction> matrixInstructions();
llvm::ArrayRef<Instruction> wgmmaInstructions();
llvm::ArrayRef<Instruction> atomicInstructions();
llvm::ArrayRef<Instruction> bufferInstructions();
llvm::ArrayRef<Instruction> bulkStoreInstructions();
llvm::ArrayRef<Instruction> bulkCopyInstructions();
llvm::ArrayRef<Instruction> reportInstructions();

/// Returns the row for this name; null if there is none.
const Instruction *findInstruction(llvm::StringRef name);

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_INSTRUCTION_H
