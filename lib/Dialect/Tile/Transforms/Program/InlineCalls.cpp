//===- InlineCalls.cpp - Calls of functions over tiles --------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Inliner.h"
#include "mlir/Transforms/InliningUtils.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILEINLINECALLS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {
class CallInliner {
public:
  LogicalResult inlineCallsIn(Operation *caller);
  void eraseUnused(ModuleOp module);

private:
  LogicalResult inlineOne(func::CallOp call);

  SymbolTableCollection symbols;
  /// The functions whose own calls are inlined, and those that are being
  /// inlined.
  llvm::SetVector<func::FuncOp> done;
  llvm::SetVector<func::FuncOp> active;
};
} // namespace

/// Replaces `call` by the body of its function.
LogicalResult CallInliner::inlineOne(func::CallOp call) {
  // The verifier of func.call ensures that there is such a function.
  auto function =
      symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  auto refuse = [&](StringRef reason) {
    InFlightDiagnostic diag = call.emitOpError()
                              << "calls function @" << call.getCallee() << ", "
                              << reason;
    diag.attachNote(function.getLoc()) << "function defined here";
    return diag;
  };
  if (function.isExternal())
    return refuse("which has no body");
  if (!function.getBody().hasOneBlock())
    return refuse("which has branches between blocks; use scf.if and scf.for");
  if (active.contains(function))
    return refuse("which calls itself");
  if (!done.contains(function)) {
    active.insert(function);
    if (failed(inlineCallsIn(function)))
      return failure();
    active.pop_back();
    done.insert(function);
  }
  InlinerInterface interface(call.getContext());
  if (failed(inlineCall(interface, InlinerConfig().getCloneCallback(), call,
                        cast<CallableOpInterface>(function.getOperation()),
                        &function.getBody())))
    return refuse("which cannot be inlined");
  call.erase();
  return success();
}

LogicalResult CallInliner::inlineCallsIn(Operation *caller) {
  SmallVector<func::CallOp> calls;
  caller->walk([&](func::CallOp call) { calls.push_back(call); });
  for (func::CallOp call : calls)
    if (failed(inlineOne(call)))
      return failure();
  return success();
}

/// Erases the functions that were inlined, if nothing else uses them.
void CallInliner::eraseUnused(ModuleOp module) {
  // A function comes after those that it calls.
  for (func::FuncOp function : llvm::reverse(done))
    if (SymbolTable::symbolKnownUseEmpty(function, module))
      function.erase();
}

namespace {
struct InlineCalls : tile::impl::TileInlineCallsBase<InlineCalls> {
  void runOnOperation() override {
    CallInliner inliner;
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(inliner.inlineCallsIn(kernel)))
        return signalPassFailure();
    inliner.eraseUnused(getOperation());
  }
};
} // namespace
