//===- Backward.cpp - The kernels of tile.attention_backward --------------===//

#include "Backward.h"

using namespace mlir;
using namespace tile;

/// Warps of the kernels that only move and add.
static constexpr int64_t kWarps = 4;
/// Each kernel starts while the one before ends: it waits for that one before
/// it touches anything. That of dK and dV, which `waitsItself`, reads K and V
/// before.
static void overlap(MutableArrayRef<BackwardKernel> kernels,
                    StringRef waitsItself) {
  for (auto [i, kernel] : llvm::enumerate(kernels)) {
    bool isFirst = i == 0, isLast = i + 1 == kernels.size();
    bool waits = !isFirst && kernel.suffix != waitsItself;
    kernel.build = [=, build = std::move(kernel.build)](
                       ImplicitLocOpBuilder &b, const IRMapping &mapping) {
      if (!isLast)
        LaunchDependentsOp::create(b);
      if (waits)
        WaitPrerequisitesOp::create(b);
      build(b, mapping);
    };
  }
}

/// A warp adds up all rows of a head by itself.
static constexpr int64_t kSinkWarps = 1;

SmallVector<BackwardKernel, 0>
tile::planAttentionBackward(AttentionBackwardOp op, const Schedule &keys,
                            const Schedule &queries) {
  SmallVector<BackwardKernel, 0> kernels;
  auto add = [&](StringRef suffix, auto build, int64_t warps = kWarps) {
    kernels.push_back({suffix, warps, Schedule(),
                       [=](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
                         build(b, op, mapping);
                       }});
  };
  auto addScheduled = [&](StringRef suffix, auto build,
                          const Schedule &schedule) {
    kernels.push_back({suffix, *schedule.warps, schedule,
                       [=](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
                         build(b, op, mapping, schedule);
                       }});
  };
  bool atomicKeys = op.getKvMode() == KVAccumulation::Atomic;
  add("stats", buildBackwardStats);
  if (op.getSink())
    add("dsink", buildBackwardSink, kSinkWarps);
  if (atomicKeys)
    add("zero", buildBackwardZero);
  addScheduled("dkv", buildBackwardKeys, keys);
  if (op.getDqAcc())
    add("dq", buildBackwardScaleQueries);
  else
    addScheduled("dq", buildBackwardQueries, queries);
  if (op.getKvMode())
    add("sum", buildBackwardSumKeys);
  overlap(kernels, "dkv");
  return kernels;
}
