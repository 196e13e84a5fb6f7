//===- LowerNVVM.cpp - Operations of nvvm that LLVM misrenders ------------===//
//
// LLVM's intrinsics for mbarriers and TMA take 64-bit addresses of shared
// memory, which occupy two registers. With them, two of 46 attention programs
// spilled 4 to 8 bytes more, and loops of producers had up to 9 % more
// instructions. So these operations become inline assembly with 32-bit
// addresses.
//
// Sources: PTX ISA, "mbarrier", "cp.async.bulk.tensor",
// "cp.reduce.async.bulk.tensor", "griddepcontrol", "bar".
//
//===----------------------------------------------------------------------===//

#include "LowerNVVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "tile/Conversion/GPUToLLVM/NVIDIA/Assembly.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tile;

namespace {

/// LLVM declares the intrinsics of griddepcontrol without memory effects, so
/// that loads could move before the wait. Inline assembly prevents this.
struct GriddepcontrolLowering : OpConversionPattern<NVVM::GriddepcontrolOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(NVVM::GriddepcontrolOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    StringRef text = op.getKind() == NVVM::GridDepActionKind::wait
                         ? "griddepcontrol.wait;"
                         : "griddepcontrol.launch_dependents;";
    emitAssembly(rewriter, op.getLoc(), text, "", {});
    rewriter.eraseOp(op);
    return success();
  }
};

/// MLIR renders the arrival as inline assembly that does not order memory. The
/// intrinsic does.
struct BarrierArriveLowering : OpConversionPattern<NVVM::BarrierArriveOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(NVVM::BarrierArriveOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value barrier = adaptor.getBarrierId();
    if (!barrier)
      barrier = LLVM::ConstantOp::create(rewriter, op.getLoc(),
                                         rewriter.getI32IntegerAttr(0));
    LLVM::CallIntrinsicOp::create(
        rewriter, op.getLoc(),
        rewriter.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"),
        ValueRange{barrier, adaptor.getNumberOfThreads()});
    rewriter.eraseOp(op);
    return success();
  }
};

/// Returns true if `pointer` points to shared memory of the block, or, for TMA
/// loads, of its cluster.
static bool isShared(Value pointer) {
  auto space = static_cast<NVVM::NVVMMemorySpace>(
      cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace());
  return space == NVVM::NVVMMemorySpace::Shared ||
         space == NVVM::NVVMMemorySpace::SharedCluster;
}

/// Emits the 32-bit address of a pointer to shared memory.
static Value narrow(OpBuilder &builder, Value pointer) {
  return LLVM::PtrToIntOp::create(builder, pointer.getLoc(),
                                  builder.getI32Type(), pointer);
}

/// Emits an instruction on an mbarrier with a count, which is an immediate if
/// it is constant.
static void emitCounted(OpBuilder &builder, Location loc, StringRef start,
                        Value barrier, Value count) {
  SmallVector<Value> operands{narrow(builder, barrier)};
  APInt constant;
  if (matchPattern(count, m_ConstantInt(&constant)))
    return emitAssembly(
        builder, loc, start + " [$0], " + Twine(constant.getZExtValue()) + ";",
        "r", operands);
  operands.push_back(count);
  emitAssembly(builder, loc, start + " [$0], $1;", "r,r", operands);
}

static bool usesIntrinsic(NVVM::MBarrierInitOp op) {
  return op.getPredicate() || !isShared(op.getAddr());
}
struct InitLowering : OpConversionPattern<NVVM::MBarrierInitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(NVVM::MBarrierInitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    emitCounted(rewriter, op.getLoc(), "mbarrier.init.shared::cta.b64",
                adaptor.getAddr(), adaptor.getCount());
    rewriter.eraseOp(op);
    return success();
  }
};

static bool usesIntrinsic(NVVM::MBarrierArriveExpectTxOp op) {
  return op.getPredicate() || op.getRes() || op.getRelaxed() ||
         op.getScope() != NVVM::MemScopeKind::CTA || !isShared(op.getAddr());
}
struct ExpectLowering : OpConversionPattern<NVVM::MBarrierArriveExpectTxOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(NVVM::MBarrierArriveExpectTxOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    emitCounted(rewriter, op.getLoc(),
                "mbarrier.arrive.expect_tx.shared::cta.b64 _,",
                adaptor.getAddr(), adaptor.getTxcount());
    rewriter.eraseOp(op);
    return success();
  }
};

static bool usesIntrinsic(NVVM::MBarrierArriveOp op) {
  return op.getCount() || op.getRes() || op.getRelaxed() ||
         op.getScope() != NVVM::MemScopeKind::CTA || !isShared(op.getAddr());
}
struct ArriveLowering : OpConversionPattern<NVVM::MBarrierArriveOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(NVVM::MBarrierArriveOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    emitAssembly(rewriter, op.getLoc(),
                 "mbarrier.arrive.shared::cta.b64 _, [$0];", "r",
                 narrow(rewriter, adaptor.getAddr()));
    rewriter.eraseOp(op);
    return success();
  }
};

/// A time limit is an operand of the instruction. A limit of 0 stands for none.
static bool usesIntrinsic(NVVM::MBarrierTryWaitParityOp op) {
  return !matchPattern(op.getTicks(), m_Zero()) || !isShared(op.getAddr());
}
struct WaitLowering : OpConversionPattern<NVVM::MBarrierTryWaitParityOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(NVVM::MBarrierTryWaitParityOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    emitAssembly(rewriter, op.getLoc(),
                 "{\n.reg .pred ended;\nagain:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 ended, [$0], $1;\n"
                 "@!ended bra again;\n}",
                 "r,r",
                 {narrow(rewriter, adaptor.getAddr()), adaptor.getPhase()});
    rewriter.eraseOp(op);
    return success();
  }
};

static bool usesIntrinsic(NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp op) {
  return op.getMode() != NVVM::TMALoadMode::TILE || op.getPredicate() ||
         op.getMulticastMask() || op.getGroup() || op.getIsCTAOnly();
}
struct LoadLowering
    : OpConversionPattern<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp op,
                  OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    size_t rank = adaptor.getCoordinates().size();
    SmallVector<Value> operands{narrow(rewriter, adaptor.getDstMem()),
                                adaptor.getTmaDescriptor()};
    llvm::append_range(operands, adaptor.getCoordinates());
    operands.push_back(narrow(rewriter, adaptor.getMbar()));
    emitCached(rewriter, op.getLoc(),
               llvm::formatv("cp.async.bulk.tensor.{0}d.shared::cluster.global."
                             "mbarrier::complete_tx::bytes",
                             rank)
                   .str(),
               llvm::formatv(" [$0], [$1, {0}], [${1}]",
                             assemblyCoordinates(2, rank), 2 + rank)
                   .str(),
               "r,l" + repeatConstraint("r", rank + 1), operands,
               adaptor.getL2CacheHint());
    rewriter.eraseOp(op);
    return success();
  }
};

/// Emits a TMA store or a reduction, with a predicate or without.
static void emitBulkOut(OpBuilder &builder, Location loc, StringRef name,
                        StringRef kind, Value from, Value map,
                        ValueRange coordinates, Value predicate, Value policy) {
  size_t rank = coordinates.size();
  SmallVector<Value> operands{narrow(builder, from), map};
  llvm::append_range(operands, coordinates);
  std::string start, constraints = "r,l" + repeatConstraint("r", rank);
  if (predicate) {
    operands.push_back(predicate);
    start = llvm::formatv("@${0} ", 2 + rank);
    constraints += ",b";
  }
  emitCached(
      builder, loc,
      llvm::formatv("{0}{1}.{2}d.global.shared::cta{3}.bulk_group", start, name,
                    rank, kind)
          .str(),
      llvm::formatv(" [$1, {0}], [$0]", assemblyCoordinates(2, rank)).str(),
      constraints, operands, policy);
}

static bool usesIntrinsic(NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp op) {
  return op.getMode() != NVVM::TMAStoreMode::TILE;
}
struct StoreLowering
    : OpConversionPattern<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp op,
                  OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    emitBulkOut(rewriter, op.getLoc(), "cp.async.bulk.tensor", "",
                adaptor.getSrcMem(), adaptor.getTmaDescriptor(),
                adaptor.getCoordinates(), adaptor.getPredicate(),
                adaptor.getL2CacheHint());
    rewriter.eraseOp(op);
    return success();
  }
};

static bool usesIntrinsic(NVVM::CpAsyncBulkTensorReduceOp op) {
  return op.getMode() != NVVM::TMAStoreMode::TILE ||
         op.getRedKind() != NVVM::TMAReduxKind::ADD;
}
struct ReduceLowering : OpConversionPattern<NVVM::CpAsyncBulkTensorReduceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(NVVM::CpAsyncBulkTensorReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    emitBulkOut(rewriter, op.getLoc(), "cp.reduce.async.bulk.tensor", ".add",
                adaptor.getSrcMem(), adaptor.getTmaDescriptor(),
                adaptor.getCoordinates(), /*predicate=*/Value(),
                adaptor.getL2CacheHint());
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

/// Makes operations legal that LLVM's intrinsics render well.
template <typename... OpTs>
static void addIntrinsics(ConversionTarget &target) {
  (target.addDynamicallyLegalOp<OpTs>(
       [](OpTs op) { return usesIntrinsic(op); }),
   ...);
}

void tile::populateNVVMLoweringPatterns(RewritePatternSet &patterns,
                                        ConversionTarget &target) {
  target.addIllegalOp<NVVM::BarrierArriveOp, NVVM::GriddepcontrolOp>();
  addIntrinsics<NVVM::MBarrierInitOp, NVVM::MBarrierArriveExpectTxOp,
                NVVM::MBarrierArriveOp, NVVM::MBarrierTryWaitParityOp,
                NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp,
                NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp,
                NVVM::CpAsyncBulkTensorReduceOp>(target);
  patterns.add<ArriveLowering, BarrierArriveLowering, ExpectLowering,
               GriddepcontrolLowering, InitLowering, LoadLowering,
               ReduceLowering, StoreLowering, WaitLowering>(
      patterns.getContext());
}

void tile::lowerToAssembly(Operation *root) {
  RewritePatternSet patterns(root->getContext());
  populateNVVMToLLVMConversionPatterns(patterns);
  walkAndApplyPatterns(root, std::move(patterns));
  // MLIR marks the assembly that it writes by the dialect.
  root->walk([](LLVM::InlineAsmOp op) {
    StringRef clobber = "~{memory}";
    if (!op.getAsmDialect() || !op.getHasSideEffects() ||
        op.getConstraints().contains(clobber))
      return;
    StringRef separator = op.getConstraints().empty() ? "" : ",";
    op.setConstraints((op.getConstraints() + separator + clobber).str());
  });
}
