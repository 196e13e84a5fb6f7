//===- TileToNVGPU.cpp - From tile_gpu to NVIDIA's dialects ---------------===//

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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

/// The 32-bit registers of a fragment of 16-bit elements, two to a register,
/// as nvvm.mma.sync types them.
static SmallVector<Value> splitRegisters(OpBuilder &builder, Location loc,
                                         Value fragment) {
  auto type = cast<VectorType>(fragment.getType());
  int64_t count = type.getNumElements() / 2;
  Type i32 = builder.getI32Type();
  Value words = vector::BitCastOp::create(
      builder, loc, VectorType::get(count, i32), fragment);
  SmallVector<Value> registers;
  for (int64_t i = 0; i < count; ++i) {
    Value word = vector::ExtractOp::create(builder, loc, words, i);
    if (type.getElementType().isF16())
      word = LLVM::BitcastOp::create(
          builder, loc, VectorType::get(2, type.getElementType()), word);
    registers.push_back(word);
  }
  return registers;
}

namespace {
struct MmaToNVVM : OpConversionPattern<tile::gpu::MmaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::gpu::MmaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const Mma *row = findMma(op.getInstruction());
    if (row->kind != MmaKind::MmaSync)
      return rewriter.notifyMatchFailure(op, "not an instruction of NVIDIA");
    Location loc = op.getLoc();
    VectorType type = op.getD().getType();
    SmallVector<Value> acc;
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      acc.push_back(
          vector::ExtractOp::create(rewriter, loc, adaptor.getC(), i));
    Type result = LLVM::LLVMStructType::getLiteral(
        getContext(),
        SmallVector<Type>(type.getNumElements(), type.getElementType()));
    NVVM::MMATypes operand = row->operand == MmaElement::F16
                                 ? NVVM::MMATypes::f16
                                 : NVVM::MMATypes::bf16;
    Value product = NVVM::MmaOp::create(
        rewriter, loc, result, splitRegisters(rewriter, loc, adaptor.getA()),
        splitRegisters(rewriter, loc, adaptor.getB()), acc,
        {row->m, row->n, row->k}, /*b1Op=*/std::nullopt,
        /*intOverflow=*/std::nullopt, std::array{operand, operand},
        std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
    SmallVector<Value> elements;
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      elements.push_back(
          LLVM::ExtractValueOp::create(rewriter, loc, product, i));
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, elements);
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

struct AsyncCopyToNVGPU : OpConversionPattern<tile::gpu::AsyncCopyOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::gpu::AsyncCopyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    int64_t elements = op.getElements();
    int64_t bits = elements * op.getSource().getType().getElementTypeBitWidth();
    // A copy that reads all its elements needs no count at run time.
    bool full = getConstantIntValue(adaptor.getValid()) == elements;
    // Tiles are used from shared memory only; L1 need not hold them, too. The
    // hardware can skip it for 16 bytes alone.
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

// nvgpu's wait names one group by its token; which group that is in a
// pipelined loop is known by its age alone.
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
    ConversionTarget target(getContext());
    target.addIllegalDialect<tile::gpu::TileGPUDialect>();
    target.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect,
                           nvgpu::NVGPUDialect, vector::VectorDialect>();
    RewritePatternSet patterns(&getContext());
    populateTileToNVGPUPatterns(patterns);
    if (failed(applyPartialConversion(root, target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void tile::populateTileToNVGPUPatterns(RewritePatternSet &patterns) {
  patterns.add<MmaToNVVM, LoadMatrixToNVGPU, AsyncCopyToNVGPU,
               CommitGroupToNVGPU, WaitGroupToNVVM>(patterns.getContext());
}
