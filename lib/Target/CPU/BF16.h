//===- BF16.h - Conversions of bf16 on hosts without them -------*- C++ -*-===//
#ifndef TILE_LIB_TARGET_CPU_BF16_H
#define TILE_LIB_TARGET_CPU_BF16_H

#include "llvm/IR/Function.h"

namespace tile::cpu {

/// Replaces conversions between f32 and bf16, which the host may lack, by
/// integer arithmetic: exact, rounding to nearest even.
void expandBF16Conversions(llvm::Function &function);

} // namespace tile::cpu

#endif // TILE_LIB_TARGET_CPU_BF16_H
