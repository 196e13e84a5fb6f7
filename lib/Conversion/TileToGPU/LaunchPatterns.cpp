//===- LaunchPatterns.cpp - Dependent kernel launches ---------------------===//

#include "Patterns.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;
using namespace tile;

namespace {
/// Converts an operation of dependent launches; erases it on chips without
/// dependent launches.
template <typename Op, typename DeviceOp>
struct LaunchPattern : OpConversionPattern<Op> {
  LaunchPattern(const TypeConverter &converter, MLIRContext *context,
                const Chip &chip)
      : OpConversionPattern<Op>(converter, context), chip(chip) {}

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (chip.dependentLaunch)
      rewriter.replaceOpWithNewOp<DeviceOp>(op);
    else
      rewriter.eraseOp(op);
    return success();
  }

  const Chip &chip;
};
} // namespace

void tile::populateLaunchPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns,
                                  const Chip &chip) {
  patterns
      .add<LaunchPattern<WaitPrerequisitesOp, tile::gpu::WaitPrerequisitesOp>,
           LaunchPattern<LaunchDependentsOp, tile::gpu::LaunchDependentsOp>>(
          converter, patterns.getContext(), chip);
}
