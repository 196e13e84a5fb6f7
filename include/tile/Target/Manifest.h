//===- Manifest.h - What a launcher needs -----------------------*- C++ -*-===//
//
// The contents are those of docs/Manifest.md. A kernel carries them as the
// attributes tile.grid, tile.block, tile.shared_bytes and tile.params, whose
// values have the form of the JSON: dictionaries, arrays, strings, integers,
// and a unit attribute for null.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_MANIFEST_H
#define TILE_TARGET_MANIFEST_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "tile/Target/Chips.h"
#include "tile/Target/Compile.h"

namespace tile {

/// The manifest of the kernels of `module` (S6), in their order. A kernel
/// without tile.params makes it null, or if `required` is an error. A kernel
/// that has them and lacks another attribute is always an error.
mlir::FailureOr<llvm::json::Value> buildManifest(mlir::gpu::GPUModuleOp module,
                                                 const Chip &chip,
                                                 OutputKind kind,
                                                 bool required);

} // namespace tile

#endif // TILE_TARGET_MANIFEST_H
