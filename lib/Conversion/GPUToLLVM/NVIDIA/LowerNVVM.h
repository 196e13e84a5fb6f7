//===- LowerNVVM.h - Operations of nvvm that LLVM misrenders ----*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_GPUTOLLVM_NVIDIA_LOWERNVVM_H
#define TILE_LIB_CONVERSION_GPUTOLLVM_NVIDIA_LOWERNVVM_H

#include "mlir/Transforms/DialectConversion.h"

namespace tile {

/// Adds patterns for operations of nvvm that have no correct lowering in MLIR
/// 22, and marks them as illegal.
void populateNVVMLoweringPatterns(mlir::RewritePatternSet &patterns,
                                  mlir::ConversionTarget &target);

/// Turns the operations of nvvm that have no intrinsic into inline assembly, by
/// MLIR's patterns. The translation to LLVM IR would refuse them, or drop their
/// predicates. MLIR's assembly does not say that it accesses memory; this adds
/// it, so that other accesses stay in order.
void lowerToAssembly(mlir::Operation *root);

} // namespace tile

#endif // TILE_LIB_CONVERSION_GPUTOLLVM_NVIDIA_LOWERNVVM_H
