//===- Candidates.cpp - Values of open extents and warps ------------------===//

#include "tile/Analysis/Candidates.h"
#include "tile/Analysis/SplitReduction.h"
#include "tile/Dialect/Tile/IR/Contains.h"
#include <limits>
#include <tuple>

using namespace mlir;
using namespace tile;

/// The most stages of a candidate, which are worth their shared memory where
/// one block runs on a multiprocessor, and the least gain by them.
static constexpr int64_t kDeepestStages = 8;
static constexpr double kLeastGain = 0.01;

/// The relative difference of predictions that says nothing.
static constexpr double kEqualShare = 0.02;

/// Registers of a thread that leave room for enough warps: 14 on sm_90a.
static constexpr int64_t kFewRegisters = 144;

/// The predicted gains that are worth the tiles of the last wave shared by all
/// blocks, the iterations of a tile shared by a cluster, those shared by blocks
/// whose sums another kernel adds, and the tiles of the next work copied in
/// place of more blocks. The times of shared iterations are underestimated
/// where reads of memory are the bound, and those of loops over works are, too.
static constexpr double kLeastSharedGain = 0.02, kLeastClusterGain = 0.05,
                        kLeastSplitGain = 0.065, kLeastNextWorkGain = 0.04;

/// Of this many candidates with products, at least one lets blocks share the
/// iterations of a tile, and at least one does not.
static constexpr size_t kVariety = 3;

/// The most blocks that share the iterations of a loop.
static constexpr int64_t kMostParts = 16;

/// The numbers of warps of a kernel that leaves them open, with products and
/// without. More than 32 are those of a cluster of blocks.
static constexpr int64_t kWarps[] = {4, 8, 12, 16, 2, 1};
static constexpr int64_t kPlainWarps[] = {
    4,  8,  2,  1,  16, 5,  6,   7,   3,   10,  12,  14, 20,
    24, 28, 32, 64, 80, 96, 112, 128, 160, 192, 224, 256};

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

/// Returns all combinations of the values of parameters and of warps that the
/// program and its schedule leave.
static SmallVector<Candidate, 0> listCandidates(KernelOp kernel,
                                                Refusal &refusal) {
  MLIRContext *context = kernel.getContext();
  Builder builder(context);
  Schedule schedule = tile::getSchedule(kernel);
  std::optional<DictionaryAttr> given = schedule.params;
  SmallVector<Candidate, 0> candidates;
  auto add = [&](int64_t warps) {
    Candidate candidate{builder.getDictionaryAttr({}), warps};
    candidate.split =
        schedule.clusterSplit ? schedule.clusterSplit : schedule.split;
    candidate.splitsInCluster = schedule.clusterSplit.has_value();
    candidate.streamK = schedule.streamK;
    candidates.push_back(candidate);
  };
  bool hasProducts =
      containsOp(kernel, llvm::IsaPred<AssociativeScanOp, DotOp, ScanOp>);
  if (kernel.getNumWarpsAttr())
    add(kernel.getNumWarps());
  else
    llvm::for_each(hasProducts ? ArrayRef(kWarps) : ArrayRef(kPlainWarps), add);
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
        longer.push_back(candidate);
        longer.back().params = params.getDictionary(context);
      }
    candidates = std::move(longer);
  }
  return candidates;
}

namespace {
/// Predicts the times of candidates.
class Ranking {
public:
  Ranking(KernelOp kernel, const Chip &chip, const ProblemSizes &sizes)
      : chip(chip), schedule(tile::getSchedule(kernel)),
        model(kernel, chip, sizes) {
    scf::ForOp loop;
    maySplit = !schedule.split && !schedule.clusterSplit && !schedule.streamK &&
               !findSplitLoop(kernel, loop);
  }

  Refusal add(const Candidate &candidate);

  SmallVector<RankedCandidate, 0> ranked;

private:
  /// Returns true if the multiprocessors have room for all blocks.
  bool runsAtOnce(const Cost &cost) const { return cost.blocks <= cost.places; }
  void addStages(const RankedCandidate &base);
  void addSplit(const RankedCandidate &base);
  void addClusterSplit(const RankedCandidate &base);
  void addStreamK(const RankedCandidate &base);

  const Chip &chip;
  Schedule schedule;
  CostModel model;
  /// Whether blocks can share the iterations of the kernel's loop.
  bool maySplit;
};
} // namespace

/// Adds a candidate, and more with other stages or parts where these are
/// faster.
Refusal Ranking::add(const Candidate &candidate) {
  Cost cost;
  if (Refusal wrong = model.predict(candidate, cost))
    return wrong;
  RankedCandidate base{candidate, cost, ranked.size()};
  addStages(base);
  if (maySplit && cost.blocks < chip.processors) {
    addSplit(base);
    addClusterSplit(base);
  }
  if (maySplit && cost.isGridKnown && !runsAtOnce(cost))
    addStreamK(base);
  return std::nullopt;
}

/// Adds a candidate, and the one whose stages beyond those that
/// tile-choose-roles chooses are fastest. Where each multiprocessor has one
/// block at most, these take no place of another block and replace the others.
void Ranking::addStages(const RankedCandidate &base) {
  ranked.push_back(base);
  if (!base.cost.hasRoles || schedule.stages)
    return;
  RankedCandidate best = base;
  for (int64_t stages = base.cost.stages + 1; stages <= kDeepestStages;
       ++stages) {
    RankedCandidate deep = base;
    deep.candidate.stages = stages;
    if (model.predict(deep.candidate, deep.cost) ||
        deep.cost.hasStorers != base.cost.hasStorers ||
        deep.cost.stagesStores != base.cost.stagesStores ||
        (deep.candidate.split && !runsAtOnce(deep.cost)))
      break;
    if (deep.cost.cycles <= best.cost.cycles)
      best = deep;
  }
  if (base.cost.blocks <= chip.processors)
    ranked.back() = best;
  else if (best.cost.cycles < base.cost.cycles * (1 - kLeastGain))
    ranked.push_back(best);
  ranked.back().number = ranked.size() - 1;
}

/// Adds the candidate whose iterations are shared by as many blocks as are best
/// of those that fill half of the multiprocessors, or one or two places of
/// each. All blocks run at once: a second wave would store and add more sums.
void Ranking::addSplit(const RankedCandidate &base) {
  std::optional<RankedCandidate> best;
  int64_t last = 1;
  for (double places : {0.5, 1.0, 2.0}) {
    int64_t split = std::min<int64_t>(
        places * chip.processors / std::max(base.cost.blocks, 1.0), kMostParts);
    if (split <= last)
      continue;
    last = split;
    Candidate candidate = base.candidate;
    candidate.split = split;
    Cost cost;
    if (model.predict(candidate, cost) || !runsAtOnce(cost))
      continue;
    if (!best || cost.cycles < best->cost.cycles)
      best = RankedCandidate{candidate, cost, ranked.size()};
  }
  if (!best || best->cost.cycles > base.cost.cycles * (1 - kLeastGain))
    return;
  addStages(*best);
}

/// Adds the candidate whose iterations are shared by the blocks of the best
/// clusters.
void Ranking::addClusterSplit(const RankedCandidate &base) {
  std::optional<RankedCandidate> best;
  for (int64_t blocks = 2; blocks <= chip.clusterBlocks; ++blocks) {
    RankedCandidate shared = base;
    shared.candidate.split = blocks;
    shared.candidate.splitsInCluster = true;
    if (model.predict(shared.candidate, shared.cost) ||
        !runsAtOnce(shared.cost))
      continue;
    if (!best || shared.cost.cycles < best->cost.cycles)
      best = shared;
  }
  if (best && best->cost.cycles <= base.cost.cycles * (1 - kLeastGain))
    addStages(*best);
}

/// Adds the candidate whose blocks, as many as there are places for, share the
/// tiles of the last wave.
void Ranking::addStreamK(const RankedCandidate &base) {
  RankedCandidate shared = base;
  shared.candidate.streamK = chip.processors * base.cost.residentBlocks;
  if (!model.predict(shared.candidate, shared.cost) &&
      shared.cost.residentBlocks == base.cost.residentBlocks &&
      shared.cost.cycles < base.cost.cycles * (1 - kLeastSharedGain))
    addStages(shared);
}

/// Returns the cycles by which a candidate is compared.
static double getRank(const RankedCandidate &ranked) {
  const Candidate &candidate = ranked.candidate;
  double gain = candidate.splitsInCluster   ? kLeastClusterGain
                : candidate.split           ? kLeastSplitGain
                : candidate.streamK         ? kLeastSharedGain
                : ranked.cost.loadsNextWork ? kLeastNextWorkGain
                                            : 0;
  return ranked.cost.cycles / (1 - gain);
}

/// Reorders candidates, of which a tuner measures the first ones only. The
/// model errs alike for candidates of the same values, and for all whose blocks
/// share tiles. So candidates with other warps or stages come behind the best
/// one of each combination of values. And each kVariety-th candidate is the
/// best one left that shares tiles, or that does not, if those before have too
/// few. The first candidate and the padded ones, which come last, keep their
/// places.
static void diversify(SmallVector<RankedCandidate, 0> &ranked) {
  llvm::DenseSet<std::pair<Attribute, int>> seen;
  // Numbers of candidates, in turn: of whole tiles and of shared ones.
  SmallVector<size_t> kinds[2], later;
  for (auto [i, one] : llvm::enumerate(ranked)) {
    const Candidate &candidate = one.candidate;
    int sharing = candidate.split ? 1 : candidate.streamK ? 2 : 0;
    bool isFirst = seen.insert({candidate.params, sharing}).second;
    if (isFirst && !one.cost.isPadded)
      kinds[sharing != 0].push_back(i);
    else
      later.push_back(i);
  }
  SmallVector<size_t> order;
  size_t taken[2] = {0, 0};
  auto isEmpty = [&](bool kind) { return taken[kind] == kinds[kind].size(); };
  while (!isEmpty(false) || !isEmpty(true)) {
    bool kind = isEmpty(false) ||
                (!isEmpty(true) &&
                 kinds[true][taken[true]] < kinds[false][taken[false]]);
    size_t count = order.size() + 1;
    if (count % kVariety == 0 && !isEmpty(!kind) &&
        taken[!kind] * kVariety < count)
      kind = !kind;
    order.push_back(kinds[kind][taken[kind]++]);
  }
  llvm::append_range(order, later);
  SmallVector<RankedCandidate, 0> result;
  for (size_t i : order)
    result.push_back(std::move(ranked[i]));
  ranked = std::move(result);
}

SmallVector<RankedCandidate, 0> tile::rankCandidates(KernelOp kernel,
                                                     const Chip &chip,
                                                     const ProblemSizes &sizes,
                                                     Refusal &refusal) {
  Ranking ranking(kernel, chip, sizes);
  for (const Candidate &candidate : listCandidates(kernel, refusal))
    if (Refusal wrong = ranking.add(candidate))
      refusal = describe(candidate) + ": " + *wrong;
  bool hasProducts = containsOp(kernel, llvm::IsaPred<DotOp>);
  bool isGiven = tile::getSchedule(kernel).workStages.has_value();
  for (auto &[candidate, cost, number] : ranking.ranked) {
    // A chip of several dies has an order of its own.
    candidate.isLine = cost.isLine && chip.dies == 1;
    bool isOneWave = cost.isGridKnown && cost.hasRoles &&
                     !candidate.splitsInCluster &&
                     cost.blocks <= chip.processors;
    if (isGiven)
      continue;
    if (!hasProducts)
      candidate.workStages = cost.loadsNextWork ? 1 : 0;
    else if (isOneWave)
      candidate.workStages = 0;
  }
  double least = std::numeric_limits<double>::infinity();
  for (const RankedCandidate &ranked : ranking.ranked)
    if (!ranked.cost.isPadded && !ranked.cost.spillsMasks)
      least = std::min(least, getRank(ranked));
  // Without products, predictions that are close to the best one are as good:
  // first come those with the fewest bytes through the second-level cache, with
  // the fewest registers as far as these limit the blocks, and with the fewest
  // iterations, of which each has more loads in flight.
  auto rank = [&](const RankedCandidate &ranked) {
    const Cost &cost = ranked.cost;
    double cycles = getRank(ranked);
    bool isTied = !hasProducts && cycles <= least * (1 + kEqualShare);
    return std::tuple(cost.isPadded, cost.spillsMasks, isTied ? 0 : cycles,
                      isTied ? cost.cacheBytes : 0,
                      isTied ? std::max(cost.registers, kFewRegisters) : 0,
                      isTied ? cost.iterations : 0, cycles, ranked.number);
  };
  llvm::sort(ranking.ranked,
             [&](const RankedCandidate &a, const RankedCandidate &b) {
               return rank(a) < rank(b);
             });
  if (hasProducts)
    diversify(ranking.ranked);
  return std::move(ranking.ranked);
}

std::string tile::describe(const Candidate &candidate) {
  return "params = {" + describeNumbers(candidate.params) +
         "}, warps = " + std::to_string(candidate.warps) +
         (candidate.stages ? ", stages = " + std::to_string(*candidate.stages)
                           : "") +
         (candidate.split ? (candidate.splitsInCluster ? ", cluster_split = "
                                                       : ", split = ") +
                                std::to_string(*candidate.split)
                          : "") +
         (candidate.streamK
              ? ", stream_k = " + std::to_string(*candidate.streamK)
              : "") +
         (candidate.isLine ? ", order = plain" : "") +
         (candidate.workStages
              ? ", work_stages = " + std::to_string(*candidate.workStages)
              : "");
}
