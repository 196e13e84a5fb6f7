//===- ChooseSchedule.h - The schedules of kernels of attention -*- C++ -*-===//
#ifndef TILE_LIB_KERNELS_ATTENTION_CHOOSESCHEDULE_H
#define TILE_LIB_KERNELS_ATTENTION_CHOOSESCHEDULE_H

#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/Tile/Transforms/Schedule/ScheduleTable.h"

namespace tile {

/// Completes the schedules of named operations by the rows of the target chip.
class ScheduleChooser {
public:
  /// The rows are those of `folder` (see ScheduleTable::load).
  explicit ScheduleChooser(std::string folder) : folder(std::move(folder)) {}

  /// Each of these returns a schedule that has `tile` and `warps` and suits the
  /// chip, or reports an error at the operation.
  llvm::FailureOr<Schedule> chooseForward(AttentionOp op);
  llvm::FailureOr<Schedule> chooseBackwardKeys(AttentionBackwardOp op);
  llvm::FailureOr<Schedule> chooseBackwardQueries(AttentionBackwardOp op);

private:
  /// Returns `given` with the fields of the first row for `features` where it
  /// has none. If the kernel adds `dqColumns` columns of dQ to memory, which
  /// tile-pad-extents cannot pad, it is the first row whose warps can divide
  /// them.
  llvm::FailureOr<Schedule> complete(mlir::Operation *op, ScheduleAttr given,
                                     const KernelFeatures &features,
                                     int64_t dqColumns = 0);

  std::string folder;
  /// Read when it is needed first.
  std::optional<ScheduleTable> table;
};

} // namespace tile

#endif // TILE_LIB_KERNELS_ATTENTION_CHOOSESCHEDULE_H
