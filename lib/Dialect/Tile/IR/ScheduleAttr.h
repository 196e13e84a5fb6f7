//===- ScheduleAttr.h - Verifies schedules ----------------------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_IR_SCHEDULEATTR_H
#define TILE_LIB_DIALECT_TILE_IR_SCHEDULEATTR_H

#include "mlir/IR/Diagnostics.h"
#include "tile/Dialect/Tile/IR/Schedule.h"

namespace tile {

/// Verifies the fields of a kernel with `warps` warps, its consumer warps if it
/// has roles; std::nullopt if their number is open.
llvm::LogicalResult
verifyKernelSchedule(const Schedule &schedule, std::optional<int64_t> warps,
                     llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_IR_SCHEDULEATTR_H
