//===- LowerVectorParts.h - Lowers vectors that consist of parts *- C++ -*-===//

#ifndef TILE_LIB_CONVERSION_GPUTOLLVM_LOWERVECTORPARTS_H
#define TILE_LIB_CONVERSION_GPUTOLLVM_LOWERVECTORPARTS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace tile {

/// Lowers rank-1 chains of vector.insert_strided_slice, and slices of one
/// element. Upstream lowers each insertion to two shuffles of the whole vector;
/// a chain of n of them has O(n^2) mask entries, and LLVM needs even longer.
///
/// A chain of single elements becomes one vector.from_elements. Any other chain
/// becomes a balanced tree of concatenations, which has O(n log n) mask
/// entries. A slice of one element becomes vector.extract.
void lowerVectorParts(mlir::gpu::GPUModuleOp module);

} // namespace tile

#endif // TILE_LIB_CONVERSION_GPUTOLLVM_LOWERVECTORPARTS_H
