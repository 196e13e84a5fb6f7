//===- BulkCopy.cpp - Barriers and the copy engine to NVVM ----------------===//
//
// Sources: PTX ISA, "mbarrier", "cp.async.bulk.tensor", "setmaxnreg", "bar".
//
//===----------------------------------------------------------------------===//

#include "BulkCopy.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;
using namespace tile;

/// The address of an element of workgroup memory, 32 bits.
static Value addressOf(OpBuilder &builder, Location loc, Value memory,
                       Value index) {
  int64_t bytes =
      cast<MemRefType>(memory.getType()).getElementTypeBitWidth() / 8;
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memory);
  Value width = arith::ConstantIndexOp::create(builder, loc, bytes);
  Value offset = arith::MulIOp::create(builder, loc, index, width);
  Value address = arith::AddIOp::create(builder, loc, base, offset);
  return arith::IndexCastUIOp::create(builder, loc, builder.getI32Type(),
                                      address);
}

/// An instruction without results; `text` says where the operands go.
static void emitAssembly(OpBuilder &builder, Location loc, const Twine &text,
                         StringRef constraints, ValueRange operands) {
  std::string all = constraints.str() + (constraints.empty() ? "" : ",");
  LLVM::InlineAsmOp::create(builder, loc, TypeRange(), operands, text.str(),
                            all + "~{memory}", /*has_side_effects=*/true,
                            /*is_align_stack=*/false,
                            LLVM::tailcallkind::TailCallKind::None,
                            LLVM::AsmDialectAttr(), ArrayAttr());
}

namespace {

struct InitToNVVM : OpConversionPattern<tile::gpu::MBarrierInitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::gpu::MBarrierInitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value address = addressOf(rewriter, op.getLoc(), adaptor.getMemory(),
                              adaptor.getIndex());
    emitAssembly(rewriter, op.getLoc(),
                 "mbarrier.init.shared::cta.b64 [$0], " +
                     Twine(op.getArrivals()) + ";",
                 "r", address);
    rewriter.eraseOp(op);
    return success();
  }
};

struct FenceToNVVM : OpConversionPattern<tile::gpu::MBarrierFenceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::gpu::MBarrierFenceOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    emitAssembly(rewriter, op.getLoc(), "fence.mbarrier_init.release.cluster;",
                 "", {});
    rewriter.eraseOp(op);
    return success();
  }
};

// One predicated instruction: a branch would be control flow between products
// in flight.
struct ArriveToNVVM : OpConversionPattern<tile::gpu::MBarrierArriveOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::gpu::MBarrierArriveOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value address = addressOf(rewriter, op.getLoc(), adaptor.getMemory(),
                              adaptor.getIndex());
    emitAssembly(rewriter, op.getLoc(),
                 "{\n.reg .pred arrives;\nsetp.eq.u32 arrives, $1, 0;\n"
                 "@arrives mbarrier.arrive.shared::cta.b64 _, [$0];\n}",
                 "r,r", {address, adaptor.getNumber()});
    rewriter.eraseOp(op);
    return success();
  }
};

struct ExpectToNVVM : OpConversionPattern<tile::gpu::MBarrierExpectOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::gpu::MBarrierExpectOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value address = addressOf(rewriter, op.getLoc(), adaptor.getMemory(),
                              adaptor.getIndex());
    emitAssembly(rewriter, op.getLoc(),
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], " +
                     Twine(op.getBytes()) + ";",
                 "r", address);
    rewriter.eraseOp(op);
    return success();
  }
};

struct WaitToNVVM : OpConversionPattern<tile::gpu::MBarrierWaitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::gpu::MBarrierWaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value address = addressOf(rewriter, op.getLoc(), adaptor.getMemory(),
                              adaptor.getIndex());
    emitAssembly(rewriter, op.getLoc(),
                 "{\n.reg .pred ended;\nagain:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 ended, [$0], $1;\n"
                 "@!ended bra again;\n}",
                 "r,r", {address, adaptor.getPhase()});
    rewriter.eraseOp(op);
    return success();
  }
};

struct BulkCopyToNVVM : OpConversionPattern<tile::gpu::BulkCopyOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::gpu::BulkCopyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> operands{
        addressOf(rewriter, loc, adaptor.getMemory(), adaptor.getIndex()),
        adaptor.getMap()};
    llvm::append_range(operands, adaptor.getCoordinates());
    operands.push_back(
        addressOf(rewriter, loc, adaptor.getBarriers(), adaptor.getBarrier()));
    size_t rank = adaptor.getCoordinates().size();
    std::string text, constraints = "r,l";
    llvm::raw_string_ostream os(text);
    os << "cp.async.bulk.tensor." << rank
       << "d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {";
    llvm::interleaveComma(llvm::seq<size_t>(2, 2 + rank), os,
                          [&](size_t i) { os << '$' << i; });
    os << "}], [$" << 2 + rank << "];";
    for (size_t i = 0; i <= rank; ++i)
      constraints += ",r";
    emitAssembly(rewriter, loc, text, constraints, operands);
    rewriter.eraseOp(op);
    return success();
  }
};

struct SetRegistersToNVVM : OpConversionPattern<tile::gpu::SetRegistersOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::gpu::SetRegistersOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::SetMaxRegisterOp>(
        op, op.getCount(),
        op.getIncrease() ? NVVM::SetMaxRegisterAction::increase
                         : NVVM::SetMaxRegisterAction::decrease);
    return success();
  }
};

struct NamedBarrierToNVVM : OpConversionPattern<tile::gpu::NamedBarrierOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::gpu::NamedBarrierOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto constant = [&](int64_t value) -> Value {
      return LLVM::ConstantOp::create(rewriter, loc,
                                      rewriter.getI32IntegerAttr(value));
    };
    Value number = constant(op.getNumber()),
          threads = constant(op.getThreads());
    if (adaptor.getOffset())
      number =
          arith::AddIOp::create(rewriter, loc, number, adaptor.getOffset());
    if (op.getArrive())
      LLVM::CallIntrinsicOp::create(
          rewriter, loc,
          rewriter.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"),
          ValueRange{number, threads});
    else
      NVVM::BarrierOp::create(rewriter, loc, TypeRange(), number, threads,
                              NVVM::BarrierReductionAttr(), Value());
    rewriter.eraseOp(op);
    return success();
  }
};

struct ThreadToNVVM : OpConversionPattern<tile::gpu::ThreadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::gpu::ThreadOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::InlineAsmOp>(
        op, rewriter.getI32Type(), ValueRange(), "mov.u32 $0, %tid.x;", "=r",
        /*has_side_effects=*/true, /*is_align_stack=*/false,
        LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
        ArrayAttr());
    return success();
  }
};

struct WarpSyncToNVVM : OpConversionPattern<tile::gpu::WarpSyncOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::gpu::WarpSyncOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value all = LLVM::ConstantOp::create(rewriter, op.getLoc(),
                                         rewriter.getI32IntegerAttr(-1));
    rewriter.replaceOpWithNewOp<NVVM::SyncWarpOp>(op, all);
    return success();
  }
};

} // namespace

void tile::populateBulkCopyToNVVMPatterns(RewritePatternSet &patterns) {
  patterns.add<InitToNVVM, FenceToNVVM, ArriveToNVVM, ExpectToNVVM, WaitToNVVM,
               BulkCopyToNVVM, SetRegistersToNVVM, NamedBarrierToNVVM,
               ThreadToNVVM, WarpSyncToNVVM>(patterns.getContext());
}
