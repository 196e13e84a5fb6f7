//===- ExpandAttention.cpp - Named operations become kernels --------------===//

#include "Attention/Backward.h"
#include "Attention/Forward.h"
#include "Attention/Requirements.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILEEXPANDATTENTION
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {
/// A kernel that an operation becomes.
struct PlannedKernel {
  std::string name;
  int64_t warps;
  Schedule schedule;
  std::function<void(ImplicitLocOpBuilder &, const IRMapping &)> build;
};

struct ExpandAttention : tile::impl::TileExpandAttentionBase<ExpandAttention> {
  using TileExpandAttentionBase::TileExpandAttentionBase;

  void runOnOperation() override;

private:
  LogicalResult checkFunction(func::FuncOp func);
  using FindTileSizes =
      llvm::function_ref<std::optional<TileSizes>(const Chip &, int64_t)>;
  FailureOr<TileSizes> chooseSizes(Operation *op, int64_t headDim,
                                   FindTileSizes find, bool warpsAlongRows);
  FailureOr<SmallVector<PlannedKernel>> plan(Operation *op, StringRef name);
  LogicalResult expand(func::FuncOp func, SymbolTable &symbols);
};
} // namespace

static bool isNamedOp(Operation *op) {
  return isa<AttentionOp, AttentionBackwardOp>(op);
}

/// What launchers check: a negative scale would make the largest score the
/// smallest.
static void markScalars(Operation *op, KernelOp kernel) {
  auto mark = [&](Value scalar) {
    if (auto argument = dyn_cast_or_null<BlockArgument>(scalar))
      kernel.setArgAttr(argument.getArgNumber(), TileDialect::kNonNegativeAttr,
                        UnitAttr::get(op->getContext()));
  };
  auto markBoth = [&](auto op) {
    mark(op.getScale());
    mark(op.getSoftcap());
  };
  if (auto forward = dyn_cast<AttentionOp>(op))
    markBoth(forward);
  else
    markBoth(cast<AttentionBackwardOp>(op));
}

/// Scratch memory that atomics add to, which tile-choose-accumulators may lay
/// out: the buffers whose rows begin at a whole block of them, wherever the
/// blocks end.
static void markAccumulators(Operation *op, StringRef name, KernelOp kernel) {
  auto backward = dyn_cast<AttentionBackwardOp>(op);
  if (!backward || backward.getCuQ())
    return;
  SmallVector<Value> sums{backward.getDqAcc()};
  if (backward.getKvMode() == KVAccumulation::Atomic)
    llvm::append_values(sums, backward.getDkAcc(), backward.getDvAcc());
  for (Value sum : sums) {
    auto argument = dyn_cast_or_null<BlockArgument>(sum);
    if (!argument)
      continue;
    auto type = cast<BufferType>(argument.getType());
    int64_t rows = type.getShape()[1];
    if (!isa<StridedAttr>(type.getLayout()) ||
        (rows != kDynamic && rows % kScratchRows != 0))
      continue;
    unsigned number = argument.getArgNumber();
    kernel.setArgAttr(
        number, TileDialect::kAccumulatorAttr,
        StringAttr::get(op->getContext(), name + "." + Twine(number)));
  }
}

/// The function must be one whose whole effect is that of kernels.
LogicalResult ExpandAttention::checkFunction(func::FuncOp func) {
  if (func.getNumResults() != 0)
    return func.emitError() << "function @" << func.getSymName()
                            << " of named tile operations becomes kernels, "
                               "which return no values";
  for (Block &block : func.getBody())
    for (Operation &op : block)
      if (!isNamedOp(&op) && !isa<func::ReturnOp>(op) &&
          !isa<arith::ArithDialect>(op.getDialect()))
        return op.emitOpError() << "cannot stand beside named tile "
                                << "operations; only arith operations can";
  if (failed(KernelOp::verifyArguments(func.getArgumentTypes(),
                                       [&] { return func.emitError(); })))
    return failure();
  std::optional<SymbolTable::UseRange> uses =
      SymbolTable::getSymbolUses(func, getOperation());
  if (uses && !uses->empty()) {
    InFlightDiagnostic diag = uses->begin()->getUser()->emitOpError()
                              << "uses function @" << func.getSymName()
                              << ", which becomes a kernel";
    diag.attachNote(func.getLoc()) << "function defined here";
    return diag;
  }
  return success();
}

/// The sizes that the options and the table of the chip give.
FailureOr<TileSizes> ExpandAttention::chooseSizes(Operation *op,
                                                  int64_t headDim,
                                                  FindTileSizes find,
                                                  bool warpsAlongRows) {
  TileSizes sizes{blockM, blockN, numWarps};
  if (queryWarps != 0)
    sizes.queryWarps = queryWarps;
  if (sizes.blockM == 0 || sizes.blockN == 0 || sizes.warps == 0) {
    const Chip *chip = getTargetChip(op);
    if (!chip)
      return failure();
    std::optional<TileSizes> known = find(*chip, headDim);
    if (!known)
      return op->emitOpError()
             << "no tile sizes are known for head dimension " << headDim
             << " on " << chip->name << "; set block-m, block-n and num-warps";
    // What goes with the sizes of the table alone.
    if (sizes.blockM == 0 && sizes.blockN == 0 && sizes.warps == 0) {
      sizes = *known;
      if (queryWarps != 0)
        sizes.queryWarps = queryWarps;
    }
    if (sizes.blockM == 0)
      sizes.blockM = known->blockM;
    if (sizes.blockN == 0)
      sizes.blockN = known->blockN;
    if (sizes.warps == 0)
      sizes.warps = known->warps;
  }
  if (sizes.queryWarps < 1 || sizes.warps % sizes.queryWarps != 0)
    return op->emitOpError() << "query-warps = " << sizes.queryWarps
                             << " does not divide num-warps = " << sizes.warps;
  // What every matrix instruction divides.
  int64_t step = warpsAlongRows ? 16 * sizes.warps : 16;
  if (sizes.warps < 1 || sizes.warps > 32 || sizes.blockM < 1 ||
      sizes.blockM > 1024 || sizes.blockM % step != 0 || sizes.blockN < 1 ||
      sizes.blockN > 1024 || sizes.blockN % 16 != 0)
    return op->emitOpError()
           << "block-m = " << sizes.blockM << ", block-n = " << sizes.blockN
           << ", num-warps = " << sizes.warps
           << ": block-m must be a multiple of "
           << (warpsAlongRows ? "16 * num-warps, block-n one of 16"
                              : "16, and so must block-n")
           << ", both at most 1024, and num-warps at most 32";
  return sizes;
}

/// Returns the schedule of a kernel with these sizes.
static Schedule scheduleOf(const TileSizes &sizes) {
  Schedule schedule;
  if (sizes.producers != 0)
    schedule.producers = sizes.producers;
  if (sizes.storers != 0)
    schedule.storers = sizes.storers;
  if (sizes.registers != 0)
    schedule.registers = {sizes.registers, sizes.producerRegisters};
  if (sizes.turns)
    schedule.turns = true;
  if (sizes.savesRegisters)
    schedule.saveRegisters = true;
  return schedule;
}

template <typename OpT> static AttentionFeatures featuresOf(OpT op) {
  bool window = op.isLeftBounded() || (op.isRightBounded() && !op.getCausal());
  return {window, bool(op.getSoftcap()), bool(op.getCuQ())};
}

FailureOr<SmallVector<PlannedKernel>> ExpandAttention::plan(Operation *op,
                                                            StringRef name) {
  auto headDim = [](auto op) {
    return std::max(op.getQ().getType().getShape().back(),
                    op.getV().getType().getShape().back());
  };
  SmallVector<PlannedKernel> kernels;
  if (auto forward = dyn_cast<AttentionOp>(op)) {
    int64_t valueDim = forward.getV().getType().getShape().back();
    AttentionFeatures features = featuresOf(forward);
    features.merge = forward.getMerge();
    FailureOr<TileSizes> sizes = chooseSizes(
        op, headDim(forward),
        [&](const Chip &chip, int64_t headDim) {
          return findForwardTileSizes(chip, headDim, valueDim, features);
        },
        /*warpsAlongRows=*/true);
    if (failed(sizes))
      return failure();
    kernels.push_back({name.str(), sizes->warps, scheduleOf(*sizes),
                       [=](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
                         buildAttentionForward(b, forward, mapping, *sizes);
                       }});
    return kernels;
  }
  auto backward = cast<AttentionBackwardOp>(op);
  AttentionFeatures features = featuresOf(backward);
  features.atomicKeys = backward.getKvMode() == KVAccumulation::Atomic;
  auto findKeys = [&](const Chip &chip, int64_t headDim) {
    return findBackwardKeysTileSizes(chip, headDim, features);
  };
  auto findQueries = [&](const Chip &chip, int64_t headDim) {
    return findBackwardQueriesTileSizes(chip, headDim, features);
  };
  FailureOr<TileSizes> keys = chooseSizes(op, headDim(backward), findKeys,
                                          /*warpsAlongRows=*/false);
  FailureOr<TileSizes> queries = chooseSizes(op, headDim(backward), findQueries,
                                             /*warpsAlongRows=*/false);
  if (failed(keys) || failed(queries))
    return failure();
  for (BackwardKernel &kernel :
       planAttentionBackward(backward, {*keys, *queries}))
    kernels.push_back({(name + "_" + kernel.suffix).str(), kernel.sizes.warps,
                       scheduleOf(kernel.sizes), std::move(kernel.build)});
  return kernels;
}

LogicalResult ExpandAttention::expand(func::FuncOp func, SymbolTable &symbols) {
  if (failed(checkFunction(func)))
    return failure();
  SmallVector<Operation *> operations;
  for (Operation &op : func.front())
    if (isNamedOp(&op))
      operations.push_back(&op);
  SmallVector<KernelOp> kernels;
  ImplicitLocOpBuilder b(func.getLoc(), func);
  for (auto [i, op] : llvm::enumerate(operations)) {
    std::string name = func.getSymName().str();
    if (operations.size() > 1)
      name += "_" + std::to_string(i);
    FailureOr<SmallVector<PlannedKernel>> planned = plan(op, name);
    if (failed(planned))
      return failure();
    for (PlannedKernel &plannedKernel : *planned) {
      if (Operation *other = symbols.lookup(plannedKernel.name);
          other && other != func) {
        InFlightDiagnostic diag = op->emitOpError()
                                  << "becomes kernel @" << plannedKernel.name
                                  << ", which exists";
        diag.attachNote(other->getLoc()) << "defined here";
        return diag;
      }

      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(func);
      b.setLoc(op->getLoc());
      auto kernel =
          KernelOp::create(b, b.getStringAttr(plannedKernel.name),
                           TypeAttr::get(func.getFunctionType()),
                           b.getI32IntegerAttr(plannedKernel.warps),
                           ScheduleAttr(), func.getArgAttrsAttr(), ArrayAttr());
      kernels.push_back(kernel);
      setSchedule(kernel, plannedKernel.schedule);
      markScalars(op, kernel);
      markAccumulators(op, name, kernel);
      Block &entry = kernel.getBody().emplaceBlock();
      IRMapping mapping;
      for (BlockArgument argument : func.getArguments())
        mapping.map(argument,
                    entry.addArgument(argument.getType(), argument.getLoc()));
      b.setInsertionPointToEnd(&entry);
      for (Operation &scalar : func.front())
        if (isa<arith::ArithDialect>(scalar.getDialect()))
          b.clone(scalar, mapping);
      plannedKernel.build(b, mapping);
      buildRequirements(b, op, mapping);
      ReturnOp::create(b);
      // Scalars that only other kernels use.
      for (Operation &scalar : llvm::make_early_inc_range(llvm::reverse(entry)))
        if (isOpTriviallyDead(&scalar))
          scalar.erase();
    }
  }
  symbols.erase(func);
  for (KernelOp kernel : kernels)
    symbols.insert(kernel);
  return success();
}

void ExpandAttention::runOnOperation() {
  ModuleOp module = getOperation();
  llvm::SmallSetVector<func::FuncOp, 4> functions;
  WalkResult walk = module.walk([&](Operation *op) {
    if (!isNamedOp(op))
      return WalkResult::advance();
    // Nested modules are walked with this one; their symbols are their own.
    auto func = dyn_cast<func::FuncOp>(op->getParentOp());
    if (!func || func->getParentOp() != module ||
        !llvm::hasSingleElement(func.getBody())) {
      op->emitOpError() << "must be at the top level of a func.func of the "
                           "module, with one block";
      return WalkResult::interrupt();
    }
    functions.insert(func);
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return signalPassFailure();
  SymbolTable symbols(module);
  for (func::FuncOp func : functions)
    if (failed(expand(func, symbols)))
      return signalPassFailure();
}
