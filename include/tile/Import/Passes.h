//===- Passes.h - Import from other dialects --------------------*- C++ -*-===//
#ifndef TILE_IMPORT_PASSES_H
#define TILE_IMPORT_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tile {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "tile/Import/Passes.h.inc"

} // namespace tile

#endif // TILE_IMPORT_PASSES_H
