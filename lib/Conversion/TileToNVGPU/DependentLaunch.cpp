//===- DependentLaunch.cpp - Dependent kernel launches to NVVM ------------===//
//
// Source: PTX ISA, "griddepcontrol". LLVM's intrinsics for it are declared
// without memory effects, so loads could move before the wait. Inline assembly
// prevents this.
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
