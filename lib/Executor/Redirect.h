//===- Redirect.h - Rewrites a GPU's LLVM IR for the host -------*- C++ -*-===//
//
// The IR is the one that the GPU's back end would receive. Calls of GPU
// instructions become calls of the runtime, and shared memory becomes an
// address that depends on the thread. Everything else stays.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EXECUTOR_REDIRECT_H
#define TILE_LIB_EXECUTOR_REDIRECT_H

#include "Instruction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Module.h"
#include <deque>

namespace tile::cpu {

/// The facts about a module that rewriting it yields.
struct Redirected {
  /// All sites. The code holds their addresses.
  std::deque<Site> sites;
  /// Bytes of the static shared memory that the module declares. Dynamic shared
  /// memory follows at a multiple of 1024 bytes.
  size_t staticShared = 0;
  /// The names and sizes in bytes of the constants in global memory.
  std::vector<std::pair<std::string, uint64_t>> constants;
  /// 1 if there are accesses to an odd number of bytes, else 2.
  unsigned unit = 2;
};

/// A construct that the executor does not support.
struct Obstacle {
  Position position;
  std::string message;
};

/// Returns the key of a call in the table of instructions: the name of the
/// intrinsic, or the mnemonic of inline assembly. Empty for indirect calls.
llvm::StringRef nameOf(const llvm::CallBase &call);

/// Returns the source location of `inst`.
Position positionOf(const llvm::Instruction &inst);

/// Rewrites `module`. Each kernel then takes its Thread as the first argument,
/// and gets a function `<name>.entry` that takes the Thread and an array of
/// 8-byte arguments. Returns every construct that the executor does not
/// support; if there is one, `module` must not be used. With `watched`, the
/// runtime is called at every access to memory that threads share and at every
/// instruction with a row.
std::vector<Obstacle> redirect(llvm::Module &module, Redirected &result,
                               bool watched);

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_REDIRECT_H
