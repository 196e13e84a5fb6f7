//===- DependentLaunch.h - Overlapping kernels to NVVM ----------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETONVGPU_DEPENDENTLAUNCH_H
#define TILE_LIB_CONVERSION_TILETONVGPU_DEPENDENTLAUNCH_H

#include "mlir/IR/PatternMatch.h"

namespace tile {

/// Waiting for the kernel before and starting the one behind.
void populateDependentLaunchToNVVMPatterns(mlir::RewritePatternSet &patterns);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVGPU_DEPENDENTLAUNCH_H
