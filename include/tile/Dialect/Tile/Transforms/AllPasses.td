//===- AllPasses.td - Passes over tile programs ------------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_TRANSFORMS_ALLPASSES_TD
#define TILE_DIALECT_TILE_TRANSFORMS_ALLPASSES_TD

include "tile/Dialect/Tile/Transforms/Program/Passes.td"
include "tile/Dialect/Tile/Transforms/Schedule/Passes.td"
include "tile/Dialect/Tile/Transforms/Grid/Passes.td"
include "tile/Dialect/Tile/Transforms/Masks/Passes.td"
include "tile/Dialect/Tile/Transforms/Layouts/Passes.td"
include "tile/Dialect/Tile/Transforms/Reductions/Passes.td"
include "tile/Dialect/Tile/Transforms/WarpRoles/Passes.td"
include "tile/Dialect/Tile/Transforms/Copies/Passes.td"
include "tile/Dialect/Tile/Transforms/Memory/Passes.td"

#endif // TILE_DIALECT_TILE_TRANSFORMS_ALLPASSES_TD
