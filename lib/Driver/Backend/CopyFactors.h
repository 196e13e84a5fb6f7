//===- CopyFactors.h - Factors in two registers -----------------*- C++ -*-===//
#ifndef TILE_LIB_DRIVER_BACKEND_COPYFACTORS_H
#define TILE_LIB_DRIVER_BACKEND_COPYFACTORS_H

#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

namespace tile {

/// Gives each number that many elements of a vector are multiplied by, or that
/// is added to them, a copy for half of them. Two operations are issued
/// together only if their operands are in different banks of registers, so not
/// if both read the same one.
void copyFactors(llvm::Module &module, llvm::FunctionAnalysisManager &analyses);

} // namespace tile

#endif // TILE_LIB_DRIVER_BACKEND_COPYFACTORS_H
