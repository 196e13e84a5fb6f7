//===- LowerAtomics.h - Lowers atomics to instructions ----------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_GPUTOLLVM_LOWERATOMICS_H
#define TILE_LIB_CONVERSION_GPUTOLLVM_LOWERATOMICS_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/PatternMatch.h"
#include "tile/Chips/Chips.h"

namespace tile {

/// Lowers tile_gpu.atomic_rmw by the rows of Chips/Atomics.h.
void populateAtomicToLLVMPatterns(const mlir::LLVMTypeConverter &converter,
                                  mlir::RewritePatternSet &patterns,
                                  const Chip &chip);

} // namespace tile

#endif // TILE_LIB_CONVERSION_GPUTOLLVM_LOWERATOMICS_H
