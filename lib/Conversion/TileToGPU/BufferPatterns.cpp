//===- BufferPatterns.cpp - Buffers, views, barriers and copy groups ------===//

#include "Kernel.h"
#include "Patterns.h"
#include "VectorAccess.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;
using namespace tile;

namespace {

struct AllocPattern : MemoryPattern<AllocOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(AllocOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    if (!op.getOffset())
      return op.emitOpError("has no offset; run tile-plan-shared-memory first");
    auto func = op->getParentOfType<mlir::gpu::GPUFuncOp>();
    Value bytes;
    if (chip.vendor == Vendor::AMD) {
      bytes = func.getWorkgroupAttributions().front();
    } else {
      auto type = MemRefType::get(
          {ShapedType::kDynamic}, rewriter.getI8Type(),
          MemRefLayoutAttrInterface(),
          mlir::gpu::AddressSpaceAttr::get(rewriter.getContext(),
                                           mlir::gpu::AddressSpace::Workgroup));
      bytes = mlir::gpu::DynamicSharedMemoryOp::create(rewriter, loc, type);
    }
    Value offset =
        arith::ConstantIndexOp::create(rewriter, loc, *op.getOffset());
    auto type = cast<MemRefType>(flattenBuffer(op.getType()).front());
    Value size = arith::ConstantIndexOp::create(rewriter, loc,
                                                op.getType().getStorageSize());
    Value view =
        memref::ViewOp::create(rewriter, loc, type, bytes, offset, size);
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    rewriter.replaceOpWithMultiple(op, {SmallVector<Value>{view, zero}});
    return success();
  }
};

struct SlicePattern : MemoryPattern<SliceOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(SliceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    BufferParts buffer(op.getSource().getType(), adaptor.getSource());
    Value offset = buffer.offset;
    SmallVector<Value> indices = single(adaptor.getIndices());
    size_t next = 0;
    for (auto [dim, kept] : llvm::enumerate(op.getKept()))
      if (!kept)
        offset = arith::AddIOp::create(
            rewriter, loc, offset,
            buffer.scale(rewriter, loc, indices[next++], dim));
    rewriter.replaceOpWithMultiple(op, {buffer.slice(offset, op.getKept())});
    return success();
  }
};

struct NarrowPattern : MemoryPattern<NarrowOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(NarrowOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    BufferParts buffer(op.getSource().getType(), adaptor.getSource());
    unsigned dim = op.getDim();
    Value start = adaptor.getStart().front();
    Value offset = arith::AddIOp::create(
        rewriter, loc, buffer.offset, buffer.scale(rewriter, loc, start, dim));
    buffer.extents[dim] = adaptor.getLength().front();
    SmallVector<bool> all(buffer.type.getRank(), true);
    rewriter.replaceOpWithMultiple(op, {buffer.slice(offset, all)});
    return success();
  }
};

struct LoadScalarPattern : MemoryPattern<LoadScalarOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(LoadScalarOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    BufferParts buffer(op.getBuffer().getType(), adaptor.getBuffer());
    Value offset = buffer.offset;
    for (auto [dim, index] : llvm::enumerate(single(adaptor.getIndices())))
      offset = arith::AddIOp::create(rewriter, loc, offset,
                                     buffer.scale(rewriter, loc, index, dim));
    rewriter.replaceOpWithNewOp<memref::LoadOp>(op, buffer.memory, offset);
    return success();
  }
};

struct DimPattern : MemoryPattern<DimOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(DimOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    BufferParts buffer(op.getBuffer().getType(), adaptor.getBuffer());
    rewriter.replaceOp(op, buffer.extent(rewriter, op.getLoc(), op.getDim()));
    return success();
  }
};

struct CommitGroupPattern : MemoryPattern<CommitGroupOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(CommitGroupOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    switch (chip.asyncCopy.mechanism) {
    case AsyncCopy::None: // no copy is pending
      break;
    case AsyncCopy::CpAsync:
      // nvgpu's group names its copies by tokens, which here are in other
      // regions.
      NVVM::CpAsyncCommitGroupOp::create(rewriter, op.getLoc());
      break;
    case AsyncCopy::DirectToLDS:
      tile::gpu::CommitCopiesOp::create(rewriter, op.getLoc());
      break;
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct WaitGroupPattern : MemoryPattern<WaitGroupOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(WaitGroupOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    switch (chip.asyncCopy.mechanism) {
    case AsyncCopy::None:
      break;
    case AsyncCopy::CpAsync:
      // The wait of nvgpu names a group by its token. In a pipelined loop, only
      // the number of newer groups is known.
      NVVM::CpAsyncWaitGroupOp::create(rewriter, op.getLoc(), op.getPending());
      break;
    case AsyncCopy::DirectToLDS:
      tile::gpu::WaitCopiesOp::create(rewriter, op.getLoc(), op.getPending());
      break;
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct BarrierPattern : MemoryPattern<BarrierOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(BarrierOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    // On AMD GPUs gpu.barrier becomes one that orders shared memory alone.
    bool needsFences = op.getGlobal() && chip.vendor == Vendor::AMD;
    auto fence = [&](LLVM::AtomicOrdering ordering) {
      if (needsFences)
        LLVM::FenceOp::create(rewriter, op.getLoc(), ordering, "workgroup");
    };
    fence(LLVM::AtomicOrdering::release);
    mlir::gpu::BarrierOp::create(rewriter, op.getLoc());
    fence(LLVM::AtomicOrdering::acquire);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void tile::populateBufferPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns,
                                  const Chip &chip) {
  patterns
      .add<AllocPattern, BarrierPattern, CommitGroupPattern, DimPattern,
           LoadScalarPattern, NarrowPattern, SlicePattern, WaitGroupPattern>(
          converter, patterns.getContext(), chip);
}
