//===- Candidates.h - Values of open extents and warps ----------*- C++ -*-===//
#ifndef TILE_ANALYSIS_CANDIDATES_H
#define TILE_ANALYSIS_CANDIDATES_H

#include "tile/Analysis/CostModel.h"

namespace tile {

/// A candidate and its predicted cost.
struct RankedCandidate {
  Candidate candidate;
  Cost cost;
  /// Its place in the order of the values that the program lists.
  size_t number;
};

/// Returns the candidates of `kernel` that fit the chip: the fastest first,
/// then in the order in which a tuner measures them, and those that are padded
/// last. With products, that order puts candidates of other values before those
/// with other warps or stages, and mixes those whose blocks share tiles with
/// others. Values that the schedule of the kernel and its attribute num_warps
/// give are kept. If there is none, `refusal` becomes the reason for the last
/// one.
llvm::SmallVector<RankedCandidate, 0> rankCandidates(KernelOp kernel,
                                                     const Chip &chip,
                                                     const ProblemSizes &sizes,
                                                     Refusal &refusal);

/// Returns the fields of a schedule that stand for a candidate, for example
/// `params = {BM = 128}, warps = 8, stages = 4`.
std::string describe(const Candidate &candidate);

} // namespace tile

#endif // TILE_ANALYSIS_CANDIDATES_H
