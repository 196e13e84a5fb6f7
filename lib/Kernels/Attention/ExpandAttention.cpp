//===- ExpandAttention.cpp - Named operations become kernels --------------===//

#include "Backward.h"
#include "ChooseSchedule.h"
#include "Forward.h"
#include "Requirements.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/Tile/Transforms/NamedOps.h"
#include "tile/Kernels/Attention/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILEEXPANDATTENTION
#include "tile/Kernels/Attention/Passes.h.inc"
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
  FailureOr<SmallVector<PlannedKernel, 0>> plan(Operation *op,
                                                ScheduleChooser &chooser);
  LogicalResult expand(func::FuncOp func, ScheduleChooser &chooser,
                       SymbolTable &symbols);
};
} // namespace

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

/// Returns the fields that passes read from the schedule of the kernel. The
/// builders of the program have read the others.
static Schedule getKernelFields(const Schedule &schedule) {
  Schedule fields;
  // Rows of schedules decide about roles and turns: without them, there are
  // none.
  fields.producers = schedule.producers.value_or(0);
  if (!schedule.hasRoles())
    return fields;
  fields.storers = schedule.storers;
  fields.registers = schedule.registers;
  fields.workStages = schedule.workStages.value_or(0);
  // With one product in flight, the loops must not be rotated.
  if (schedule.inFlight == 1)
    fields.keepLoops = true;
  fields.turns = schedule.turns.value_or(false);
  fields.saveRegisters = schedule.saveRegisters;
  return fields;
}

FailureOr<SmallVector<PlannedKernel, 0>>
ExpandAttention::plan(Operation *op, ScheduleChooser &chooser) {
  std::string name = getKernelName(op);
  SmallVector<PlannedKernel, 0> kernels;
  if (auto forward = dyn_cast<AttentionOp>(op)) {
    FailureOr<Schedule> schedule = chooser.chooseForward(forward);
    if (failed(schedule))
      return failure();
    kernels.push_back({name, *schedule->warps, getKernelFields(*schedule),
                       [=](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
                         buildAttentionForward(b, forward, mapping, *schedule);
                       }});
    return kernels;
  }
  auto backward = cast<AttentionBackwardOp>(op);
  FailureOr<Schedule> keys = chooser.chooseBackwardKeys(backward);
  if (failed(keys))
    return failure();
  Schedule queries;
  if (!backward.getDqAcc()) {
    FailureOr<Schedule> chosen = chooser.chooseBackwardQueries(backward);
    if (failed(chosen))
      return failure();
    queries = *chosen;
  }
  for (BackwardKernel &kernel : planAttentionBackward(backward, *keys, queries))
    kernels.push_back({(name + "_" + kernel.suffix).str(), kernel.warps,
                       getKernelFields(kernel.schedule),
                       std::move(kernel.build)});
  // The loops of this kernel have no schedules of their own. Its builder splits
  // and rotates them.
  for (PlannedKernel &kernel : kernels)
    if (kernel.name == name + "_" + kKeysSuffix.str()) {
      kernel.schedule.stages = keys->stages;
      kernel.schedule.keepLoops = true;
    }
  return kernels;
}

LogicalResult ExpandAttention::expand(func::FuncOp func,
                                      ScheduleChooser &chooser,
                                      SymbolTable &symbols) {
  if (failed(checkFunction(func)))
    return failure();
  SmallVector<Operation *> operations;
  for (Operation &op : func.front())
    if (isNamedOp(&op))
      operations.push_back(&op);
  SmallVector<KernelOp> kernels;
  ImplicitLocOpBuilder b(func.getLoc(), func);
  for (Operation *op : operations) {
    FailureOr<SmallVector<PlannedKernel, 0>> planned = plan(op, chooser);
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
      auto kernel = KernelOp::create(
          b, b.getStringAttr(plannedKernel.name),
          TypeAttr::get(func.getFunctionType()),
          b.getI32IntegerAttr(plannedKernel.warps), ScheduleAttr(),
          IntegerAttr(), DictionaryAttr(), func.getArgAttrsAttr(), ArrayAttr());
      kernels.push_back(kernel);
      setSchedule(kernel, plannedKernel.schedule);
      markScalars(op, kernel);
      markAccumulators(op, getKernelName(op), kernel);
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
  ScheduleChooser chooser(getScheduleFolder(schedules));
  SymbolTable symbols(module);
  for (func::FuncOp func : functions)
    if (failed(expand(func, chooser, symbols)))
      return signalPassFailure();
}
