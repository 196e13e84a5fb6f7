//===- CloseExtents.cpp - Values of open extents --------------------------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"
#include "tile/Analysis/Candidates.h"
#include "tile/Analysis/SplitReduction.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Dialect/Tile/Transforms/Schedule/ScheduleTable.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <limits>

namespace tile {
#define GEN_PASS_DEF_TILECLOSEEXTENTS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Returns the tile of `type`, which has open extents, for these values of the
/// parameters.
static RankedTensorType closeType(RankedTensorType type,
                                  DictionaryAttr values) {
  SmallVector<int64_t> shape;
  for (const TileExtent &extent : getExtents(type))
    shape.push_back(extent.name
                        ? values.getAs<IntegerAttr>(extent.name).getInt()
                        : extent.number);
  return RankedTensorType::get(shape, type.getElementType());
}

/// Verifies the sizes of the tiles of `kernel` for these values.
static LogicalResult verifySizes(KernelOp kernel, DictionaryAttr values) {
  WalkResult result = kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      if (!isOpenTile(type))
        continue;
      RankedTensorType tile = closeType(cast<RankedTensorType>(type), values);
      auto emitError = [&] {
        return op->emitOpError()
               << "has the type " << type << " and, with "
               << describeNumbers(values) << ", " << tile << ": ";
      };
      if (failed(verifyTileShape(tile.getShape(), emitError)))
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Replaces the parameters of `kernel` by `values` in types and operations.
static void closeExtents(KernelOp kernel, DictionaryAttr values) {
  IRRewriter rewriter(kernel.getContext());
  for (ParamOp param : getParams(kernel)) {
    rewriter.setInsertionPoint(param);
    rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(
        param, values.getAs<IntegerAttr>(param.getParameterAttr()).getInt());
  }
  kernel.walk([&](tensor::SplatOp splat) {
    if (!isOpenTile(splat.getType()))
      return;
    rewriter.setInsertionPoint(splat);
    rewriter.replaceOpWithNewOp<tensor::SplatOp>(
        splat, closeType(splat.getType(), values), splat.getInput());
  });
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](RankedTensorType type) -> std::optional<Type> {
    return isOpenTile(type) ? closeType(type, values) : type;
  });
  replacer.recursivelyReplaceElementsIn(kernel, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// Parses `argument = extents, ...`.
static LogicalResult parseSizes(KernelOp kernel, StringRef text,
                                ProblemSizes &sizes) {
  MLIRContext *context = kernel.getContext();
  // Other kernels of the program may have the argument.
  llvm::StringSet<> names;
  for (auto other : kernel->getBlock()->getOps<KernelOp>())
    for (unsigned i = 0; i < other.getNumArguments(); ++i)
      names.insert(getArgumentName(other, i));
  SmallVector<StringRef> entries;
  text.split(entries, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef entry : entries) {
    auto fail = [&](const Twine &message) {
      Location loc =
          FileLineColLoc::get(context, "--sizes", 1,
                              unsigned(entry.ltrim().data() - text.data()) + 1);
      return emitError(loc) << message;
    };
    auto [name, shape] = entry.split('=');
    name = name.trim();
    shape = shape.trim();
    if (name.empty() || shape.empty())
      return fail("expected 'argument = extents', got '" + entry.trim() + "'");
    if (!names.contains(name))
      return fail("no kernel has an argument '" + name + "'");
    SmallVector<int64_t> extents;
    SmallVector<StringRef> parts;
    shape.split(parts, 'x');
    for (StringRef part : parts) {
      int64_t extent = ShapedType::kDynamic;
      if (part.trim() != "?" &&
          (part.trim().getAsInteger(10, extent) || extent < 0))
        return fail("expected a number that is not negative, or '?', got '" +
                    part.trim() + "'");
      extents.push_back(extent);
    }
    if (!sizes.try_emplace(name, extents).second)
      return fail("the sizes of '" + name + "' come twice");
  }
  return success();
}

/// Returns a line about a candidate for a remark.
static std::string summarize(const RankedCandidate &ranked) {
  const Cost &cost = ranked.cost;
  return llvm::formatv(
      "{0}: {1:E2} cycles, most by {6}; {3} stages, {4} registers, {2} blocks "
      "on a multiprocessor, {5:P0} of the places in use{7}",
      describe(ranked.candidate), cost.cycles, cost.residentBlocks, cost.stages,
      cost.registers, cost.waveEfficiency, stringify(cost.getBound()),
      cost.isPadded ? "; padded" : "");
}

static remark::RemarkOpts remarkName(StringRef name) {
  return remark::RemarkOpts::name(name).category("tile-close-extents");
}

/// Returns the candidate with the least predicted time; remarks show the first
/// `shown`. A row of a file overrides it if `isOverridden`.
static FailureOr<RankedCandidate>
chooseCandidate(KernelOp kernel, const Chip &chip, const ProblemSizes &sizes,
                size_t shown, bool isOverridden) {
  Refusal refusal;
  auto ranked = rankCandidates(kernel, chip, sizes, refusal);
  if (ranked.empty())
    return kernel.emitOpError()
           << "has no values of its open extents that fit " << chip.name << ": "
           << refusal.value_or("there is no candidate");
  for (auto [i, candidate] :
       llvm::enumerate(ArrayRef(ranked).take_front(shown))) {
    bool isChosen = i == 0 && !isOverridden;
    auto emit = isChosen ? remark::passed : remark::analysis;
    emit(kernel.getLoc(),
         remarkName(isChosen ? "extents-chosen" : "extents-rejected"))
        << remark::reason("{0}", summarize(candidate));
  }
  scf::ForOp loop;
  if (ranked.front().cost.blocks < chip.processors &&
      !getSchedule(kernel).split)
    if (Refusal why = findSplitLoop(kernel, loop))
      remark::missed(kernel.getLoc(), remarkName("reduction-not-split"))
          << remark::reason(
                 "{0} blocks are fewer than the {1} multiprocessors, "
                 "and cannot share iterations: {2}",
                 ranked.front().cost.blocks, chip.processors, *why);
  return ranked.front();
}

/// Returns true if `row` has the values and the warps that `kernel` gives.
static bool agrees(KernelOp kernel, const Schedule &row) {
  if (row.warps && kernel.getNumWarpsAttr() &&
      *row.warps != kernel.getNumWarps())
    return false;
  std::optional<DictionaryAttr> given = getSchedule(kernel).params;
  return !given || llvm::all_of(*given, [&](NamedAttribute value) {
    Attribute other = row.params->get(value.getName());
    return !other || other == value.getValue();
  });
}

/// Returns the fields of a schedule that stand for a candidate.
static Schedule getFields(const Candidate &candidate) {
  Schedule fields;
  fields.params = candidate.params;
  fields.warps = candidate.warps;
  fields.stages = candidate.stages;
  (candidate.splitsInCluster ? fields.clusterSplit : fields.split) =
      candidate.split;
  fields.streamK = candidate.streamK;
  fields.workStages = candidate.workStages;
  if (candidate.isLine)
    fields.order = BlockOrder();
  return fields;
}

/// Returns the blocks of the grid for each multiprocessor, at most 2^31 - 1.
static int64_t countGridBlocks(const Cost &cost, const Chip &chip) {
  double blocks = std::ceil(cost.blocks / chip.processors);
  return int64_t(std::min(blocks, double(std::numeric_limits<int32_t>::max())));
}

/// Sets the fields of the schedule of `kernel` that are not given, and its
/// warps.
static void give(KernelOp kernel, Schedule fields) {
  if (fields.warps && !kernel.getNumWarpsAttr())
    kernel.setNumWarps(*fields.warps);
  fields.warps.reset();
  setSchedule(kernel, getSchedule(kernel).withDefaults(fields));
}

namespace {
struct CloseExtents : tile::impl::TileCloseExtentsBase<CloseExtents> {
  using TileCloseExtentsBase::TileCloseExtentsBase;

  /// Returns the first row of the chip's file for `kernel`, if there is one.
  FailureOr<std::optional<Schedule>> findRow(KernelOp kernel, const Chip &chip,
                                             const ProblemSizes &problem) {
    FailureOr<ScheduleTable> table =
        ScheduleTable::load(&getContext(), chip, getScheduleFolder(schedules));
    if (failed(table))
      return failure();
    std::optional<Schedule> row = table->find(kernel, problem);
    if (!row || !agrees(kernel, *row))
      return std::optional<Schedule>();
    std::string text;
    llvm::raw_string_ostream(text) << ScheduleAttr::get(&getContext(), *row);
    remark::passed(kernel.getLoc(), remarkName("extents-from-row"))
        << remark::reason("{0}", text);
    return row;
  }

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    SmallVector<ParamOp, 4> params = getParams(kernel);
    if (params.empty())
      return markAllAnalysesPreserved();
    const Chip *chip = getTargetChip(kernel);
    ProblemSizes problem;
    // The schedule may come from an option.
    if (!chip || failed(verifyOpenExtents(kernel)) ||
        failed(parseSizes(kernel, sizes, problem)))
      return signalPassFailure();
    auto getValues = [&] {
      return getSchedule(kernel).params.value_or(
          DictionaryAttr::get(&getContext()));
    };
    auto isGiven = [&] {
      return llvm::all_of(params, [&](ParamOp param) {
        return getValues().contains(param.getParameterAttr());
      });
    };
    auto isComplete = [&] { return isGiven() && kernel.getNumWarpsAttr(); };
    if (isGiven() && failed(verifySizes(kernel, getValues())))
      return signalPassFailure();
    if (!isComplete()) {
      FailureOr<std::optional<Schedule>> row = findRow(kernel, *chip, problem);
      if (failed(row))
        return signalPassFailure();
      FailureOr<RankedCandidate> chosen =
          chooseCandidate(kernel, *chip, problem, candidates, row->has_value());
      if (*row)
        give(kernel, **row);
      // A row may leave values open.
      if (*row && !isComplete())
        chosen = chooseCandidate(kernel, *chip, problem, candidates, false);
      if (!isComplete()) {
        if (failed(chosen))
          return signalPassFailure();
        give(kernel, getFields(chosen->candidate));
        if (chosen->cost.isGridKnown)
          kernel.setGridBlocks(countGridBlocks(chosen->cost, *chip));
      }
    }
    if (failed(verifySizes(kernel, getValues())))
      return signalPassFailure();
    DictionaryAttr values = getValues();
    Schedule schedule = getSchedule(kernel);
    closeExtents(kernel, values);
    kernel.setExtentsAttr(values);
    schedule.params.reset();
    setSchedule(kernel, schedule);
    if (failed(verify(kernel)))
      signalPassFailure();
  }
};
} // namespace
