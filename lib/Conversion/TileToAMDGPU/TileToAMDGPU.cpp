//===- TileToAMDGPU.cpp - From tile_gpu to amdgpu and rocdl ---------------===//

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tile/Chips/Mma.h"
#include "tile/Conversion/TileToAMDGPU/Passes.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

namespace tile {
#define GEN_PASS_DEF_TILETOAMDGPU
#include "tile/Conversion/TileToAMDGPU/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Returns a fragment as an operand of amdgpu: a vector, or a single f32.
static Value toOperand(OpBuilder &builder, Value fragment) {
  auto type = cast<VectorType>(fragment.getType());
  if (type.getNumElements() > 1)
    return fragment;
  return vector::ExtractOp::create(builder, fragment.getLoc(), fragment,
                                   int64_t(0));
}

namespace {
struct MmaToAMDGPU : OpConversionPattern<tile::gpu::MmaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::gpu::MmaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const Mma *row = findMma(op.getInstruction());
    Type type = op.getD().getType();
    Value a = toOperand(rewriter, adaptor.getA());
    Value b = toOperand(rewriter, adaptor.getB());
    if (row->operation == amdgpu::WMMAOp::getOperationName())
      rewriter.replaceOpWithNewOp<amdgpu::WMMAOp>(op, type, row->m, row->n,
                                                  row->k, a, b, adaptor.getC());
    else if (row->operation == amdgpu::MFMAOp::getOperationName())
      rewriter.replaceOpWithNewOp<amdgpu::MFMAOp>(
          op, type, row->m, row->n, row->k, /*blocks=*/1, a, b, adaptor.getC());
    else
      return rewriter.notifyMatchFailure(op, "not an operation of amdgpu");
    return success();
  }
};

struct BarrierToAMDGPU : OpConversionPattern<mlir::gpu::BarrierOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(mlir::gpu::BarrierOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<amdgpu::LDSBarrierOp>(op);
    return success();
  }
};

struct RecomputeToAMDGPU : OpConversionPattern<tile::gpu::RecomputeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::gpu::RecomputeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getValue());
    return success();
  }
};

struct ToAMDGPU : tile::impl::TileToAMDGPUBase<ToAMDGPU> {
  void runOnOperation() override {
    Operation *root = getOperation();
    const Chip *chip = getTargetChip(root);
    if (!chip || failed(tile::gpu::verifyChip(root, *chip, Vendor::AMD)))
      return signalPassFailure();
    lowerCopyGroups(root);
    combineSwaps(root, *chip);
    recomputeBehindLoops(root, *chip);
    unswitchLoops(root);
    ConversionTarget target(getContext());
    target.addIllegalDialect<tile::gpu::TileGPUDialect>();
    // Later conversions lower these together with their addresses.
    target.addLegalOp<tile::gpu::AtomicRMWOp, tile::gpu::BufferAtomicRMWOp,
                      tile::gpu::BufferLoadOp, tile::gpu::BufferStoreOp,
                      tile::gpu::FailOp, tile::gpu::ManifestOp>();
    target.addIllegalOp<mlir::gpu::BarrierOp>();
    target.addLegalDialect<amdgpu::AMDGPUDialect, arith::ArithDialect,
                           LLVM::LLVMDialect, ROCDL::ROCDLDialect,
                           vector::VectorDialect>();
    RewritePatternSet patterns(&getContext());
    populateTileToAMDGPUPatterns(patterns);
    populateShuffleToAMDGPUPatterns(patterns, *chip);
    if (failed(applyPartialConversion(root, target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void tile::populateTileToAMDGPUPatterns(RewritePatternSet &patterns) {
  patterns.add<MmaToAMDGPU, BarrierToAMDGPU, RecomputeToAMDGPU>(
      patterns.getContext());
}
