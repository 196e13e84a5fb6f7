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

/// Returns true if `pointer` points to shared memory of the block, or, for TMA
/// loads, of its cluster.
static bool isShared(Value pointer) {
  auto space = static_cast<NVVM::NVVMMemorySpace>(
      cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace());
  return space == NVVM::NVVMMemorySpace::Shared ||
         space == NVVM::NVVMMemorySpace::SharedCluster;
}

/// Emits the 32-bit address of a pointer to shared memory.
static Value narrow(ImplicitLocOpBuilder &b, Value pointer) {
  return LLVM::PtrToIntOp::create(b, b.getI32Type(), pointer);
}

/// Emits an instruction on an mbarrier with a count, which is an immediate if
/// it is constant.
static void emitCounted(ImplicitLocOpBuilder &b, StringRef start, Value barrier,
                        Value count) {
  SmallVector<Value> operands{narrow(b, barrier)};
  APInt constant;
  if (matchPattern(count, m_ConstantInt(&constant)))
    return emitAssembly(
        b, start + " [$0], " + Twine(constant.getZExtValue()) + ";", "r",
        operands);
  operands.push_back(count);
  emitAssembly(b, start + " [$0], $1;", "r,r", operands);
}

/// Emits a TMA store or a reduction, with a predicate or without.
template <typename AdaptorT>
static void emitBulkOut(ImplicitLocOpBuilder &b, StringRef name, StringRef kind,
                        AdaptorT operation, Value predicate) {
  size_t rank = operation.getCoordinates().size();
  SmallVector<Value> operands{narrow(b, operation.getSrcMem()),
                              operation.getTmaDescriptor()};
  llvm::append_range(operands, operation.getCoordinates());
  std::string start, constraints = "r,l" + repeatConstraint("r", rank);
  if (predicate) {
    operands.push_back(predicate);
    start = llvm::formatv("@${0} ", 2 + rank);
    constraints += ",b";
  }
  emitCached(
      b,
      llvm::formatv("{0}{1}.{2}d.global.shared::cta{3}.bulk_group", start, name,
                    rank, kind)
          .str(),
      llvm::formatv(" [$1, {0}], [$0]", assemblyCoordinates(2, rank)).str(),
      constraints, operands, operation.getL2CacheHint());
}

//===----------------------------------------------------------------------===//
// For each operation: usesIntrinsic() returns true if LLVM's intrinsic renders
// it well, and emit() emits what replaces it.
//===----------------------------------------------------------------------===//

/// LLVM declares the intrinsics of griddepcontrol without memory effects, so
/// that loads could move before the wait. Inline assembly prevents this.
static bool usesIntrinsic(NVVM::GriddepcontrolOp) { return false; }
static void emit(ImplicitLocOpBuilder &b, NVVM::GriddepcontrolOp op,
                 NVVM::GriddepcontrolOp::Adaptor) {
  emitAssembly(b,
               op.getKind() == NVVM::GridDepActionKind::wait
                   ? "griddepcontrol.wait;"
                   : "griddepcontrol.launch_dependents;",
               "", {});
}

/// MLIR renders the arrival as inline assembly that does not order memory. The
/// intrinsic does.
static bool usesIntrinsic(NVVM::BarrierArriveOp) { return false; }
static void emit(ImplicitLocOpBuilder &b, NVVM::BarrierArriveOp,
                 NVVM::BarrierArriveOp::Adaptor operands) {
  Value barrier = operands.getBarrierId();
  if (!barrier)
    barrier = LLVM::ConstantOp::create(b, b.getI32IntegerAttr(0));
  LLVM::CallIntrinsicOp::create(
      b, b.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"),
      ValueRange{barrier, operands.getNumberOfThreads()});
}

static bool usesIntrinsic(NVVM::MBarrierInitOp op) {
  return op.getPredicate() || !isShared(op.getAddr());
}
static void emit(ImplicitLocOpBuilder &b, NVVM::MBarrierInitOp,
                 NVVM::MBarrierInitOp::Adaptor operands) {
  emitCounted(b, "mbarrier.init.shared::cta.b64", operands.getAddr(),
              operands.getCount());
}

static bool usesIntrinsic(NVVM::MBarrierArriveExpectTxOp op) {
  return op.getPredicate() || op.getRes() || op.getRelaxed() ||
         op.getScope() != NVVM::MemScopeKind::CTA || !isShared(op.getAddr());
}
static void emit(ImplicitLocOpBuilder &b, NVVM::MBarrierArriveExpectTxOp,
                 NVVM::MBarrierArriveExpectTxOp::Adaptor operands) {
  emitCounted(b, "mbarrier.arrive.expect_tx.shared::cta.b64 _,",
              operands.getAddr(), operands.getTxcount());
}

static bool usesIntrinsic(NVVM::MBarrierArriveOp op) {
  return op.getCount() || op.getRes() || op.getRelaxed() ||
         op.getScope() != NVVM::MemScopeKind::CTA || !isShared(op.getAddr());
}
static void emit(ImplicitLocOpBuilder &b, NVVM::MBarrierArriveOp,
                 NVVM::MBarrierArriveOp::Adaptor operands) {
  emitAssembly(b, "mbarrier.arrive.shared::cta.b64 _, [$0];", "r",
               narrow(b, operands.getAddr()));
}

/// A time limit is an operand of the instruction. A limit of 0 stands for none.
static bool usesIntrinsic(NVVM::MBarrierTryWaitParityOp op) {
  return !matchPattern(op.getTicks(), m_Zero()) || !isShared(op.getAddr());
}
static void emit(ImplicitLocOpBuilder &b, NVVM::MBarrierTryWaitParityOp,
                 NVVM::MBarrierTryWaitParityOp::Adaptor operands) {
  emitAssembly(b,
               "{\n.reg .pred ended;\nagain:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 ended, [$0], $1;\n"
               "@!ended bra again;\n}",
               "r,r", {narrow(b, operands.getAddr()), operands.getPhase()});
}

using TMALoadOp = NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp;
using TMAStoreOp = NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp;
using TMAReduceOp = NVVM::CpAsyncBulkTensorReduceOp;

static bool usesIntrinsic(TMALoadOp op) {
  return op.getMode() != NVVM::TMALoadMode::TILE || op.getPredicate() ||
         op.getMulticastMask() || op.getGroup() || op.getIsCTAOnly();
}
static void emit(ImplicitLocOpBuilder &b, TMALoadOp,
                 TMALoadOp::Adaptor operation) {
  size_t rank = operation.getCoordinates().size();
  SmallVector<Value> operands{narrow(b, operation.getDstMem()),
                              operation.getTmaDescriptor()};
  llvm::append_range(operands, operation.getCoordinates());
  operands.push_back(narrow(b, operation.getMbar()));
  emitCached(b,
             llvm::formatv("cp.async.bulk.tensor.{0}d.shared::cluster.global."
                           "mbarrier::complete_tx::bytes",
                           rank)
                 .str(),
             llvm::formatv(" [$0], [$1, {0}], [${1}]",
                           assemblyCoordinates(2, rank), 2 + rank)
                 .str(),
             "r,l" + repeatConstraint("r", rank + 1), operands,
             operation.getL2CacheHint());
}

static bool usesIntrinsic(TMAStoreOp op) {
  return op.getMode() != NVVM::TMAStoreMode::TILE;
}
static void emit(ImplicitLocOpBuilder &b, TMAStoreOp,
                 TMAStoreOp::Adaptor operation) {
  emitBulkOut(b, "cp.async.bulk.tensor", "", operation,
              operation.getPredicate());
}

static bool usesIntrinsic(TMAReduceOp op) {
  return op.getMode() != NVVM::TMAStoreMode::TILE ||
         op.getRedKind() != NVVM::TMAReduxKind::ADD;
}
static void emit(ImplicitLocOpBuilder &b, TMAReduceOp,
                 TMAReduceOp::Adaptor operation) {
  emitBulkOut(b, "cp.reduce.async.bulk.tensor", ".add", operation,
              /*predicate=*/Value());
}

namespace {
/// Replaces an operation without results by what emit() emits.
template <typename OpT> struct Lowering : OpConversionPattern<OpT> {
  using OpConversionPattern<OpT>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(OpT op, typename OpT::Adaptor operands,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    emit(b, op, operands);
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

template <typename... OpTs>
static void addLowerings(RewritePatternSet &patterns,
                         ConversionTarget &target) {
  patterns.add<Lowering<OpTs>...>(patterns.getContext());
  (target.addDynamicallyLegalOp<OpTs>(
       [](OpTs op) { return usesIntrinsic(op); }),
   ...);
}

void tile::populateNVVMLoweringPatterns(RewritePatternSet &patterns,
                                        ConversionTarget &target) {
  addLowerings<NVVM::BarrierArriveOp, NVVM::GriddepcontrolOp,
               NVVM::MBarrierArriveExpectTxOp, NVVM::MBarrierArriveOp,
               NVVM::MBarrierInitOp, NVVM::MBarrierTryWaitParityOp, TMALoadOp,
               TMAReduceOp, TMAStoreOp>(patterns, target);
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
