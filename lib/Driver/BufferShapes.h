//===- BufferShapes.h - The smallest shapes of buffers ----------*- C++ -*-===//
#ifndef TILE_LIB_DRIVER_BUFFERSHAPES_H
#define TILE_LIB_DRIVER_BUFFERSHAPES_H

#include "llvm/Support/JSON.h"

namespace tile {

/// Returns the entry `shapes` of a manifest with these kernels: for each buffer
/// whose extents the requirements determine, the smallest extents that all
/// kernels accept for a dense tensor, as expressions that name the parameters.
/// An expression refers to no buffer that has a later entry.
llvm::json::Array describeShapes(const llvm::json::Array &kernels);

} // namespace tile

#endif // TILE_LIB_DRIVER_BUFFERSHAPES_H
