//===- Allocation.h - Allocation of vector registers on AMD -----*- C++ -*-===//
#ifndef TILE_LIB_DRIVER_BACKEND_ALLOCATION_H
#define TILE_LIB_DRIVER_BACKEND_ALLOCATION_H

#include "llvm/ADT/StringMap.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include <functional>

namespace tile {

/// What a function asks of the allocation of vector registers.
struct RegisterDemand {
  /// The registers that the values of a thread take at once, and those that a
  /// thread has.
  int64_t live = 0, available = 0;
  /// The machine instructions of the function.
  int64_t instructions = 0;

  /// Returns true if one way to generate code takes LLVM seconds.
  bool isLong() const;
  /// Returns true if LLVM's greedy allocator would take too long.
  bool isCrowded() const;
};

/// The demands of functions, by their names.
using RegisterDemands = llvm::StringMap<RegisterDemand>;

/// Adds passes that measure the demands of functions. LLVM's basic allocator
/// allocates the vector registers of the crowded ones that `isKept` accepts.
/// The other crowded ones become empty, for code that is generated again. To be
/// called before `config` adds its machine passes.
void allocateCrowdedFunctions(llvm::TargetPassConfig &config,
                              RegisterDemands &demands,
                              std::function<bool(llvm::StringRef)> isKept);

} // namespace tile

#endif // TILE_LIB_DRIVER_BACKEND_ALLOCATION_H
