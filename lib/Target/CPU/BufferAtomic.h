//===- BufferAtomic.h - Atomics through a buffer descriptor -----*- C++ -*-===//
#ifndef TILE_LIB_TARGET_CPU_BUFFERATOMIC_H
#define TILE_LIB_TARGET_CPU_BUFFERATOMIC_H

#include "Instruction.h"
#include "llvm/IR/InstrTypes.h"

namespace tile::cpu {

/// Whether a call makes a descriptor. It is not run: instructions that are
/// given the descriptor get its parts.
bool makesDescriptor(const llvm::CallBase &call);

/// The operands of an instruction, each descriptor among them replaced by its
/// base, stride, bytes and flags.
llvm::SmallVector<llvm::Value *> operandParts(const llvm::CallBase &call);

} // namespace tile::cpu

#endif // TILE_LIB_TARGET_CPU_BUFFERATOMIC_H
