//===- DependentLaunch.h - Dependent kernel launches to NVVM ----*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETONVGPU_DEPENDENTLAUNCH_H
#define TILE_LIB_CONVERSION_TILETONVGPU_DEPENDENTLAUNCH_H

#include "mlir/IR/PatternMatch.h"

namespace tile {

/// Adds patterns for dependent kernel launches.
void populateDependentLaunchToNVVMPatterns(mlir::RewritePatternSet &patterns);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVGPU_DEPENDENTLAUNCH_H
