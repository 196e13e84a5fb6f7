//===- PlaceOperands.h - Cheap operands at their uses -----------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETONVGPU_PLACEOPERANDS_H
#define TILE_LIB_CONVERSION_TILETONVGPU_PLACEOPERANDS_H

namespace mlir {
class Operation;
} // namespace mlir

namespace tile {

/// Computes addresses of shared memory and numbers of barriers at each
/// operation that takes one. Earlier passes have hoisted them out of loops or
/// shared them. At their use they are one addition, or an immediate of the
/// instruction; the consumers of a kernel have no registers to keep them.
void placeOperands(mlir::Operation *root);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVGPU_PLACEOPERANDS_H
