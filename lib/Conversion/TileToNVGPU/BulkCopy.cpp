//===- BulkCopy.cpp - mbarriers and TMA copies to NVVM --------------------===//
//
// Sources: PTX ISA, "mbarrier", "cp.async.bulk.tensor", "setmaxnreg", "bar".
//
//===----------------------------------------------------------------------===//

#include "BulkCopy.h"
#include "Assembly.h"
#include "KeepHere.h"
#include "SharedAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tile;

/// Attribute of the shuffle that gives the number of the thread.
static constexpr StringLiteral kThreadAttr = "tile.thread";

namespace {

struct InitToNVVM : OpConversionPattern<tile::gpu::MBarrierInitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::gpu::MBarrierInitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value address = sharedAddress(rewriter, op.getLoc(), adaptor.getMemory(),
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

// Emits one predicated instruction. A branch would be control flow between MMAs
// in flight.
struct ArriveToNVVM : OpConversionPattern<tile::gpu::MBarrierArriveOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::gpu::MBarrierArriveOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value address = sharedAddress(rewriter, op.getLoc(), adaptor.getMemory(),
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
    Value address = sharedAddress(rewriter, op.getLoc(), adaptor.getMemory(),
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
    Value address = sharedAddress(rewriter, op.getLoc(), adaptor.getMemory(),
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
    size_t rank = adaptor.getCoordinates().size();
    SmallVector<Value> operands{
        sharedAddress(rewriter, loc, adaptor.getMemory(), adaptor.getIndex()),
        adaptor.getMap()};
    llvm::append_range(operands, adaptor.getCoordinates());
    operands.push_back(sharedAddress(rewriter, loc, adaptor.getBarriers(),
                                     adaptor.getBarrier()));
    std::string text =
        llvm::formatv("cp.async.bulk.tensor.{0}d.shared::cluster.global."
                      "mbarrier::complete_tx::bytes",
                      rank);
    std::string where = llvm::formatv(" [$0], [$1, {0}], [${1}]",
                                      assemblyCoordinates(2, rank), 2 + rank);
    std::string constraints = "r,l" + repeatConstraint("r", rank + 1);
    emitCached(rewriter, loc, text, where, constraints, operands,
               op.getCache());
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

  /// Returns the number of the thread, which is computed once at the start of
  /// the function, by a shuffle. Without the shuffle, ptxas would read the
  /// special register again at each use, which takes hundreds of cycles between
  /// MMAs.
  static Value threadOf(FunctionOpInterface func, OpBuilder &rewriter,
                        Location loc) {
    Block &entry = func.getFunctionBody().front();
    for (auto shuffle : entry.getOps<NVVM::ShflOp>())
      if (shuffle->hasAttr(kThreadAttr))
        return shuffle.getRes();
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(&entry);
    Type i32 = rewriter.getI32Type();
    auto constant = [&](int32_t value) -> Value {
      return arith::ConstantOp::create(rewriter, loc,
                                       rewriter.getI32IntegerAttr(value));
    };
    Value thread = NVVM::ThreadIdXOp::create(rewriter, loc, i32);
    auto shuffle =
        NVVM::ShflOp::create(rewriter, loc, i32, constant(-1), thread, thread,
                             constant(31), NVVM::ShflKind::idx, UnitAttr());
    shuffle->setAttr(kThreadAttr, rewriter.getUnitAttr());
    return shuffle.getRes();
  }

  LogicalResult
  matchAndRewrite(tile::gpu::ThreadOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value thread = threadOf(op->getParentOfType<FunctionOpInterface>(),
                            rewriter, op.getLoc());
    rewriter.replaceOp(op, keepHere(rewriter, op.getLoc(), thread));
    return success();
  }
};

struct RecomputeToNVVM : OpConversionPattern<tile::gpu::RecomputeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::gpu::RecomputeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, keepHere(rewriter, op.getLoc(), adaptor.getValue()));
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
               ThreadToNVVM, RecomputeToNVVM, WarpSyncToNVVM>(
      patterns.getContext());
}
