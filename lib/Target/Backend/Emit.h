//===- Emit.h - Code generation for AMD chips -------------------*- C++ -*-===//
#ifndef TILE_LIB_TARGET_BACKEND_EMIT_H
#define TILE_LIB_TARGET_BACKEND_EMIT_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace tile {

/// Appends the relocatable object of `module`, which is consumed, to `output`:
/// of two ways to generate code the one whose kernels spill less. True if the
/// machine cannot emit objects.
bool emitObject(llvm::TargetMachine &machine, llvm::Module &module,
                llvm::SmallVectorImpl<char> &output);

} // namespace tile

#endif // TILE_LIB_TARGET_BACKEND_EMIT_H
