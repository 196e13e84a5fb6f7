//===- SinkToUses.h - Values computed where they are used -------*- C++ -*-===//
#ifndef TILE_LIB_DRIVER_BACKEND_SINKTOUSES_H
#define TILE_LIB_DRIVER_BACKEND_SINKTOUSES_H

#include "llvm/IR/Function.h"
#include "llvm/Target/TargetMachine.h"

namespace tile {

/// Computes each value right before its first use, element by element. An
/// operation on a tile is one on a vector of all elements of a thread, so that
/// otherwise a chain of them has all elements of its steps in registers.
void sinkToUses(llvm::Function &function, llvm::TargetMachine &machine);

} // namespace tile

#endif // TILE_LIB_DRIVER_BACKEND_SINKTOUSES_H
