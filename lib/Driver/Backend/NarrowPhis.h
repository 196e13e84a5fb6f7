//===- NarrowPhis.h - Phis of the elements that are read --------*- C++ -*-===//
#ifndef TILE_LIB_DRIVER_BACKEND_NARROWPHIS_H
#define TILE_LIB_DRIVER_BACKEND_NARROWPHIS_H

#include "llvm/IR/Module.h"

namespace tile {

/// Makes phis of the elements that are read from phis of wide vectors.
void narrowPhis(llvm::Module &module);

} // namespace tile

#endif // TILE_LIB_DRIVER_BACKEND_NARROWPHIS_H
