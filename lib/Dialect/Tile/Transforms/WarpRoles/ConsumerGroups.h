//===- ConsumerGroups.h - Groups of consumers take turns --------*- C++ -*-===//
//-*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_WARPROLES_CONSUMERGROUPS_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_WARPROLES_CONSUMERGROUPS_H

#include "WarpPlan.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// Finds the loop over works of `kernel`, before it is divided into roles.
/// Refuses a kernel whose works two groups of consumers cannot take in turn:
/// one that is not persistent, that adds tiles by storer warps, or whose works
/// depend on each other or take tiles whose number is unknown before.
Refusal findAlternatingWorks(KernelOp kernel, const WarpPlan &plan,
                             mlir::scf::ForOp &works);

/// Lets each group of consumers take every second work of `works`, a loop of
/// their role, and lets the groups take turns up to the last tile of a work.
void alternateWorks(mlir::scf::ForOp works);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_WARPROLES_CONSUMERGROUPS_H
