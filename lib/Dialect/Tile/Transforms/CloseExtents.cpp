//===- CloseExtents.cpp - Values of open extents --------------------------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"
#include "tile/Analysis/CostModel.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

namespace tile {
#define GEN_PASS_DEF_TILECLOSEEXTENTS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// The candidates that remarks show.
static constexpr size_t kShownCandidates = 6;

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

/// Returns the candidate with the least predicted time.
static FailureOr<Candidate> chooseCandidate(KernelOp kernel, const Chip &chip,
                                            const ProblemSizes &sizes) {
  Refusal refusal;
  auto ranked = rankCandidates(kernel, chip, sizes, refusal);
  if (ranked.empty())
    return kernel.emitOpError()
           << "has no values of its open extents that fit " << chip.name << ": "
           << refusal.value_or("there is no candidate");
  auto options = [](StringRef name) {
    return remark::RemarkOpts::name(name).category("tile-close-extents");
  };
  remark::passed(kernel.getLoc(), options("extents-chosen"))
      << remark::reason("{0}", summarize(ranked.front()));
  for (const RankedCandidate &other :
       ArrayRef(ranked).drop_front().take_front(kShownCandidates - 1))
    remark::analysis(kernel.getLoc(), options("extents-rejected"))
        << remark::reason("{0}", summarize(other));
  return ranked.front().candidate;
}

namespace {
struct CloseExtents : tile::impl::TileCloseExtentsBase<CloseExtents> {
  using TileCloseExtentsBase::TileCloseExtentsBase;

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
    Schedule schedule = getSchedule(kernel);
    DictionaryAttr values =
        schedule.params.value_or(DictionaryAttr::get(&getContext()));
    bool isGiven = llvm::all_of(params, [&](ParamOp param) {
      return values.contains(param.getParameterAttr());
    });
    if (isGiven && failed(verifySizes(kernel, values)))
      return signalPassFailure();
    if (!isGiven || !kernel.getNumWarpsAttr()) {
      FailureOr<Candidate> chosen = chooseCandidate(kernel, *chip, problem);
      if (failed(chosen))
        return signalPassFailure();
      values = chosen->params;
      kernel.setNumWarps(chosen->warps);
      if (chosen->stages)
        schedule.stages = chosen->stages;
    }
    closeExtents(kernel, values);
    kernel.setExtentsAttr(values);
    schedule.params.reset();
    setSchedule(kernel, schedule);
    if (failed(verify(kernel)))
      signalPassFailure();
  }
};
} // namespace
