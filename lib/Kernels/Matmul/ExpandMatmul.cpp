//===- ExpandMatmul.cpp - Named matrix products become kernels ------------===//

#include "MatmulBuilder.h"
#include "tile/Dialect/Tile/Transforms/Program/NamedOps.h"
#include "tile/Kernels/Matmul/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILEEXPANDMATMUL
#include "tile/Kernels/Matmul/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// The compiler may choose the layout of sums that atomics add to. The kernels
/// share it by a string of their own.
static void markSums(MatmulOp op, StringRef name, KernelOp kernel) {
  for (Value sum : op.getSums())
    if (auto argument = dyn_cast<BlockArgument>(sum);
        argument &&
        isa<StridedAttr>(cast<BufferType>(sum.getType()).getLayout())) {
      unsigned number = argument.getArgNumber();
      kernel.setArgAttr(
          number, TileDialect::kAccumulatorAttr,
          StringAttr::get(op.getContext(), name + "." + Twine(number)));
    }
}

static SmallVector<PlannedKernel, 0> plan(MatmulOp op) {
  std::string name = getKernelName(op);
  SmallVector<PlannedKernel, 0> kernels;
  auto add = [&](StringRef suffix, MatmulKernel kind) {
    Schedule schedule;
    // The schedule of the operation is that of the kernel with the product.
    bool isProduct =
        kind == MatmulKernel::Whole || kind == MatmulKernel::Product;
    if (ScheduleAttr given = op.getScheduleAttr(); given && isProduct)
      schedule = given.getFields();
    std::optional<int64_t> warps = std::exchange(schedule.warps, std::nullopt);
    kernels.push_back({name + suffix.str(), warps, schedule,
                       [=](ImplicitLocOpBuilder &b, KernelOp kernel,
                           const IRMapping &mapping) {
                         markSums(op, name, kernel);
                         buildMatmul(b, op, mapping, kind);
                       }});
  };
  if (op.getSums().empty()) {
    add("", MatmulKernel::Whole);
    return kernels;
  }
  add("_zero", MatmulKernel::Zero);
  add("_product", MatmulKernel::Product);
  add("_epilogue", MatmulKernel::Epilogue);
  return kernels;
}

namespace {
struct ExpandMatmul : tile::impl::TileExpandMatmulBase<ExpandMatmul> {
  void runOnOperation() override {
    if (failed(expandFunctions(
            getOperation(), [](Operation *op) { return isa<MatmulOp>(op); },
            [](Operation *op) -> FailureOr<SmallVector<PlannedKernel, 0>> {
              return plan(cast<MatmulOp>(op));
            })))
      signalPassFailure();
  }
};
} // namespace
