//===- TileToNVGPU.cpp - From tile_gpu to nvgpu and nvvm ------------------===//

#include "BulkCopy.h"
#include "BulkStore.h"
#include "DependentLaunch.h"
#include "SharedAddress.h"
#include "Wgmma.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tile/Conversion/TileToNVGPU/Passes.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include "tile/Target/Mma.h"

namespace tile {
#define GEN_PASS_DEF_TILETONVGPU
#include "tile/Conversion/TileToNVGPU/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// Returns `value` as a fragment of nvgpu: rows of two elements, one row per
/// register. A slice of the result of ldmatrix becomes a slice of its rows.
static Value toRows(ConversionPatternRewriter &rewriter, Location loc,
                    Value value) {
  auto type = cast<VectorType>(value.getType());
  auto rows =
      VectorType::get({type.getNumElements() / 2, 2}, type.getElementType());
  if (auto cast = value.getDefiningOp<vector::ShapeCastOp>();
      cast && cast.getSource().getType() == rows)
    return cast.getSource();
  auto slice = value.getDefiningOp<vector::ExtractStridedSliceOp>();
  // The slice is not converted, so its source may have been replaced.
  Value source = slice ? rewriter.getRemappedValue(slice.getSource()) : Value();
  auto cast = source ? source.getDefiningOp<vector::ShapeCastOp>() : nullptr;
  if (cast && cast.getSourceVectorType().getRank() == 2 &&
      cast.getSourceVectorType().getDimSize(1) == 2) {
    auto offset = llvm::cast<IntegerAttr>(slice.getOffsets()[0]).getInt();
    if (offset % 2 == 0)
      return vector::ExtractStridedSliceOp::create(
          rewriter, loc, cast.getSource(), {offset / 2, 0},
          {rows.getDimSize(0), 2}, {1, 1});
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
    if (row->kind != MmaKind::MmaSync)
      return rewriter.notifyMatchFailure(op, "not an instruction of NVIDIA");
    Location loc = op.getLoc();
    Value a = toRows(rewriter, loc, adaptor.getA());
    Value b = toRows(rewriter, loc, adaptor.getB());
    Value c = toRows(rewriter, loc, adaptor.getC());
    Value product = nvgpu::MmaSyncOp::create(
        rewriter, loc, a, b, c,
        rewriter.getI64ArrayAttr({row->m, row->n, row->k}));
    rewriter.replaceOpWithNewOp<vector::ShapeCastOp>(op, op.getD().getType(),
                                                     product);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

struct LoadMatrixToNVGPU : OpConversionPattern<tile::gpu::LoadMatrixOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::gpu::LoadMatrixOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    VectorType type = op.getResult().getType();
    int64_t matrices = type.getNumElements() / 2;
    Value loaded = nvgpu::LdMatrixOp::create(
        rewriter, op.getLoc(),
        VectorType::get({matrices, 2}, type.getElementType()),
        adaptor.getMemory(), adaptor.getIndex(), adaptor.getTranspose(),
        matrices);
    rewriter.replaceOpWithNewOp<vector::ShapeCastOp>(op, type, loaded);
    return success();
  }
};

// Converts to NVVM, because nvgpu has no stmatrix.
struct StoreMatrixToNVVM : OpConversionPattern<tile::gpu::StoreMatrixOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::gpu::StoreMatrixOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    int64_t matrices = op.getValue().getType().getNumElements() / 2;
    Value words = vector::BitCastOp::create(
        rewriter, loc, VectorType::get({matrices}, rewriter.getI32Type()),
        adaptor.getValue());
    SmallVector<Value> sources;
    for (int64_t i = 0; i < matrices; ++i)
      sources.push_back(vector::ExtractOp::create(rewriter, loc, words, i));
    auto pointer = LLVM::LLVMPointerType::get(getContext(), /*shared=*/3);
    Value address = LLVM::IntToPtrOp::create(
        rewriter, loc, pointer,
        sharedAddress(rewriter, loc, adaptor.getMemory(), adaptor.getIndex()));
    NVVM::StMatrixOp::create(rewriter, loc, address, sources,
                             adaptor.getTranspose() ? NVVM::MMALayout::col
                                                    : NVVM::MMALayout::row,
                             NVVM::LdStMatrixShapeAttr::get(getContext(), 8, 8),
                             NVVM::LdStMatrixEltType::B16);
    rewriter.eraseOp(op);
    return success();
  }
};

struct AsyncCopyToNVGPU : OpConversionPattern<tile::gpu::AsyncCopyOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::gpu::AsyncCopyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    int64_t elements = op.getElements();
    int64_t bits = elements * op.getSource().getType().getElementTypeBitWidth();
    // A copy that always reads all its elements needs no count at run time.
    bool full = getConstantIntValue(adaptor.getValid()) == elements;
    // Tiles are read from shared memory only, so the copy bypasses L1. The
    // hardware can bypass it only for copies of 16 bytes.
    nvgpu::DeviceAsyncCopyOp::create(
        rewriter, op.getLoc(), nvgpu::DeviceAsyncTokenType::get(getContext()),
        adaptor.getDest(), adaptor.getDestIndex(), adaptor.getSource(),
        adaptor.getSourceIndex(), rewriter.getIndexAttr(elements),
        full ? Value() : adaptor.getValid(),
        bits == 128 ? rewriter.getUnitAttr() : UnitAttr());
    rewriter.eraseOp(op);
    return success();
  }
};

struct CommitGroupToNVGPU : OpConversionPattern<tile::gpu::CommitGroupOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::gpu::CommitGroupOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    nvgpu::DeviceAsyncCreateGroupOp::create(
        rewriter, op.getLoc(), nvgpu::DeviceAsyncTokenType::get(getContext()),
        ValueRange());
    rewriter.eraseOp(op);
    return success();
  }
};

// Converts to NVVM. The wait of nvgpu identifies a group by its token, but in a
// pipelined loop the group is known only by the number of newer groups.
struct WaitGroupToNVVM : OpConversionPattern<tile::gpu::WaitGroupOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::gpu::WaitGroupOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncWaitGroupOp>(op, op.getPending());
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
    ConversionTarget target(getContext());
    target.addIllegalDialect<tile::gpu::TileGPUDialect>();
    // A later conversion lowers this together with its address.
    target.addLegalOp<tile::gpu::AtomicRMWOp>();
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
  populateBulkCopyToNVVMPatterns(patterns);
  populateDependentLaunchToNVVMPatterns(patterns);
  populateBulkStoreToNVVMPatterns(patterns);
  populateWgmmaToNVVMPatterns(patterns);
  patterns.add<MmaToNVGPU, LoadMatrixToNVGPU, StoreMatrixToNVVM,
               AsyncCopyToNVGPU, CommitGroupToNVGPU, WaitGroupToNVVM>(
      patterns.getContext());
}
