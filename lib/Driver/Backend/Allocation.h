//===- Allocation.h - Allocation of vector registers on AMD -----*- C++ -*-===//
#ifndef TILE_LIB_DRIVER_BACKEND_ALLOCATION_H
#define TILE_LIB_DRIVER_BACKEND_ALLOCATION_H

#include "llvm/ADT/StringMap.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include <functional>

namespace tile {

/// The vector registers that the values of a thread take at once, and those
/// that a thread has.
struct RegisterDemand {
  int64_t live, available;
};

/// The demand of the functions that need many more registers than there are, by
/// their names.
using CrowdedFunctions = llvm::StringMap<RegisterDemand>;

/// Adds passes that find the crowded functions. LLVM's basic allocator
/// allocates the vector registers of those that `isKept` accepts. The others
/// become empty, for code that is generated again. To be called before `config`
/// adds its machine passes.
void allocateCrowdedFunctions(llvm::TargetPassConfig &config,
                              CrowdedFunctions &crowded,
                              std::function<bool(llvm::StringRef)> isKept);

} // namespace tile

#endif // TILE_LIB_DRIVER_BACKEND_ALLOCATION_H
