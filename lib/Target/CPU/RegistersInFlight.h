//===- RegistersInFlight.h - Uses of what is still written ------*- C++ -*-===//
#ifndef TILE_LIB_TARGET_CPU_REGISTERSINFLIGHT_H
#define TILE_LIB_TARGET_CPU_REGISTERSINFLIGHT_H

#include "llvm/IR/Function.h"
#include <vector>

namespace tile::cpu {

/// `user` computes with `value`, a float or a vector of floats.
struct RegisterUse {
  llvm::Instruction *user;
  llvm::Value *value;
};

/// The first use in each block of every value that may hold a register which an
/// asynchronous instruction still writes, other than those that only pass it on
/// to another such instruction. For functions that have not been rewritten.
std::vector<RegisterUse> findRegisterUses(llvm::Function &function);

} // namespace tile::cpu

#endif // TILE_LIB_TARGET_CPU_REGISTERSINFLIGHT_H
