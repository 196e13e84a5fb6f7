//===- Allocation.h - Allocation of vector registers on AMD -----*- C++ -*-===//
#ifndef TILE_LIB_DRIVER_BACKEND_ALLOCATION_H
#define TILE_LIB_DRIVER_BACKEND_ALLOCATION_H

#include "llvm/ADT/StringMap.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/Function.h"
#include <functional>

namespace tile {

/// The size of a function and its register pressure (vector registers).
struct RegisterDemand {
  /// The most registers that the values of a thread take at once, and the
  /// registers that a thread has.
  int64_t live = 0, available = 0;
  /// The instructions of the function.
  int64_t instructions = 0;
  /// Whether code is generated without optimization.
  bool isUnoptimized = false;

  /// Returns true if the values take over a twentieth more registers than there
  /// are.
  bool isExcessive() const { return 20 * live > 21 * available; }
  /// Returns true if the values fit and leave fewer registers than the
  /// scheduler does under limitScheduling().
  bool isTight() const;
  /// Returns true if LLVM needs seconds to generate the code of the function
  /// once.
  bool isLong() const;
  /// Returns true if LLVM's greedy allocator would take too long.
  bool isCrowded() const;
  /// Returns true if any of LLVM's allocators would take too long.
  bool isHopeless() const;
};

/// Returns the demand of `function` if the values of LLVM IR keep their order,
/// and `available` registers. Scalar integers and addresses do not count.
RegisterDemand estimateDemand(const llvm::Function &function,
                              int64_t available);

/// Lets the scheduler of `function`, whose demand was measured, leave a few of
/// the registers to the allocator: some values need consecutive registers.
/// To be called before code generation.
void limitScheduling(llvm::Function &function, const RegisterDemand &demand);

/// The demands of functions, by their names.
using RegisterDemands = llvm::StringMap<RegisterDemand>;

/// Returns true if registers are allocated to a function with this name and
/// demand.
using IsKept =
    std::function<bool(llvm::StringRef, const RegisterDemand &demand)>;

/// Adds passes that measure the demands of functions. Those that `isKept`
/// refuses become empty, for code that is generated again. LLVM's basic
/// allocator allocates the vector registers of crowded ones. To be called
/// before `config` adds its machine passes.
void allocateCrowdedFunctions(llvm::TargetPassConfig &config,
                              RegisterDemands &demands, IsKept isKept);

} // namespace tile

#endif // TILE_LIB_DRIVER_BACKEND_ALLOCATION_H
