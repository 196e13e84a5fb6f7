//===- TileVectors.h - The vector of a tile in registers --------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_TILEVECTORS_H
#define TILE_LIB_CONVERSION_TILETOGPU_TILEVECTORS_H

#include "Emitter.h"
#include "tile/Layout/Layout.h"

namespace tile {

using Coordinates = llvm::SmallVector<int64_t, 4>;

Layout layoutOf(mlir::Value tile);

/// Returns the coordinates of every register relative to those of register 0.
llvm::SmallVector<Coordinates> registerCoordinates(const Layout &layout);

/// Returns the elements `indices` of `vector`, or `vector` itself if these are
/// all elements in order.
mlir::Value shuffle(Emitter &b, mlir::Value vector,
                    llvm::ArrayRef<int64_t> indices);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_TILEVECTORS_H
