//===- SplitRoles.h - A kernel as a program for each role -------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_WARPROLES_SPLITROLES_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_WARPROLES_SPLITROLES_H

#include "WarpPlan.h"

namespace tile {

/// Rewrites `kernel` as `plan` describes: all operations but those outside move
/// to a tile.warp_roles, whose roles pass tiles to each other through rings.
/// The schedule of the kernel has the warps and registers of the roles; these
/// fields are removed.
void splitRoles(KernelOp kernel, const WarpPlan &plan);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_WARPROLES_SPLITROLES_H
