//===- Passes.h - Passes of tile-reduce -------------------------*- C++ -*-===//
#ifndef TILE_REDUCER_PASSES_H
#define TILE_REDUCER_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tile {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "tile/Reducer/Passes.h.inc"

} // namespace tile

#endif // TILE_REDUCER_PASSES_H
