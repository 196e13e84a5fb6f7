//===- Simplify.cpp - Shrinks a program while it is interesting -----------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Verifier.h"
#include "tile/Reducer/Passes.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include <functional>

namespace tile {
#define GEN_PASS_DEF_TILESIMPLIFY
#include "tile/Reducer/Passes.h.inc"
} // namespace tile

using namespace mlir;

//===----------------------------------------------------------------------===//
// Steps. Each fails without a change if it does not apply to the operation.
//===----------------------------------------------------------------------===//

static LogicalResult eraseUnused(Operation *op, RewriterBase &rewriter) {
  if (!op->use_empty())
    return failure();
  rewriter.eraseOp(op);
  return success();
}

static LogicalResult keepFirstIteration(Operation *op, RewriterBase &rewriter) {
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop)
    return failure();
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  SmallVector<Value> arguments{loop.getLowerBound()};
  llvm::append_range(arguments, loop.getInitArgs());
  rewriter.inlineBlockBefore(loop.getBody(), loop, arguments);
  rewriter.replaceOp(loop, yield.getResults());
  rewriter.eraseOp(yield);
  return success();
}

/// Replaces the n-th result of a type by operand `first` + n of that type. With
/// `first` = 0, the results of a loop become its initial values.
static LogicalResult replaceByOperands(Operation *op, RewriterBase &rewriter,
                                       unsigned first) {
  if (op->getNumResults() == 0)
    return failure();
  SmallVector<Value> values;
  DenseMap<Type, unsigned> numResults;
  for (Type type : op->getResultTypes()) {
    SmallVector<Value> operands = llvm::filter_to_vector(
        op->getOperands(), [&](Value v) { return v.getType() == type; });
    unsigned number = first + numResults[type]++;
    if (number >= operands.size())
      return failure();
    values.push_back(operands[number]);
  }
  rewriter.replaceOp(op, values);
  return success();
}

static bool hasZero(Type type) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return isa<RankedTensorType, VectorType>(type) && shaped.hasStaticShape() &&
           shaped.getElementType().isIntOrIndexOrFloat();
  return type.isIntOrIndexOrFloat();
}

static LogicalResult replaceByZeros(Operation *op, RewriterBase &rewriter) {
  if (op->getNumResults() == 0 || matchPattern(op, m_Constant()) ||
      !llvm::all_of(op->getResultTypes(), hasZero))
    return failure();
  SmallVector<Value> zeros;
  for (Type type : op->getResultTypes())
    zeros.push_back(arith::ConstantOp::create(rewriter, op->getLoc(),
                                              rewriter.getZeroAttr(type)));
  rewriter.replaceOp(op, zeros);
  return success();
}

using Step = std::function<LogicalResult(Operation *, RewriterBase &)>;

/// Returns the steps to try at `op`. Those that remove the most come first.
static SmallVector<Step> getSteps(Operation *op) {
  SmallVector<Step> steps{eraseUnused, keepFirstIteration};
  for (unsigned first = 0; first < op->getNumOperands(); ++first)
    steps.push_back([first](Operation *op, RewriterBase &rewriter) {
      return replaceByOperands(op, rewriter, first);
    });
  steps.push_back(replaceByZeros);
  return steps;
}

static LogicalResult take(const Step &step, Operation *op) {
  IRRewriter rewriter(op);
  return step(op, rewriter);
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

/// Appends the operations of `regions`, the last first, so that the users of an
/// operation come before it. An operation comes before those that it contains.
static void collect(MutableArrayRef<Region> regions,
                    SmallVectorImpl<Operation *> &ops) {
  for (Region &region : llvm::reverse(regions))
    for (Block &block : llvm::reverse(region))
      for (Operation &op : llvm::reverse(block)) {
        if (!op.hasTrait<OpTrait::IsTerminator>())
          ops.push_back(&op);
        collect(op.getRegions(), ops);
      }
}

namespace {
struct Simplify : tile::impl::TileSimplifyBase<Simplify> {
  using TileSimplifyBase::TileSimplifyBase;

  void runOnOperation() override {
    if (test.empty()) {
      getOperation().emitError(
          "tile-simplify needs a test: set its option `test`");
      return signalPassFailure();
    }
    FailureOr<bool> interesting = isInteresting(getOperation());
    if (failed(interesting))
      return signalPassFailure();
    if (!*interesting) {
      getOperation().emitError()
          << "the test '" << test
          << "' does not find the program interesting: its exit status is 0";
      return signalPassFailure();
    }
    bool changed = true;
    while (changed) {
      FailureOr<bool> swept = sweep();
      if (failed(swept))
        return signalPassFailure();
      changed = *swept;
    }
  }

private:
  /// Tries all steps at each operation. Returns whether one was taken.
  FailureOr<bool> sweep() {
    bool changed = false;
    SmallVector<Operation *> ops;
    collect(getOperation()->getRegions(), ops);
    for (size_t i = 0; i < ops.size();) {
      FailureOr<bool> simplified = simplify(ops[i]);
      if (failed(simplified))
        return failure();
      if (!*simplified) {
        ++i;
        continue;
      }
      // The operations before position `i` are unchanged, because users come
      // before the values that they use.
      changed = true;
      ops.clear();
      collect(getOperation()->getRegions(), ops);
    }
    return changed;
  }

  /// Takes the first step at `op` that leaves a valid and interesting program.
  /// Returns whether there is one.
  FailureOr<bool> simplify(Operation *op) {
    for (const Step &step : getSteps(op)) {
      IRMapping mapping;
      OwningOpRef<Operation *> copy(getOperation()->clone(mapping));
      if (failed(take(step, mapping.lookup(op))) || !isValid(*copy))
        continue;
      FailureOr<bool> interesting = isInteresting(*copy);
      if (failed(interesting))
        return failure();
      if (*interesting) {
        (void)take(step, op);
        return true;
      }
    }
    return false;
  }

  bool isValid(Operation *program) {
    ScopedDiagnosticHandler silence(&getContext(),
                                    [](Diagnostic &) { return success(); });
    return succeeded(verify(program));
  }

  /// Runs the test on `program`. Reports an error if it cannot run.
  FailureOr<bool> isInteresting(Operation *program) {
    int file;
    SmallString<128> path;
    if (std::error_code error = llvm::sys::fs::createTemporaryFile(
            "tile-reduce", "mlir", file, path))
      return getOperation().emitError()
             << "cannot create a temporary file: " << error.message();
    llvm::scope_exit remove([&] { llvm::sys::fs::remove(path); });
    {
      llvm::raw_fd_ostream os(file, /*shouldClose=*/true);
      program->print(os);
      os << '\n';
      if (std::error_code error = os.error()) {
        os.clear_error();
        return getOperation().emitError()
               << "cannot write " << path << ": " << error.message();
      }
    }
    SmallVector<StringRef> arguments{test};
    llvm::append_range(arguments, testArgs);
    arguments.push_back(path);
    std::string message;
    int status = llvm::sys::ExecuteAndWait(test, arguments, std::nullopt, {}, 0,
                                           0, &message);
    if (status < 0)
      return getOperation().emitError()
             << "cannot run the test '" << test << "': " << message;
    return status != 0;
  }
};
} // namespace
