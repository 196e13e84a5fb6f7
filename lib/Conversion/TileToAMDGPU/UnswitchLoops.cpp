//===- UnswitchLoops.cpp - Loops without branches for odd extents ---------===//
//
// In a loop with products, LLVM schedules no instruction across a branch. If
// the condition of a branch is a conjunction with a number that is the same in
// all iterations and all threads of a block, as that of the elements of a row
// that ends within an access, the loop has a copy without the branch for blocks
// in which the number is false.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Conversion/TileToAMDGPU/Passes.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

/// The least share of the operations of a loop that the branches contain. A
/// copy takes code, and without branches LLVM has more values live at once.
static constexpr double kLeastShare = 0.45;

/// Returns true if a number is computed from the parameters of the kernel and
/// the number of the block.
static bool isUniform(Value value, unsigned depth = 16) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return isa<mlir::gpu::GPUFuncOp>(value.getParentBlock()->getParentOp());
  if (isa<mlir::gpu::BlockIdOp>(op))
    return true;
  return depth > 0 && isa<arith::ArithDialect>(op->getDialect()) &&
         isPure(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
           return operand.getType().isIntOrIndex() &&
                  isUniform(operand, depth - 1);
         });
}

/// Adds the members of a conjunction that are the same in all iterations of
/// `loop` and in all threads of a block.
static void collectUniform(Value condition, scf::ForOp loop,
                           llvm::SetVector<Value> &found) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    collectUniform(both.getLhs(), loop, found);
    collectUniform(both.getRhs(), loop, found);
  } else if (loop.isDefinedOutsideOfLoop(condition) && isUniform(condition) &&
             !matchPattern(condition, m_Constant())) {
    found.insert(condition);
  }
}

/// Returns true if `op` is a branch that a uniform number skips, which is added
/// to `conditions`.
static bool isSkipped(Operation *op, scf::ForOp loop,
                      llvm::SetVector<Value> &conditions) {
  auto branch = dyn_cast<scf::IfOp>(op);
  llvm::SetVector<Value> found;
  if (branch)
    collectUniform(branch.getCondition(), loop, found);
  conditions.insert_range(found);
  return !found.empty();
}

/// Replaces `branch` by what it does without its condition.
static void skip(IRRewriter &rewriter, scf::IfOp branch) {
  if (Block *otherwise = branch.elseBlock()) {
    Operation *yield = otherwise->getTerminator();
    SmallVector<Value> results(yield->getOperands());
    rewriter.eraseOp(yield);
    rewriter.inlineBlockBefore(otherwise, branch);
    rewriter.replaceOp(branch, results);
  } else {
    rewriter.eraseOp(branch);
  }
}

static void unswitch(scf::ForOp loop) {
  bool hasProduct = false, isInner = true;
  int64_t operations = 0, skippable = 0;
  llvm::SetVector<Value> conditions;
  loop.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    ++operations;
    hasProduct |= isa<tile::gpu::MmaOp>(op);
    isInner &= !isa<LoopLikeOpInterface>(op);
    if (!isSkipped(op, loop, conditions))
      return WalkResult::advance();
    int64_t before = skippable;
    op->walk([&](Operation *) { ++skippable; });
    operations += skippable - before - 1;
    return WalkResult::skip();
  });
  if (!hasProduct || !isInner || conditions.empty() ||
      skippable < kLeastShare * operations)
    return;
  IRRewriter rewriter(loop);
  Location loc = loop.getLoc();
  Value any;
  for (Value condition : conditions)
    any = any ? Value(arith::OrIOp::create(rewriter, loc, any, condition))
              : condition;
  auto versions = scf::IfOp::create(rewriter, loc, loop.getResultTypes(), any,
                                    /*withElseRegion=*/true);
  rewriter.replaceAllUsesWith(loop.getResults(), versions.getResults());
  auto end = [&](OpBuilder &b, scf::ForOp version) {
    if (loop.getNumResults() == 0)
      return;
    b.setInsertionPointAfter(version);
    scf::YieldOp::create(b, loc, version.getResults());
  };
  rewriter.setInsertionPointToStart(versions.elseBlock());
  auto plain = cast<scf::ForOp>(rewriter.clone(*loop));
  end(rewriter, plain);
  rewriter.moveOpBefore(loop, versions.thenBlock(),
                        versions.thenBlock()->begin());
  end(rewriter, loop);

  rewriter.setInsertionPoint(plain);
  Value never = arith::ConstantIntOp::create(rewriter, loc, 0, 1);
  SmallVector<scf::IfOp> skipped;
  plain.walk([&](scf::IfOp branch) {
    if (isSkipped(branch, plain, conditions))
      skipped.push_back(branch);
  });
  for (scf::IfOp branch : skipped)
    skip(rewriter, branch);
  for (Value condition : conditions)
    condition.replaceUsesWithIf(never, [&](OpOperand &use) {
      return plain->isProperAncestor(use.getOwner());
    });
}

void tile::unswitchLoops(Operation *root) {
  SmallVector<scf::ForOp> loops;
  root->walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    unswitch(loop);
}
