//===- Scratch.h - Shapes of scratch buffers --------------------*- C++ -*-===//
//
// The caller of a kernel allocates its scratch memory. The manifest gives its
// shapes as expressions of other arguments (`shapes`, docs/Manifest.md).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LAUNCH_SCRATCH_H
#define TILE_LAUNCH_SCRATCH_H

#include "tile/Launch/Launch.h"
#include <map>

namespace tile::launch {

/// The element type and the smallest shape of a dense scratch buffer.
struct ScratchBuffer {
  std::string name, type;
  llvm::SmallVector<int64_t, 4> shape;
};

/// Returns the smallest dense scratch buffers that all kernels of a manifest
/// accept, in the order of the parameters. `given` holds the arguments that are
/// not scratch, by name: the shapes of tensors, and the integers that extents
/// depend on. Every other buffer is scratch. Fails if the manifest does not
/// determine an extent.
llvm::Expected<std::vector<ScratchBuffer>>
findScratchBuffers(const llvm::json::Value &manifest,
                   const std::map<std::string, Argument> &given);

} // namespace tile::launch

#endif // TILE_LAUNCH_SCRATCH_H
