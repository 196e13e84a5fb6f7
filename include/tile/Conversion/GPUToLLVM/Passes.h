//===- Passes.h - From one thread's program to LLVM (S5 -> S6) --*- C++ -*-===//
#ifndef TILE_CONVERSION_GPUTOLLVM_PASSES_H
#define TILE_CONVERSION_GPUTOLLVM_PASSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace tile {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "tile/Conversion/GPUToLLVM/Passes.h.inc"

} // namespace tile

#endif // TILE_CONVERSION_GPUTOLLVM_PASSES_H
