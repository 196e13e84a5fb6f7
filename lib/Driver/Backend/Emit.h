//===- Emit.h - Code generation for AMD chips -------------------*- C++ -*-===//
#ifndef TILE_LIB_DRIVER_BACKEND_EMIT_H
#define TILE_LIB_DRIVER_BACKEND_EMIT_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace tile {

/// Appends a relocatable object of `module` to `output`, and consumes `module`.
/// Generates code in one or two ways and keeps the one with fewer spills.
/// Returns true if the machine cannot emit objects.
bool emitObject(llvm::TargetMachine &machine, llvm::Module &module,
                llvm::SmallVectorImpl<char> &output);

} // namespace tile

#endif // TILE_LIB_DRIVER_BACKEND_EMIT_H
