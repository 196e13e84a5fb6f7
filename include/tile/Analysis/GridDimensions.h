//===- GridDimensions.h - Dependence on the grid ----------------*- C++ -*-===//
//
// The dimensions of the grid that the values of a kernel depend on, through
// operations without memory effects and through induction variables.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_GRIDDIMENSIONS_H
#define TILE_ANALYSIS_GRIDDIMENSIONS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace tile {

class GridDimensions {
public:
  /// Bits of a set of dimensions; `Unknown` for a value that memory or an
  /// iteration determines.
  enum : unsigned { X = 1, Y = 2, Z = 4, Unknown = 8 };

  /// With `ignoresConditions`, what decides between two values does not count;
  /// with `ignoresIterations`, induction variables do not.
  explicit GridDimensions(bool ignoresConditions = false,
                          bool ignoresIterations = false)
      : ignoresConditions(ignoresConditions),
        ignoresIterations(ignoresIterations) {}

  /// Returns the dimensions that `value` depends on. The answers hold until the
  /// kernel changes.
  unsigned find(mlir::Value value);
  /// Returns the dimensions that one of `values` depends on.
  unsigned find(mlir::ValueRange values);

private:
  unsigned compute(mlir::Value value);

  bool ignoresConditions, ignoresIterations;
  llvm::DenseMap<mlir::Value, unsigned> known;
};

} // namespace tile

#endif // TILE_ANALYSIS_GRIDDIMENSIONS_H
