//===- HostCode.h - What the host does unlike a GPU -------------*- C++ -*-===//
#ifndef TILE_LIB_TARGET_CPU_HOSTCODE_H
#define TILE_LIB_TARGET_CPU_HOSTCODE_H

#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

namespace tile::cpu {

/// Replaces conversions between f32 and bf16, which the host may lack, by
/// integer arithmetic: exact, rounding to nearest even.
void expandBF16Conversions(llvm::Function &function);

/// Defines the functions that the host's back end calls to narrow to bf16 where
/// the host has no instruction; not every libgcc and compiler-rt has them.
void defineBF16Functions(llvm::Module &module);

/// Makes a division of integers by zero, and of the smallest one by -1, have
/// some result: the host would trap. Returns before the division whether it is
/// such a one, an i1; null if it never is.
llvm::Value *guardDivision(llvm::BinaryOperator &division);

/// A function that calls itself, by way of others or not; null if none does.
const llvm::Function *findRecursion(llvm::Module &module);

} // namespace tile::cpu

#endif // TILE_LIB_TARGET_CPU_HOSTCODE_H
