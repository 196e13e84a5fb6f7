//===- JoinLogic.h - Two logical operations in one --------------*- C++ -*-===//
#ifndef TILE_LIB_DRIVER_BACKEND_JOINLOGIC_H
#define TILE_LIB_DRIVER_BACKEND_JOINLOGIC_H

#include "llvm/IR/Module.h"

namespace tile {

/// Computes (x op c1) op c2, of and, or and xor on words, by one lop3 of PTX.
/// The instruction takes one immediate, and ptxas makes two instructions rather
/// than keep a constant in a register. So only a constant c2 of several such
/// values is worth it. Addresses and descriptors, which LLVM folds and which
/// all threads have in common, keep their operations.
void joinLogic(llvm::Module &module);

} // namespace tile

#endif // TILE_LIB_DRIVER_BACKEND_JOINLOGIC_H
