//===- Manifest.h - Writes manifests ----------------------------*- C++ -*-===//
//
// docs/Manifest.md describes the content. A kernel carries it in the attributes
// tile.grid, tile.block, tile.shared_bytes and tile.params, whose values have
// the structure of the JSON: dictionaries, arrays, strings, integers, and unit
// attributes for null.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DRIVER_MANIFEST_H
#define TILE_DRIVER_MANIFEST_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "tile/Chips/Chips.h"
#include "tile/Driver/Compile.h"

namespace tile {

/// Returns the manifest of the kernels of `module` (S6), in their order. If a
/// kernel has no tile.params, the result is null, or an error with `required`.
/// A kernel that has tile.params and lacks another attribute is always an
/// error.
mlir::FailureOr<llvm::json::Value> buildManifest(mlir::gpu::GPUModuleOp module,
                                                 const Chip &chip,
                                                 OutputKind kind,
                                                 bool required);

} // namespace tile

#endif // TILE_DRIVER_MANIFEST_H
