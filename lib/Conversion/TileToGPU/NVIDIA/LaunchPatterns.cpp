//===- LaunchPatterns.cpp - Dependent kernel launches ---------------------===//

#include "../Patterns.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tile/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace tile;

namespace {
/// Converts an operation of dependent launches; erases it on chips without
/// dependent launches.
template <typename Op> struct LaunchPattern : OpConversionPattern<Op> {
  LaunchPattern(const TypeConverter &converter, MLIRContext *context,
                const Chip &chip, NVVM::GridDepActionKind kind)
      : OpConversionPattern<Op>(converter, context), chip(chip), kind(kind) {}

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (chip.dependentLaunch)
      rewriter.replaceOpWithNewOp<NVVM::GriddepcontrolOp>(op, kind);
    else
      rewriter.eraseOp(op);
    return success();
  }

  const Chip &chip;
  NVVM::GridDepActionKind kind;
};
} // namespace

void tile::populateLaunchPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns,
                                  const Chip &chip) {
  MLIRContext *context = patterns.getContext();
  patterns.add<LaunchPattern<WaitPrerequisitesOp>>(
      converter, context, chip, NVVM::GridDepActionKind::wait);
  patterns.add<LaunchPattern<LaunchDependentsOp>>(
      converter, context, chip, NVVM::GridDepActionKind::launch_dependents);
}
