//===- Backend.h - From the LLVM dialect to an artifact ---------*- C++ -*-===//
#ifndef TILE_LIB_DRIVER_BACKEND_BACKEND_H
#define TILE_LIB_DRIVER_BACKEND_BACKEND_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "tile/Chips/Chips.h"
#include "tile/Driver/Compile.h"
#include "llvm/ADT/SmallString.h"
#include <chrono>
#include <string>

namespace tile {

/// Appends the time since the last lap.
class Stopwatch {
public:
  explicit Stopwatch(std::vector<StageTime> &times) : times(times) {}
  void restart() { start = Clock::now(); }
  void lap(llvm::StringRef stage) {
    Clock::time_point now = Clock::now();
    times.push_back(
        {stage.str(), std::chrono::duration<double>(now - start).count()});
    start = now;
  }

private:
  using Clock = std::chrono::steady_clock;
  std::vector<StageTime> &times;
  Clock::time_point start = Clock::now();
};

/// Translates `module` (S6) to LLVM IR, optimizes it and writes LLVM IR, PTX
/// or, for HSACO, a relocatable object to `output`. Diagnostics of LLVM become
/// diagnostics at the function that they name.
mlir::LogicalResult runBackend(mlir::gpu::GPUModuleOp module, const Chip &chip,
                               OutputKind kind, unsigned optLevel,
                               Stopwatch &stopwatch, std::string &output);

/// Replaces the assertions of a code object of AMD by traps. Readers of LLVM IR
/// see the calls. Fails with an error at a print, which such an object cannot
/// contain.
mlir::LogicalResult replaceReports(mlir::gpu::GPUModuleOp module,
                                   const Chip &chip);

/// Links a relocatable AMD object into a code object, in this process. Emits
/// the linker's messages at `module`.
mlir::FailureOr<std::string> linkCodeObject(mlir::gpu::GPUModuleOp module,
                                            llvm::StringRef object);

} // namespace tile

#endif // TILE_LIB_DRIVER_BACKEND_BACKEND_H
