//===- BufferAccess.h - Accesses through a buffer descriptor ----*- C++ -*-===//
#ifndef TILE_LIB_EXECUTOR_AMD_BUFFERACCESS_H
#define TILE_LIB_EXECUTOR_AMD_BUFFERACCESS_H

#include "../Instruction.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"

namespace tile::cpu {

/// Returns whether a call makes a buffer descriptor. Such a call is not
/// executed: the instructions that use the descriptor take its parts.
bool makesDescriptor(const llvm::CallBase &call);

/// Replaces each choice between descriptors, by a select or a phi, by one
/// descriptor of chosen parts. LLVM merges the accesses at the ends of two
/// branches. What is chosen from descriptors of unknown origin stays.
void divideDescriptors(llvm::Function &function);

/// Returns the operands of an instruction, each descriptor replaced by its
/// base, stride, bytes and flags.
llvm::SmallVector<llvm::Value *> operandParts(const llvm::CallBase &call);

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_AMD_BUFFERACCESS_H
