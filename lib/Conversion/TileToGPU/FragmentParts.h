//===- FragmentParts.h - Fragments from the loads they need -----*- C++ -*-===//
//
// `tile-vectorize` gathers a tile's loads in one vector, brings it into
// register order and slices the fragments of products from that. Then every
// fragment depends on every load; these patterns make it depend on its own.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_FRAGMENTPARTS_H
#define TILE_LIB_CONVERSION_TILETOGPU_FRAGMENTPARTS_H

#include "mlir/IR/PatternMatch.h"

namespace tile {

/// Adds a pattern that makes a rank-1 vector.extract_strided_slice of inserted
/// parts, reached through any insertions, slices and shuffles, of just the
/// parts that it reads. Slices of anything else are left alone.
void populateFragmentPartsPatterns(mlir::RewritePatternSet &patterns);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_FRAGMENTPARTS_H
