//===- Passes.h - Passes about the target -----------------------*- C++ -*-===//
#ifndef TILE_TARGET_PASSES_H
#define TILE_TARGET_PASSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace tile {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "tile/Target/Passes.h.inc"

} // namespace tile

#endif // TILE_TARGET_PASSES_H
