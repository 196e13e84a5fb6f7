//===- Candidates.cpp - Values of open extents and warps ------------------===//

#include "tile/Analysis/Candidates.h"
#include <tuple>

using namespace mlir;
using namespace tile;

/// The most stages of a candidate, which are worth their shared memory where
/// one block runs on a multiprocessor, and the least gain by them.
static constexpr int64_t kDeepestStages = 8;
static constexpr double kLeastGain = 0.01;

/// The numbers of warps of a kernel that leaves them open.
static constexpr int64_t kWarps[] = {4, 8, 12, 16, 2, 1};

/// The most candidates that are compared. Others are not looked at.
static constexpr size_t kMostCandidates = 1 << 14;

/// Refuses a number of warps with which the schedule of `kernel` is invalid.
static Refusal checkWarps(KernelOp kernel, int64_t warps) {
  // A handler of diagnostics would take those of other threads, too.
  auto quiet = [&] {
    InFlightDiagnostic diag = mlir::emitError(kernel.getLoc());
    diag.abandon();
    return diag;
  };
  if (succeeded(verifyWarps(tile::getSchedule(kernel), warps, quiet)))
    return std::nullopt;
  return "its schedule does not suit " + std::to_string(warps) + " warps";
}

/// Refuses a candidate with a tile of too many elements.
static Refusal checkTiles(KernelOp kernel, DictionaryAttr params) {
  Refusal refusal;
  kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      if (!isOpenTile(type))
        continue;
      int64_t elements = 1;
      for (const TileExtent &extent : getExtents(cast<ShapedType>(type))) {
        int64_t number = extent.name
                             ? params.getAs<IntegerAttr>(extent.name).getInt()
                             : extent.number;
        elements = number > kMostTileElements / elements ? kMostTileElements + 1
                                                         : elements * number;
        if (elements > kMostTileElements) {
          refusal = "a tile has at most " + std::to_string(kMostTileElements) +
                    " elements";
          return WalkResult::interrupt();
        }
      }
    }
    return WalkResult::advance();
  });
  return refusal;
}

SmallVector<RankedCandidate, 0> tile::rankCandidates(KernelOp kernel,
                                                     const Chip &chip,
                                                     const ProblemSizes &sizes,
                                                     Refusal &refusal) {
  MLIRContext *context = kernel.getContext();
  Builder builder(context);
  std::optional<DictionaryAttr> given = tile::getSchedule(kernel).params;
  SmallVector<Candidate, 0> candidates;
  if (kernel.getNumWarpsAttr())
    candidates.push_back({builder.getDictionaryAttr({}), kernel.getNumWarps()});
  else
    for (int64_t warps : kWarps)
      candidates.push_back({builder.getDictionaryAttr({}), warps});
  llvm::erase_if(candidates, [&](const Candidate &candidate) {
    Refusal wrong = checkWarps(kernel, candidate.warps);
    if (wrong)
      refusal = wrong;
    return wrong.has_value();
  });
  for (ParamOp param : getParams(kernel)) {
    SmallVector<int64_t> values(param.getValues());
    if (given && given->contains(param.getParameterAttr()))
      values = {given->getAs<IntegerAttr>(param.getParameterAttr()).getInt()};
    SmallVector<Candidate, 0> longer;
    for (const Candidate &candidate : candidates)
      for (int64_t value : values) {
        if (longer.size() == kMostCandidates)
          break;
        NamedAttrList params(candidate.params);
        params.append(param.getParameterAttr(),
                      builder.getI64IntegerAttr(value));
        longer.push_back({params.getDictionary(context), candidate.warps});
      }
    candidates = std::move(longer);
  }
  SmallVector<RankedCandidate, 0> ranked;
  for (const Candidate &candidate : candidates) {
    Cost cost;
    Refusal wrong = checkTiles(kernel, candidate.params);
    if (!wrong)
      wrong = predictCost(kernel, chip, sizes, candidate, cost);
    if (wrong) {
      refusal = describe(candidate) + ": " + *wrong;
      continue;
    }
    ranked.push_back({candidate, cost, ranked.size()});
    // One block with more stages may be faster than several with fewer.
    if (!cost.hasRoles || tile::getSchedule(kernel).stages)
      continue;
    SmallVector<RankedCandidate, 0> deeper;
    double least = cost.cycles * (1 - kLeastGain);
    for (int64_t stages = cost.stages + 1; stages <= kDeepestStages; ++stages) {
      Candidate deep = candidate;
      deep.stages = stages;
      Cost other;
      if (predictCost(kernel, chip, sizes, deep, other) ||
          other.stagesStores != cost.stagesStores)
        break;
      deeper.push_back({deep, other, ranked.size()});
    }
    // The fewest stages that are nearly as fast as the most.
    for (const RankedCandidate &deep : deeper)
      if (deep.cost.cycles < least &&
          deep.cost.cycles * (1 - kLeastGain) < deeper.back().cost.cycles) {
        ranked.push_back(deep);
        break;
      }
  }
  llvm::sort(ranked, [](const RankedCandidate &a, const RankedCandidate &b) {
    return std::tuple(a.cost.isPadded, a.cost.cycles, a.number) <
           std::tuple(b.cost.isPadded, b.cost.cycles, b.number);
  });
  return ranked;
}

std::string tile::describe(const Candidate &candidate) {
  return "params = {" + describeNumbers(candidate.params) +
         "}, warps = " + std::to_string(candidate.warps) +
         (candidate.stages ? ", stages = " + std::to_string(*candidate.stages)
                           : "");
}
