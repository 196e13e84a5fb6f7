//===- Instruction.h - What the executor knows, one row each ----*- C++ -*-===//
//
// A row gives the meaning of an intrinsic or of an inline-assembly instruction
// of a GPU. Every call of one in a kernel is a Site; a thread that comes there
// puts its operands into a frame and calls the runtime, which runs the row's
// function for that thread alone or, once its lanes have met, for a warp.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_TARGET_CPU_INSTRUCTION_H
#define TILE_LIB_TARGET_CPU_INSTRUCTION_H

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

/// A place in the program's source. Without a file it is unknown.
struct Position {
  std::string file;
  unsigned line = 0, column = 0;
};

/// A place in a kernel where the runtime is called.
struct Site {
  /// Null for plain loads, stores and atomics.
  const Instruction *row = nullptr;
  /// What messages call it: `llvm.nvvm.shfl.sync.bfly.f32`, `store`.
  std::string name;
  Position position;
  /// In the order of all sites of a program.
  unsigned index = 0;

  /// Bytes of the operands in a frame, whose result is at 0.
  struct Operand {
    unsigned offset, size;
  };
  llvm::SmallVector<Operand, 8> operands;
  unsigned resultSize = 0;
  /// What Instruction::decode found out.
  std::shared_ptr<const void> data;
  int64_t immediate = 0;
  /// Of loads and stores.
  unsigned accessBytes = 0, accessAlignment = 1;
  /// A store, or a fence that releases.
  bool writes = false;
  /// A load, or a fence that acquires.
  bool reads = false;
  bool atomic = false;
};

/// One thread's visit to a site.
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
  /// An operand that is an integer or an address of whatever width.
  uint64_t integer(unsigned i) const {
    uint64_t value = 0;
    std::memcpy(&value, operandBytes(i), site->operands[i].size);
    return value;
  }
  template <typename T> void setResult(T value, unsigned offset = 0) const {
    std::memcpy(frame + offset, &value, sizeof(T));
  }
};

/// Which kind of work an instruction is, as --stats sums it.
enum class Work {
  Index,
  Math,
  Matrix,
  Exchange,
  Copy,
  Memory,
  Atomic,
  Barrier
};

struct Instruction {
  /// The intrinsic's name or, for inline assembly, the mnemonic; `*` at the end
  /// stands for any ending. The first row that matches counts.
  llvm::StringLiteral name;
  Work work;
  /// One of the three is set. For one thread:
  void (*thread)(Thread &, const Call &) = nullptr;
  /// For a warp, once all its lanes or those of the first operand, if
  /// `masked`, have come. Lanes that take no part have no frame.
  void (*warp)(Warp &, llvm::ArrayRef<Call> lanes) = nullptr;
  /// A function of the host with the operands and result of the intrinsic.
  void *host = nullptr;
  /// Reads what is constant in the call. An error says what of it is unknown.
  llvm::Error (*decode)(const llvm::CallBase &, Site &) = nullptr;
  bool masked = false;
  /// Registers that it is given and returns may be such that an instruction in
  /// flight still writes.
  bool handsOn = false;
};

/// The rows, by the file that has them.
llvm::ArrayRef<Instruction> nvidiaInstructions();
llvm::ArrayRef<Instruction> amdInstructions();
llvm::ArrayRef<Instruction> matrixInstructions();
llvm::ArrayRef<Instruction> wgmmaInstructions();
llvm::ArrayRef<Instruction> atomicInstructions();
llvm::ArrayRef<Instruction> bufferInstructions();
llvm::ArrayRef<Instruction> bulkStoreInstructions();
llvm::ArrayRef<Instruction> bulkCopyInstructions();

/// The row for this name, or null.
const Instruction *findInstruction(llvm::StringRef name);

} // namespace tile::cpu

#endif // TILE_LIB_TARGET_CPU_INSTRUCTION_H
