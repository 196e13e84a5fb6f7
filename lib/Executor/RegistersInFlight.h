//===- RegistersInFlight.h - Uses of registers in flight --------*- C++ -*-===//
#ifndef TILE_LIB_EXECUTOR_REGISTERSINFLIGHT_H
#define TILE_LIB_EXECUTOR_REGISTERSINFLIGHT_H

#include "llvm/IR/Function.h"
#include <vector>

namespace tile::cpu {

/// `user` computes with `value`, a float or a vector of floats.
struct RegisterUse {
  llvm::Instruction *user;
  llvm::Value *value;
};

/// Returns the first use in each block of every value that may hold a register
/// which an asynchronous instruction still has to write, except uses that only
/// pass it to another such instruction. The function must not have been
/// rewritten.
std::vector<RegisterUse> findRegisterUses(llvm::Function &function);

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_REGISTERSINFLIGHT_H
