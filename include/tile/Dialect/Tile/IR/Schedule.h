//===- Schedule.h - The fields of a schedule --------------------*- C++ -*-===//
//
// The value of #tile.schedule (TileSchedule.td), which documents the fields.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TILE_IR_SCHEDULE_H
#define TILE_DIALECT_TILE_IR_SCHEDULE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include <array>
#include <cstdint>
#include <optional>

namespace mlir {
class InFlightDiagnostic;
class Operation;
} // namespace mlir

namespace tile {

/// The order in which the blocks of a launch walk over the first two dimensions
/// of the grid.
struct BlockOrder {
  /// The number of blocks along x of a group; 0: all.
  int64_t group = 0;
  /// The number of blocks along y that a group walks first, before the next one
  /// along x.
  int64_t panel = 1;

  bool isPlain() const { return group == 0; }
  bool operator==(BlockOrder other) const {
    return group == other.group && panel == other.panel;
  }
};

inline llvm::hash_code hash_value(BlockOrder order) {
  return llvm::hash_combine(order.group, order.panel);
}

/// How a kernel divides its work among warps and memory. The compiler chooses a
/// field without a value.
struct Schedule {
  /// A number, two numbers, a flag, an order, or numbers by name.
  using Number = std::optional<int64_t>;
  using Pair = std::optional<std::array<int64_t, 2>>;
  using Flag = std::optional<bool>;
  using Order = std::optional<BlockOrder>;
  using Numbers = std::optional<mlir::DictionaryAttr>;

  Pair tile;
  Number packHeads;
  Number warps, columnWarps;
  Number consumerGroups, producers, storers;
  Pair registers;
  Number stages, workStages, inFlight;
  Flag turns, saveRegisters, keepLoops, lateProducts;
  Number split, clusterSplit, streamK;
  Order order;
  /// The values of parameters (tile.param), integers of 64 bits.
  Numbers params;

  /// Calls `visit` with the name of each field and its member of each of
  /// `schedules`, in the order in which the fields print.
  template <typename VisitT, typename... SchedulesT>
  static void forEachField(VisitT visit, SchedulesT &...schedules) {
    visit(llvm::StringRef("tile"), schedules.tile...);
    visit(llvm::StringRef("pack_heads"), schedules.packHeads...);
    visit(llvm::StringRef("warps"), schedules.warps...);
    visit(llvm::StringRef("column_warps"), schedules.columnWarps...);
    visit(llvm::StringRef("consumer_groups"), schedules.consumerGroups...);
    visit(llvm::StringRef("producers"), schedules.producers...);
    visit(llvm::StringRef("storers"), schedules.storers...);
    visit(llvm::StringRef("registers"), schedules.registers...);
    visit(llvm::StringRef("stages"), schedules.stages...);
    visit(llvm::StringRef("work_stages"), schedules.workStages...);
    visit(llvm::StringRef("in_flight"), schedules.inFlight...);
    visit(llvm::StringRef("turns"), schedules.turns...);
    visit(llvm::StringRef("save_registers"), schedules.saveRegisters...);
    visit(llvm::StringRef("keep_loops"), schedules.keepLoops...);
    visit(llvm::StringRef("late_products"), schedules.lateProducts...);
    visit(llvm::StringRef("split"), schedules.split...);
    visit(llvm::StringRef("cluster_split"), schedules.clusterSplit...);
    visit(llvm::StringRef("stream_k"), schedules.streamK...);
    visit(llvm::StringRef("order"), schedules.order...);
    visit(llvm::StringRef("params"), schedules.params...);
  }

  /// Returns true if no field has a value.
  bool empty() const { return *this == Schedule(); }
  /// Returns true if the kernel has producer warps.
  bool hasRoles() const { return producers.value_or(0) != 0; }
  /// Returns the number of times that the consumer warps exist.
  int64_t countConsumerGroups() const { return consumerGroups.value_or(1); }
  bool packsHeads() const { return packHeads.has_value(); }
  bool takesTurns() const { return turns.value_or(false); }
  bool savesRegisters() const { return saveRegisters.value_or(false); }
  bool keepsLoops() const { return keepLoops.value_or(false); }
  bool hasLateProducts() const { return lateProducts.value_or(true); }

  /// Returns this schedule with the fields of `defaults` where it has none.
  /// With `producers = 0`, the fields of roles and the stages of their rings
  /// stay without value, with `in_flight = 1` `work_stages`, and with fewer
  /// `warps` than two warpgroups `turns`. Parameters are filled in one by one.
  Schedule withDefaults(const Schedule &defaults) const;

  bool operator==(const Schedule &other) const;
  bool operator!=(const Schedule &other) const { return !(*this == other); }
};

llvm::hash_code hash_value(const Schedule &schedule);

/// Returns the schedule of a kernel, a loop or a function; without the
/// attribute, no field has a value.
Schedule getSchedule(mlir::Operation *op);
/// Sets the schedule of a kernel, a loop or a function. Removes the attribute
/// if no field has a value.
void setSchedule(mlir::Operation *op, const Schedule &schedule);

/// Verifies that only the fields `allowed` have a value; `user` names what has
/// the schedule in the error.
llvm::LogicalResult
verifyFields(llvm::StringRef user, llvm::ArrayRef<llvm::StringRef> allowed,
             const Schedule &schedule,
             llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
/// Verifies the numbers of warps and registers of `schedule` for a block whose
/// first role has groups of `warps` warps.
llvm::LogicalResult
verifyWarps(const Schedule &schedule, int64_t warps,
            llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace tile

#endif // TILE_DIALECT_TILE_IR_SCHEDULE_H
