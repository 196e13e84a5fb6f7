//===- SplitRoles.h - A kernel as a program for each role -------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_WARPROLES_SPLITROLES_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_WARPROLES_SPLITROLES_H

#include "WarpPlan.h"

namespace tile {

/// Numbers of warps of the roles beside those that compute.
struct RoleWarps {
  int64_t producers, storers;
};

/// Rewrites `kernel` as `plan` says: what is not outside goes into a
/// tile.warp_roles, whose roles hand tiles to each other through rings. The
/// attributes that asked for it go.
void splitRoles(KernelOp kernel, RoleWarps warps, const WarpPlan &plan);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_WARPROLES_SPLITROLES_H
