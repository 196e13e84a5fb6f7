//===- ExpandFunctions.cpp - Functions of named operations ----------------===//

#include "ExpandFunctions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Dialect/Tile/Transforms/Program/NamedOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

namespace {
class FunctionExpander {
public:
  FunctionExpander(
      ModuleOp module, llvm::function_ref<bool(Operation *)> isExpanded,
      llvm::function_ref<FailureOr<SmallVector<PlannedKernel, 0>>(Operation *)>
          plan)
      : module(module), isExpanded(isExpanded), plan(plan), symbols(module) {}

  LogicalResult run();

private:
  LogicalResult checkFunction(func::FuncOp func);
  LogicalResult checkName(Operation *op, func::FuncOp func, StringRef name);
  KernelOp build(Operation *op, func::FuncOp func,
                 const PlannedKernel &planned);
  LogicalResult expand(func::FuncOp func);

  ModuleOp module;
  llvm::function_ref<bool(Operation *)> isExpanded;
  llvm::function_ref<FailureOr<SmallVector<PlannedKernel, 0>>(Operation *)>
      plan;
  SymbolTable symbols;
};
} // namespace

/// The function must be one whose whole effect is that of kernels.
LogicalResult FunctionExpander::checkFunction(func::FuncOp func) {
  if (func.getNumResults() != 0)
    return func.emitError() << "function @" << func.getSymName()
                            << " of named tile operations becomes kernels, "
                               "which return no values";
  Operation *first = nullptr;
  for (Operation &op : func.front())
    if (isExpanded(&op) && !first)
      first = &op;
  for (Operation &op : func.front()) {
    if (isExpanded(&op) || isa<func::ReturnOp>(op) ||
        isa<arith::ArithDialect>(op.getDialect()))
      continue;
    if (isNamedOp(&op))
      return op.emitOpError() << "cannot stand beside " << first->getName()
                              << "; write a function for each";
    return op.emitOpError() << "cannot stand beside named tile "
                            << "operations; only arith operations can";
  }
  if (failed(KernelOp::verifyArguments(func.getArgumentTypes(),
                                       [&] { return func.emitError(); })))
    return failure();
  std::optional<SymbolTable::UseRange> uses =
      SymbolTable::getSymbolUses(func, module);
  if (uses && !uses->empty()) {
    InFlightDiagnostic diag = uses->begin()->getUser()->emitOpError()
                              << "uses function @" << func.getSymName()
                              << ", which becomes a kernel";
    diag.attachNote(func.getLoc()) << "function defined here";
    return diag;
  }
  return success();
}

LogicalResult FunctionExpander::checkName(Operation *op, func::FuncOp func,
                                          StringRef name) {
  Operation *other = symbols.lookup(name);
  if (!other || other == func)
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << "becomes kernel @" << name << ", which exists";
  diag.attachNote(other->getLoc()) << "defined here";
  return diag;
}

KernelOp FunctionExpander::build(Operation *op, func::FuncOp func,
                                 const PlannedKernel &planned) {
  ImplicitLocOpBuilder b(op->getLoc(), func);
  IntegerAttr warps;
  if (planned.warps)
    warps = b.getI32IntegerAttr(*planned.warps);
  auto kernel = KernelOp::create(
      b, b.getStringAttr(planned.name), TypeAttr::get(func.getFunctionType()),
      warps, /*cluster_blocks=*/IntegerAttr(), ScheduleAttr(),
      /*shared_bytes=*/IntegerAttr(), DictionaryAttr(),
      /*grid_blocks=*/IntegerAttr(), func.getArgAttrsAttr(), ArrayAttr());
  setSchedule(kernel, planned.schedule);
  Block &entry = kernel.getBody().emplaceBlock();
  IRMapping mapping;
  for (BlockArgument argument : func.getArguments())
    mapping.map(argument,
                entry.addArgument(argument.getType(), argument.getLoc()));
  b.setInsertionPointToEnd(&entry);
  for (Operation &scalar : func.front())
    if (isa<arith::ArithDialect>(scalar.getDialect()))
      b.clone(scalar, mapping);
  planned.build(b, kernel, mapping);
  ReturnOp::create(b);
  // Scalars that only other kernels use.
  for (Operation &scalar : llvm::make_early_inc_range(llvm::reverse(entry)))
    if (isOpTriviallyDead(&scalar))
      scalar.erase();
  return kernel;
}

LogicalResult FunctionExpander::expand(func::FuncOp func) {
  if (failed(checkFunction(func)))
    return failure();
  SmallVector<KernelOp> kernels;
  for (Operation &op : func.front()) {
    if (!isExpanded(&op))
      continue;
    FailureOr<SmallVector<PlannedKernel, 0>> planned = plan(&op);
    if (failed(planned))
      return failure();
    for (const PlannedKernel &kernel : *planned) {
      if (failed(checkName(&op, func, kernel.name)))
        return failure();
      kernels.push_back(build(&op, func, kernel));
    }
  }
  symbols.erase(func);
  for (KernelOp kernel : kernels)
    symbols.insert(kernel);
  return success();
}

LogicalResult FunctionExpander::run() {
  llvm::SmallSetVector<func::FuncOp, 4> functions;
  WalkResult walk = module.walk([&](Operation *op) {
    if (!isExpanded(op))
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
    return failure();
  for (func::FuncOp func : functions)
    if (failed(expand(func)))
      return failure();
  return success();
}

LogicalResult tile::expandFunctions(
    ModuleOp module, llvm::function_ref<bool(Operation *)> isExpanded,
    llvm::function_ref<FailureOr<SmallVector<PlannedKernel, 0>>(Operation *)>
        plan) {
  return FunctionExpander(module, isExpanded, plan).run();
}

void tile::requireExtent(ImplicitLocOpBuilder &builder, Value buffer,
                         int64_t dim, Relation relation, Value value,
                         const Twine &reason) {
  auto op = RequireOp::create(builder, buffer, dim, relation, value,
                              builder.getStringAttr(reason));
  if (op.decide() == true)
    op.erase();
}

void tile::requireNamedExtents(ImplicitLocOpBuilder &builder,
                               ArrayRef<NamedExtent> extents,
                               const IRMapping &mapping) {
  llvm::SmallDenseMap<unsigned, const NamedExtent *> first;
  for (const NamedExtent &extent : extents) {
    const NamedExtent &other =
        *first.try_emplace(extent.kind, &extent).first->second;
    // The verifier compares static extents.
    if (&other == &extent || (!ShapedType::isDynamic(extent.get()) &&
                              !ShapedType::isDynamic(other.get())))
      continue;
    requireExtent(
        builder, mapping.lookup(extent.buffer), extent.dim,
        extent.mayExceed ? Relation::AtLeast : Relation::Equal,
        builder.createOrFold<DimOp>(mapping.lookup(other.buffer), other.dim),
        "the " + other.describe());
  }
}
