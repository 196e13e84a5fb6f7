//===- BulkStore.cpp - TMA stores and reductions to NVVM ------------------===//
//
// Sources: PTX ISA, "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor",
// "cp.reduce.async.bulk",
// "cp.async.bulk.prefetch.tensor", "cp.async.bulk.wait_group", "elect.sync",
// "prefetch".
//
//===----------------------------------------------------------------------===//

#include "BulkStore.h"
#include "Assembly.h"
#include "SharedAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tile;

static std::string typeSuffix(Type element) {
  std::string name;
  llvm::raw_string_ostream(name) << element;
  return element.getIntOrFloatBitWidth() == 16 ? "noftz." + name : name;
}

namespace {

struct ElectToNVVM : OpConversionPattern<tile::gpu::ElectOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::gpu::ElectOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::ElectSyncOp>(op, rewriter.getI1Type(),
                                                   Value());
    return success();
  }
};

/// Emits one predicated instruction, because a branch would be control flow
/// between MMAs in flight.
template <typename OpT> struct BulkOutToNVVM : OpConversionPattern<OpT> {
  BulkOutToNVVM(MLIRContext *context, StringRef name, StringRef kind)
      : OpConversionPattern<OpT>(context), name(name), kind(kind) {}
  LogicalResult
  matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    size_t rank = adaptor.getCoordinates().size();
    SmallVector<Value> operands{
        sharedAddress(rewriter, loc, adaptor.getMemory(), adaptor.getIndex()),
        adaptor.getMap()};
    llvm::append_range(operands, adaptor.getCoordinates());
    operands.push_back(adaptor.getActive());
    std::string text =
        llvm::formatv("@${0} {1}.{2}d.global.shared::cta{3}.bulk_group",
                      2 + rank, name, rank, kind);
    std::string where =
        llvm::formatv(" [$1, {0}], [$0]", assemblyCoordinates(2, rank));
    emitCached(rewriter, loc, text, where,
               "r,l" + repeatConstraint("r", rank) + ",b", operands,
               op.getCache());
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// The parts of the instruction's name before and after the rank and the
  /// state spaces.
  StringRef name, kind;
};

struct BulkAddToNVVM : OpConversionPattern<tile::gpu::BulkAddOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::gpu::BulkAddOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type element = op.getSource().getType().getElementType();
    int64_t bytes = element.getIntOrFloatBitWidth() / 8;
    Value base = memref::ExtractAlignedPointerAsIndexOp::create(
        rewriter, loc, adaptor.getDest());
    Value place = arith::MulIOp::create(
        rewriter, loc, adaptor.getPlace(),
        arith::ConstantIndexOp::create(rewriter, loc, bytes));
    Value to = arith::IndexCastUIOp::create(
        rewriter, loc, rewriter.getI64Type(),
        arith::AddIOp::create(rewriter, loc, base, place));
    Value from =
        sharedAddress(rewriter, loc, adaptor.getSource(), adaptor.getIndex());
    emitAssembly(rewriter, loc,
                 "@$2 cp.reduce.async.bulk.global.shared::cta.bulk_group.add." +
                     typeSuffix(element) + " [$0], [$1], " +
                     Twine(op.getCount() * bytes) + ";",
                 "l,r,b", {to, from, adaptor.getActive()});
    rewriter.eraseOp(op);
    return success();
  }
};

struct BulkCommitToNVVM : OpConversionPattern<tile::gpu::BulkCommitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::gpu::BulkCommitOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncBulkCommitGroupOp>(op);
    return success();
  }
};

struct BulkWaitToNVVM : OpConversionPattern<tile::gpu::BulkWaitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::gpu::BulkWaitOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncBulkWaitGroupOp>(
        op, op.getPendingAttr(), op.getReadAttr());
    return success();
  }
};

struct BulkPrefetchToNVVM : OpConversionPattern<tile::gpu::BulkPrefetchOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::gpu::BulkPrefetchOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    size_t rank = adaptor.getCoordinates().size();
    SmallVector<Value> operands{adaptor.getMap()};
    llvm::append_range(operands, adaptor.getCoordinates());
    std::string text =
        llvm::formatv("cp.async.bulk.prefetch.tensor.{0}d.L2.global [$0, {1}];",
                      rank, assemblyCoordinates(1, rank));
    emitAssembly(rewriter, op.getLoc(), text, "l" + repeatConstraint("r", rank),
                 operands);
    rewriter.eraseOp(op);
    return success();
  }
};

struct PrefetchMapToNVVM : OpConversionPattern<tile::gpu::PrefetchMapOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::gpu::PrefetchMapOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    emitAssembly(rewriter, op.getLoc(), "prefetch.tensormap [$0];", "l",
                 adaptor.getMap());
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void tile::populateBulkStoreToNVVMPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<BulkAddToNVVM, ElectToNVVM, BulkCommitToNVVM, BulkWaitToNVVM,
               BulkPrefetchToNVVM, PrefetchMapToNVVM>(context);
  patterns.add<BulkOutToNVVM<tile::gpu::BulkStoreOp>>(
      context, "cp.async.bulk.tensor", "");
  patterns.add<BulkOutToNVVM<tile::gpu::BulkReduceOp>>(
      context, "cp.reduce.async.bulk.tensor", ".add");
}
