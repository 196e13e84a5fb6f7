//===- ChooseSchedule.cpp - The schedules of kernels of attention ---------===//

#include "ChooseSchedule.h"
#include "AttentionBuilder.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

using namespace mlir;
using namespace tile;

/// The rows of a tile are a multiple of this: the fewest columns of a matrix
/// instruction.
static constexpr int64_t kFewestRows = 8;

template <typename OpT>
static KernelFeatures featuresOf(OpT op, int64_t products) {
  BufferType q = op.getQ().getType(), v = op.getV().getType();
  int64_t query = q.getShape().back(), value = v.getShape().back();
  KernelFeatures features{products, std::max(query, value), query, value,
                          q.getElementBits()};
  bool isWindow =
      op.isLeftBounded() || (op.isRightBounded() && !op.getCausal());
  features.mask = isWindow         ? MaskKind::Window
                  : op.getCausal() ? MaskKind::Causal
                                   : MaskKind::None;
  features.softcap = bool(op.getSoftcap());
  features.packed = op.isPacked();
  return features;
}

/// Returns true if `warps` warps can divide an accumulator of `rows` x
/// `columns` whose operands have the type `element`, at most `most` of them
/// along the columns.
static bool canDivide(const Chip &chip, Type element, int64_t warps,
                      int64_t rows, int64_t columns, int64_t most) {
  return llvm::any_of(chip.mma, [&](StringRef name) {
    const Mma &mma = *findMma(name);
    if (mma.operand != getMmaElement(element))
      return false;
    return llvm::any_of(
        llvm::seq<int64_t>(1, most + 1), [&](int64_t alongColumns) {
          return warps % alongColumns == 0 &&
                 divides(mma, {warps / alongColumns, alongColumns}, rows,
                         columns);
        });
  });
}

FailureOr<Schedule> ScheduleChooser::complete(Operation *op, ScheduleAttr given,
                                              const KernelFeatures &features,
                                              int64_t dqColumns) {
  Schedule schedule = given ? given.getFields() : Schedule();
  bool isComplete = schedule.tile && schedule.warps;
  auto module = op->getParentOfType<ModuleOp>();
  // Tests of the expansion alone give complete schedules and no chip.
  if (isComplete && !module->hasAttr(TileDialect::kTargetAttr))
    return schedule;
  const Chip *chip = getTargetChip(op);
  if (!chip)
    return failure();
  if (!table) {
    FailureOr<ScheduleTable> loaded =
        ScheduleTable::load(op->getContext(), *chip, folder);
    if (failed(loaded))
      return failure();
    table = std::move(*loaded);
  }
  auto suits = [&](const Schedule &row) {
    Schedule whole = schedule.withDefaults(row);
    auto q = cast<BufferType>(op->getOperand(0).getType());
    return dqColumns == 0 || !whole.tile || !whole.warps ||
           canDivide(*chip, q.getElementType(), *whole.warps, (*whole.tile)[0],
                     dqColumns, /*most=*/*whole.warps);
  };
  if (std::optional<Schedule> row = table->find(features, suits))
    schedule = schedule.withDefaults(*row);
  else if (!isComplete)
    return op->emitOpError()
           << "has no schedule on " << chip->name << " (a kernel with "
           << features.describe()
           << "); give the fields 'tile' and 'warps' of its schedule";
  if (failed(verifyScheduleOnChip(schedule, *chip,
                                  [&] { return op->emitOpError(); })))
    return failure();
  return schedule;
}

/// Verifies a schedule whose fields may come from different places. The rows of
/// `tile` must be a multiple of `rows`.
static LogicalResult verifyWhole(Operation *op, const Schedule &schedule,
                                 StringRef kernel, ArrayRef<StringRef> fields,
                                 int64_t rows = kInstructionRows) {
  auto emitError = [&] { return op->emitOpError(); };
  // Nothing else can give producers now.
  Schedule whole = schedule;
  whole.producers = schedule.producers.value_or(0);
  if (failed(verifyFields(kernel, fields, schedule, emitError)) ||
      failed(ScheduleAttr::verify(emitError, whole)))
    return failure();
  auto [q, k] = *schedule.tile;
  if (q % rows != 0 || k % kInstructionRows != 0)
    return emitError() << "'tile = [" << q << ", " << k
                       << "]' of its schedule with " << *schedule.warps
                       << " warps must be multiples of " << rows << " and "
                       << kInstructionRows;
  return success();
}

/// Returns the number of products in flight of `schedule`. Products overlap
/// other operations only if TMA fills their operands, for which producers are.
static int64_t getInFlight(const Schedule &schedule) {
  return schedule.inFlight.value_or(schedule.hasRoles() ? 2 : 1);
}

/// Verifies that the blocks of a cluster can share the keys of a tile.
static LogicalResult verifyClusterSplit(AttentionOp op,
                                        const Schedule &schedule) {
  if (!schedule.clusterSplit)
    return success();
  int64_t blocks = *schedule.clusterSplit;
  int64_t columns = padColumns(op.getV().getType().getShape().back());
  std::string reason;
  if (op.getOParts())
    reason = "its parts have blocks of the grid";
  else if (op.getMerge())
    reason = "a merge reads what other blocks write";
  else if (columns % blocks != 0)
    reason = std::to_string(blocks) + " blocks cannot divide " +
             std::to_string(columns) + " columns of the output";
  if (reason.empty())
    return success();
  return op.emitOpError() << "cannot have 'cluster_split' in its schedule: "
                          << reason;
}

/// Removes rows of a tile, of which at most `most` are of use (0: any number),
/// as far as an instruction has so few columns. The products are transposed
/// then.
static void removeUnusedRows(AttentionOp op, int64_t most, Schedule &schedule) {
  const Chip *chip = getTargetChip(op);
  auto [rows, keys] = *schedule.tile;
  if (most == 0 || most >= rows)
    return;
  Type element = op.getQ().getType().getElementType();
  int64_t heads = schedule.packHeads.value_or(1);
  int64_t fewest = std::max<int64_t>(llvm::PowerOf2Ceil(most), kFewestRows);
  for (int64_t fewer = fewest; fewer < rows; fewer *= 2) {
    Schedule trial = schedule;
    trial.tile = {fewer, keys};
    if (fewer % heads != 0 || !isTransposed(trial) ||
        !canDivide(*chip, element, *schedule.warps, keys, fewer, /*most=*/1))
      continue;
    schedule = trial;
    return;
  }
}

FailureOr<Schedule> ScheduleChooser::chooseForward(AttentionOp op) {
  KernelFeatures features = featuresOf(op, /*products=*/2);
  features.merge = op.getMerge();
  ScheduleAttr given = op.getScheduleAttr();
  features.parts = op.getOParts() || (given && given.getFields().clusterSplit);
  features.keyLengths = bool(op.getKeyLengths());
  int64_t keys = op.getK().getType().getShape()[1];
  if (op.getExpectedKeys())
    features.keys = *op.getExpectedKeys();
  else if (!op.getCuK() && !op.isPaged() && !ShapedType::isDynamic(keys))
    features.keys = keys;
  features.rows = op.getExpectedRows().value_or(0);
  features.packHeads = given && given.getFields().packsHeads();
  FailureOr<Schedule> schedule = complete(op, given, features);
  if (failed(schedule))
    return failure();
  // Only the kernels of a packed batch know how much work its sequences are. A
  // persistent kernel that reads and writes o would order its iterations.
  StringRef reason =
      features.packed          ? "packed sequences have no length at launch"
      : features.merge         ? "a merge reads what other blocks write"
      : features.keyLengths    ? "sequences have no length at launch"
      : features.parts         ? "blocks share the keys of a tile"
      : schedule->packsHeads() ? "the rows of a tile are heads"
                               : "";
  if (!reason.empty()) {
    if (given && given.getFields().workStages.value_or(0) != 0)
      return op.emitOpError()
             << "cannot have 'work_stages' in its schedule: " << reason;
    schedule->workStages.reset();
  }
  if (!(given && given.getFields().tile) && features.packHeads)
    removeUnusedRows(op, features.rows, *schedule);
  if (failed(verifyWhole(op, *schedule, "tile.attention",
                         AttentionOp::getScheduleFields(), kFewestRows)))
    return failure();
  auto [tileRows, tileKeys] = *schedule->tile;
  int64_t warpRows = kInstructionRows * *schedule->warps;
  if (isTransposed(*schedule) && tileKeys % warpRows != 0)
    return op.emitOpError()
           << "'tile = [" << tileRows << ", " << tileKeys
           << "]' of its schedule with " << *schedule->warps
           << " warps must have rows or keys that are a multiple of "
           << warpRows;
  if (failed(verifyClusterSplit(op, *schedule)))
    return failure();
  int64_t heads = schedule->packHeads.value_or(1);
  if (tileRows % heads != 0)
    return op.emitOpError()
           << "'pack_heads = " << heads << "' of its schedule must divide the "
           << tileRows << " rows of a tile";
  schedule->inFlight = getInFlight(*schedule);
  return schedule;
}

FailureOr<Schedule>
ScheduleChooser::chooseBackwardKeys(AttentionBackwardOp op) {
  KernelFeatures features = featuresOf(op, op.getDqAcc() ? 5 : 4);
  features.atomicResults = op.getKvMode() == KVAccumulation::Atomic;
  int64_t dqColumns = op.getDqAcc() ? padColumns(features.query) : 0;
  FailureOr<Schedule> schedule =
      complete(op, op.getDkvScheduleAttr(), features, dqColumns);
  if (failed(schedule) ||
      failed(verifyWhole(op, *schedule, "dk and dv",
                         AttentionBackwardOp::getKeysScheduleFields())))
    return failure();
  // Addresses of results in f32 leave no registers for the number of an
  // iteration (docs/notes/hopper-backward.md).
  if (op.getKvMode() == KVAccumulation::Separate && !schedule->lateProducts)
    schedule->lateProducts = false;
  int64_t queries = (*schedule->tile)[0];
  if (features.packed && schedule->hasRoles() && kStatsRows % queries != 0)
    return op.emitOpError()
           << "'tile = [" << queries << ", " << (*schedule->tile)[1]
           << "]' of the schedule of dk and dv: with roles, the queries of "
              "packed sequences must divide "
           << kStatsRows;
  schedule->inFlight = getInFlight(*schedule);
  return schedule;
}

FailureOr<Schedule>
ScheduleChooser::chooseBackwardQueries(AttentionBackwardOp op) {
  FailureOr<Schedule> schedule =
      complete(op, op.getDqScheduleAttr(), featuresOf(op, /*products=*/3));
  if (failed(schedule) ||
      failed(verifyWhole(op, *schedule, "dq",
                         AttentionBackwardOp::getQueriesScheduleFields())))
    return failure();
  return schedule;
}
