//===- Redirect.h - A GPU's LLVM IR as the host's ---------------*- C++ -*-===//
//
// Nothing is lowered anew: calls of instructions become calls of the runtime,
// shared memory becomes an address that depends on the thread, and the rest is
// what the GPU's back end would have been given.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_TARGET_CPU_REDIRECT_H
#define TILE_LIB_TARGET_CPU_REDIRECT_H

#include "Instruction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Module.h"
#include <deque>

namespace tile::cpu {

/// What the redirection learns of a module.
struct Redirected {
  /// All sites; their addresses are in the code.
  std::deque<Site> sites;
  /// Shared memory that the module declares, in bytes; dynamic shared memory
  /// follows at a multiple of 1024.
  size_t staticShared = 0;
  /// 1 if there are accesses to an odd number of bytes, else 2.
  unsigned unit = 2;
};

/// Something that cannot be run.
struct Obstacle {
  Position position;
  std::string message;
};

/// What a call is looked up by: the intrinsic's name, or the mnemonic of inline
/// assembly. Empty for indirect calls.
llvm::StringRef nameOf(const llvm::CallBase &call);

/// Where instruction `inst` comes from.
Position positionOf(const llvm::Instruction &inst);

/// Rewrites `module`. Each kernel then takes its Thread first, and has beside
/// it a function `<name>.entry` that takes the Thread and an array of 8-byte
/// arguments. If there is something that the executor does not know, `module`
/// must not be used, and every such place is in the result. With `watched`, the
/// runtime is told of every access to memory that threads share, and of all
/// else that it has a row for.
std::vector<Obstacle> redirect(llvm::Module &module, Redirected &result,
                               bool watched);

} // namespace tile::cpu

#endif // TILE_LIB_TARGET_CPU_REDIRECT_H
