//===- DependentLaunch.cpp - Overlapping kernels to NVVM ------------------===//
//
// Source: PTX ISA, "griddepcontrol". LLVM's intrinsics for it are said to touch
// no memory, so loads could move in front of the wait; assembly keeps them.
//
//===----------------------------------------------------------------------===//

#include "DependentLaunch.h"
#include "Assembly.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;
using namespace tile;

namespace {
template <typename Op> struct LaunchToNVVM : OpConversionPattern<Op> {
  LaunchToNVVM(MLIRContext *context, StringRef text)
      : OpConversionPattern<Op>(context), text(text) {}

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    emitAssembly(rewriter, op.getLoc(), text, "", {});
    rewriter.eraseOp(op);
    return success();
  }

  StringRef text;
};
} // namespace

void tile::populateDependentLaunchToNVVMPatterns(RewritePatternSet &patterns) {
  patterns.add<LaunchToNVVM<tile::gpu::WaitPrerequisitesOp>>(
      patterns.getContext(), "griddepcontrol.wait;");
  patterns.add<LaunchToNVVM<tile::gpu::LaunchDependentsOp>>(
      patterns.getContext(), "griddepcontrol.launch_dependents;");
}
