//===- SingleElements.h - i64 in place of <1 x i64> -------------*- C++ -*-===//
#ifndef TILE_LIB_DRIVER_BACKEND_SINGLEELEMENTS_H
#define TILE_LIB_DRIVER_BACKEND_SINGLEELEMENTS_H

#include "llvm/IR/Module.h"

namespace tile {

/// Computes on i64 in place of <1 x i64>, for some sums of which LLVM's
/// SelectionDAG does not terminate on AMD.
void scalarizeSingleElements(llvm::Module &module);

} // namespace tile

#endif // TILE_LIB_DRIVER_BACKEND_SINGLEELEMENTS_H
