//===- SinkScalars.h - Scalars of loops, where they are used ----*- C++ -*-===//
#ifndef TILE_LIB_DRIVER_BACKEND_SINKSCALARS_H
#define TILE_LIB_DRIVER_BACKEND_SINKSCALARS_H

#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

namespace tile {

/// Computes scalars, and conditions of lanes, in the loops that use them if
/// they take too many scalar registers across a loop. On AMD these would spill
/// to lanes of vector registers, and each use would take a vector instruction.
void sinkScalars(llvm::Module &module, llvm::FunctionAnalysisManager &analyses,
                 unsigned waveSize);

} // namespace tile

#endif // TILE_LIB_DRIVER_BACKEND_SINKSCALARS_H
