//===- FragmentParts.h - Fragments of only their own loads ------*- C++ -*-===//
//
// `tile-vectorize` collects the loads of a tile in one vector, permutes it into
// register order and extracts the fragments of MMAs from it. So every fragment
// depends on every load. These patterns make each fragment depend only on the
// loads that it needs.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_PASSES_FRAGMENTPARTS_H
#define TILE_LIB_CONVERSION_TILETOGPU_PASSES_FRAGMENTPARTS_H

#include "mlir/IR/PatternMatch.h"

namespace tile {

/// Adds patterns for rank-1 vector.extract_strided_slice, and for
/// vector.shuffle that selects a part of a vector. They follow the slice
/// through insertions, slices and shuffles and rebuild it from the inserted
/// parts that it reads. Other slices are unchanged.
void populateFragmentPartsPatterns(mlir::RewritePatternSet &patterns);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_PASSES_FRAGMENTPARTS_H
