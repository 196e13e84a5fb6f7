//===- HostCode.h - LLVM IR that the host supports --------------*- C++ -*-===//
#ifndef TILE_LIB_EXECUTOR_HOSTCODE_H
#define TILE_LIB_EXECUTOR_HOSTCODE_H

#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

namespace tile::cpu {

/// Replaces conversions of two f32 numbers to a vector of bf16 by those of one.
void expandPairConversions(llvm::Function &function);

/// Replaces conversions between f32 and bf16, for which the host may have no
/// instruction, by integer arithmetic that rounds to nearest even.
void expandBF16Conversions(llvm::Function &function);

/// Defines the functions that the host's back end calls to narrow to bf16 and
/// from f64 to f16, where the host has no instruction. Some versions of libgcc
/// and compiler-rt lack them.
void defineNarrowingFunctions(llvm::Module &module);

/// Gives an integer division by zero, or of the smallest integer by -1, some
/// result, because the host would trap. Returns an i1, computed before the
/// division, that says whether the division is such a one; null if it never is.
llvm::Value *guardDivision(llvm::BinaryOperator &division);

/// Returns a function that calls itself, directly or through others; null if
/// none does.
const llvm::Function *findRecursion(llvm::Module &module);

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_HOSTCODE_H
