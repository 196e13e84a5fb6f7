//===- LowerBufferAccess.h - Lowers accesses to windows ---------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_GPUTOLLVM_LOWERBUFFERACCESS_H
#define TILE_LIB_CONVERSION_GPUTOLLVM_LOWERBUFFERACCESS_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/PatternMatch.h"
#include "tile/Chips/Chips.h"

namespace tile {

/// Lowers tile_gpu.buffer_load, buffer_store and buffer_atomic_rmw to
/// instructions with a buffer descriptor.
void populateBufferAccessToLLVMPatterns(
    const mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns,
    const Chip &chip);

} // namespace tile

#endif // TILE_LIB_CONVERSION_GPUTOLLVM_LOWERBUFFERACCESS_H
