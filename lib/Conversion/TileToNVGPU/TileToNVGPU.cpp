//===- TileToNVGPU.cpp - From tile_gpu to nvgpu and nvvm ------------------===//

#include "PlaceOperands.h"
#include "Wgmma.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tile/Chips/Mma.h"
#include "tile/Conversion/GPUToLLVM/NVIDIA/Assembly.h"
#include "tile/Conversion/TileToNVGPU/Passes.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

namespace tile {
#define GEN_PASS_DEF_TILETONVGPU
#include "tile/Conversion/TileToNVGPU/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// Returns `value` as a fragment of nvgpu: one row for each `registers`
/// registers of 32 bits. A slice of the result of ldmatrix becomes a slice of
/// its rows.
static Value toRows(ConversionPatternRewriter &rewriter, Location loc,
                    Value value, int64_t registers) {
  auto type = cast<VectorType>(value.getType());
  int64_t columns = registers * 32 / type.getElementTypeBitWidth();
  auto rows = VectorType::get({type.getNumElements() / columns, columns},
                              type.getElementType());
  if (auto cast = value.getDefiningOp<vector::ShapeCastOp>();
      cast && cast.getSource().getType() == rows)
    return cast.getSource();
  auto slice = value.getDefiningOp<vector::ExtractStridedSliceOp>();
  // The slice is not converted, so its source may have been replaced.
  Value source = slice ? rewriter.getRemappedValue(slice.getSource()) : Value();
  auto cast = source ? source.getDefiningOp<vector::ShapeCastOp>() : nullptr;
  if (cast && cast.getSourceVectorType().getRank() == 2 &&
      cast.getSourceVectorType().getDimSize(1) == columns) {
    auto offset = llvm::cast<IntegerAttr>(slice.getOffsets()[0]).getInt();
    if (offset % columns == 0)
      return vector::ExtractStridedSliceOp::create(
          rewriter, loc, cast.getSource(), {offset / columns, 0},
          {rows.getDimSize(0), columns}, {1, 1});
  }
  return vector::ShapeCastOp::create(rewriter, loc, rows, value);
}

namespace {
struct MmaToNVGPU : OpConversionPattern<tile::gpu::MmaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::gpu::MmaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const Mma *row = findMma(op.getInstruction());
    if (row->operation != nvgpu::MmaSyncOp::getOperationName())
      return rewriter.notifyMatchFailure(op, "not an operation of nvgpu");
    Location loc = op.getLoc();
    Value a = toRows(rewriter, loc, adaptor.getA(), /*registers=*/1);
    Value b = toRows(rewriter, loc, adaptor.getB(), /*registers=*/1);
    Value c = toRows(rewriter, loc, adaptor.getC(), /*registers=*/2);
    Value product = nvgpu::MmaSyncOp::create(
        rewriter, loc, a, b, c, ArrayRef<int64_t>{row->m, row->n, row->k},
        /*tf32Enabled=*/row->operand == MmaElement::TF32);
    rewriter.replaceOpWithNewOp<vector::ShapeCastOp>(op, op.getD().getType(),
                                                     product);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Values that stay at their place
//===----------------------------------------------------------------------===//

/// Replaces the reads of the number of the thread in `func` by copies of one
/// number, which is computed at the start of the function, by a shuffle.
/// Without the shuffle, ptxas would read the special register again at each
/// use, which takes hundreds of cycles between MMAs.
void lowerThreads(FunctionOpInterface func) {
  SmallVector<tile::gpu::ThreadOp> threads;
  func.walk([&](tile::gpu::ThreadOp op) { threads.push_back(op); });
  if (threads.empty())
    return;
  ImplicitLocOpBuilder b(threads.front().getLoc(), func.getFunctionBody());
  Type i32 = b.getI32Type();
  auto constant = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  };
  Value thread = NVVM::ThreadIdXOp::create(b, i32);
  thread = NVVM::ShflOp::create(b, i32, constant(-1), thread, thread,
                                constant(31), NVVM::ShflKind::idx, UnitAttr())
               .getRes();
  for (tile::gpu::ThreadOp op : threads) {
    b.setInsertionPoint(op);
    b.setLoc(op.getLoc());
    op.replaceAllUsesWith(keepHere(b, thread));
    op.erase();
  }
}

struct RecomputeToNVVM : OpConversionPattern<tile::gpu::RecomputeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::gpu::RecomputeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, keepHere(b, adaptor.getValue()));
    return success();
  }
};

struct ToNVGPU : tile::impl::TileToNVGPUBase<ToNVGPU> {
  void runOnOperation() override {
    Operation *root = getOperation();
    const Chip *chip = getTargetChip(root);
    if (!chip || failed(tile::gpu::verifyChip(root, *chip, Vendor::NVIDIA)))
      return signalPassFailure();
    placeMatrixDescriptors(root);
    placeOperands(root);
    lowerWgmmas(root);
    root->walk([](FunctionOpInterface func) { lowerThreads(func); });
    ConversionTarget target(getContext());
    target.addIllegalDialect<tile::gpu::TileGPUDialect>();
    // A later conversion lowers this together with its address.
    target.addLegalOp<tile::gpu::AtomicRMWOp, tile::gpu::FailOp,
                      tile::gpu::ManifestOp>();
    target.addLegalDialect<arith::ArithDialect, LLVM::LLVMDialect,
                           memref::MemRefDialect, NVVM::NVVMDialect,
                           nvgpu::NVGPUDialect, vector::VectorDialect>();
    RewritePatternSet patterns(&getContext());
    populateTileToNVGPUPatterns(patterns);
    if (failed(applyPartialConversion(root, target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void tile::populateTileToNVGPUPatterns(RewritePatternSet &patterns) {
  populateWgmmaToNVVMPatterns(patterns);
  patterns.add<MmaToNVGPU, RecomputeToNVVM>(patterns.getContext());
}
