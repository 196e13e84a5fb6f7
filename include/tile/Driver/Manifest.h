//===- Manifest.h - Writes manifests ----------------------------*- C++ -*-===//
//
// docs/Manifest.md describes the content. It comes from the operations
// tile_gpu.manifest.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DRIVER_MANIFEST_H
#define TILE_DRIVER_MANIFEST_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "tile/Chips/Chips.h"
#include "tile/Driver/Compile.h"

namespace tile {

/// Returns the manifest of the kernels of `module` (S6), in their order. If a
/// kernel has no tile_gpu.manifest, the result is null, or an error with
/// `required`.
mlir::FailureOr<llvm::json::Value> buildManifest(mlir::gpu::GPUModuleOp module,
                                                 const Chip &chip,
                                                 OutputKind kind,
                                                 bool required);

} // namespace tile

#endif // TILE_DRIVER_MANIFEST_H
