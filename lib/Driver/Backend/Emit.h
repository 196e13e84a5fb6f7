//===- Emit.h - Code generation for AMD chips -------------------*- C++ -*-===//
#ifndef TILE_LIB_DRIVER_BACKEND_EMIT_H
#define TILE_LIB_DRIVER_BACKEND_EMIT_H

#include "Allocation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace tile {

/// Appends a relocatable object of `module` to `output`, and consumes `module`.
/// Generates code in several ways for a function that spills, and keeps the one
/// with the fewest spills: `ways` becomes the number of them. `demands` becomes
/// the demands of the functions. Returns true if the machine cannot emit
/// objects.
bool emitObject(llvm::TargetMachine &machine, llvm::Module &module,
                RegisterDemands &demands, unsigned &ways,
                llvm::SmallVectorImpl<char> &output);

} // namespace tile

#endif // TILE_LIB_DRIVER_BACKEND_EMIT_H
