//===- LaunchExpressions.h - Numbers that launchers compute -----*- C++ -*-===//
#ifndef TILE_DIALECT_TILE_IR_LAUNCHEXPRESSIONS_H
#define TILE_DIALECT_TILE_IR_LAUNCHEXPRESSIONS_H

#include "mlir/IR/Operation.h"
#include "tile/Layout/Layout.h"

namespace tile {

/// Returns the operator of the manifest (docs/Manifest.md) that computes what
/// `op` computes from two numbers; empty if there is none.
llvm::StringRef getLaunchOperator(mlir::Operation *op);

/// The extent of one result of a map whose dimensions have extents that are
/// known at launch: `constant` + the sum of ceil(extent of dim / divisor) *
/// factor.
struct MapExtent {
  struct Term {
    unsigned dim;
    int64_t divisor, factor;
  };
  int64_t constant = 1;
  llvm::SmallVector<Term> terms;
};
/// Returns the extent of `result`, which is as large as the digits of `map`
/// need.
MapExtent getMapExtent(const Layout &map, unsigned result);

} // namespace tile

#endif // TILE_DIALECT_TILE_IR_LAUNCHEXPRESSIONS_H
