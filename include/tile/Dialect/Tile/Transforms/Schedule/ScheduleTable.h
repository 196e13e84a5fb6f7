//===- ScheduleTable.h - The schedules that are known of a chip -*- C++ -*-===//
#ifndef TILE_DIALECT_TILE_TRANSFORMS_SCHEDULE_SCHEDULETABLE_H
#define TILE_DIALECT_TILE_TRANSFORMS_SCHEDULE_SCHEDULETABLE_H

#include "mlir/IR/OwningOpRef.h"
#include "tile/Chips/Chips.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// The rows of schedules/<chip>.mlir.
class ScheduleTable {
public:
  /// Reads the file of `chip` in `folder`, or that of the compiler if `folder`
  /// is empty. Reports errors at their line of the file.
  static llvm::FailureOr<ScheduleTable>
  load(mlir::MLIRContext *context, const Chip &chip, llvm::StringRef folder);

  /// Returns the schedule of the first row that matches and that `suits`, or
  /// none.
  std::optional<Schedule>
  find(const KernelFeatures &features,
       llvm::function_ref<bool(const Schedule &)> suits) const;

  /// Returns the schedule of the first row for `kernel`, which has open
  /// extents, and a problem of these sizes, or none. `sizes` has the extents of
  /// arguments that are known; kDynamic is unknown.
  std::optional<Schedule>
  find(KernelOp kernel,
       const llvm::StringMap<llvm::SmallVector<int64_t>> &sizes) const;

private:
  class Loader;

  struct Row {
    KernelPattern pattern;
    Schedule schedule;
  };
  llvm::SmallVector<Row, 0> rows;

  struct KernelRow {
    std::string kernel;
    SizePattern sizes;
    Schedule schedule;
  };
  llvm::SmallVector<KernelRow, 0> kernelRows;
};

/// Returns `folder`, else the value of the environment variable TILE_SCHEDULES.
std::string getScheduleFolder(llvm::StringRef folder);

/// Verifies that `chip` can run a kernel with this schedule.
llvm::LogicalResult
verifyScheduleOnChip(const Schedule &schedule, const Chip &chip,
                     llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace tile

#endif // TILE_DIALECT_TILE_TRANSFORMS_SCHEDULE_SCHEDULETABLE_H
