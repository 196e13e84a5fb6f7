//===- ExpandAttention.cpp - Named operations become kernels --------------===//

#include "Attention/Forward.h"
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
struct ExpandAttention : tile::impl::TileExpandAttentionBase<ExpandAttention> {
  using TileExpandAttentionBase::TileExpandAttentionBase;

  void runOnOperation() override;

private:
  LogicalResult checkFunction(func::FuncOp func);
  FailureOr<TileSizes> chooseSizes(AttentionOp op);
  LogicalResult expand(func::FuncOp func, SymbolTable &symbols);
};
} // namespace

/// The function must be one whose whole effect is that of kernels.
LogicalResult ExpandAttention::checkFunction(func::FuncOp func) {
  if (func.getNumResults() != 0)
    return func.emitError() << "function @" << func.getSymName()
                            << " of named tile operations becomes kernels, "
                               "which return no values";
  for (Block &block : func.getBody())
    for (Operation &op : block)
      if (!isa<AttentionOp, func::ReturnOp>(op) &&
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

FailureOr<TileSizes> ExpandAttention::chooseSizes(AttentionOp op) {
  TileSizes sizes{blockM, blockN, numWarps};
  if (sizes.blockM == 0 || sizes.blockN == 0 || sizes.warps == 0) {
    const Chip *chip = getTargetChip(op);
    if (!chip)
      return failure();
    int64_t headDim = std::max(op.getQ().getType().getShape()[3],
                               op.getV().getType().getShape()[3]);
    std::optional<TileSizes> known = findForwardTileSizes(*chip, headDim);
    if (!known)
      return op.emitOpError()
             << "no tile sizes are known for head dimension " << headDim
             << " on " << chip->name << "; set block-m, block-n and num-warps";
    if (sizes.blockM == 0 && sizes.blockN == 0 && sizes.warps == 0)
      return *known;
    if (sizes.blockM == 0)
      sizes.blockM = known->blockM;
    if (sizes.blockN == 0)
      sizes.blockN = known->blockN;
    if (sizes.warps == 0)
      sizes.warps = known->warps;
  }
  // What every matrix instruction divides.
  if (sizes.warps < 1 || sizes.warps > 32 || sizes.blockM < 1 ||
      sizes.blockM > 1024 || sizes.blockM % (16 * sizes.warps) != 0 ||
      sizes.blockN < 1 || sizes.blockN > 1024 || sizes.blockN % 16 != 0)
    return op.emitOpError()
           << "block-m = " << sizes.blockM << ", block-n = " << sizes.blockN
           << ", num-warps = " << sizes.warps
           << ": block-m must be a multiple of 16 * num-warps, "
              "block-n one of 16, both at most 1024, and "
              "num-warps at most 32";
  return sizes;
}

LogicalResult ExpandAttention::expand(func::FuncOp func, SymbolTable &symbols) {
  if (failed(checkFunction(func)))
    return failure();
  auto attentions = llvm::to_vector(func.getOps<AttentionOp>());
  SmallVector<KernelOp> kernels;
  ImplicitLocOpBuilder b(func.getLoc(), func);
  for (auto [i, op] : llvm::enumerate(attentions)) {
    FailureOr<TileSizes> sizes = chooseSizes(op);
    if (failed(sizes))
      return failure();
    std::string name = func.getSymName().str();
    if (attentions.size() > 1)
      name += "_" + std::to_string(i);
    if (Operation *other = symbols.lookup(name); other && other != func) {
      InFlightDiagnostic diag = op.emitOpError() << "becomes kernel @" << name
                                                 << ", which exists";
      diag.attachNote(other->getLoc()) << "defined here";
      return diag;
    }

    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(func);
    b.setLoc(op.getLoc());
    auto kernel = KernelOp::create(
        b, b.getStringAttr(name), TypeAttr::get(func.getFunctionType()),
        b.getI32IntegerAttr(sizes->warps), func.getArgAttrsAttr(), ArrayAttr());
    kernels.push_back(kernel);
    // A negative scale would make the largest score the smallest.
    if (auto scale = dyn_cast<BlockArgument>(op.getScale()))
      kernel.setArgAttr(scale.getArgNumber(), TileDialect::kNonNegativeAttr,
                        b.getUnitAttr());
    Block &entry = kernel.getBody().emplaceBlock();
    IRMapping mapping;
    for (BlockArgument argument : func.getArguments())
      mapping.map(argument,
                  entry.addArgument(argument.getType(), argument.getLoc()));
    b.setInsertionPointToEnd(&entry);
    for (Operation &scalar : func.front())
      if (isa<arith::ArithDialect>(scalar.getDialect()))
        b.clone(scalar, mapping);
    buildAttentionForward(b, op, mapping, *sizes);
    ReturnOp::create(b);
    // Scalars that only the function's other operations use.
    for (Operation &scalar : llvm::make_early_inc_range(llvm::reverse(entry)))
      if (isOpTriviallyDead(&scalar))
        scalar.erase();
  }
  symbols.erase(func);
  for (KernelOp kernel : kernels)
    symbols.insert(kernel);
  return success();
}

void ExpandAttention::runOnOperation() {
  ModuleOp module = getOperation();
  llvm::SmallSetVector<func::FuncOp, 4> functions;
  WalkResult walk = module.walk([&](AttentionOp op) {
    // Nested modules are walked with this one; their symbols are their own.
    auto func = dyn_cast<func::FuncOp>(op->getParentOp());
    if (!func || func->getParentOp() != module ||
        !llvm::hasSingleElement(func.getBody())) {
      op.emitOpError() << "must be at the top level of a func.func of the "
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
