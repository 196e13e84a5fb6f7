//===- VerifyPrerequisites.cpp - Checks of accesses before the wait -------===//
//
// A kernel with tile.wait_prerequisites may start once the preceding kernel has
// started, and waits for its end. If the preceding kernel waits, too, the
// kernel before that one may also still run, and so forth. The prerequisites of
// a kernel are these preceding kernels, up to and including the first one
// without a wait.
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/GlobalMemory.h"
#include "tile/Dialect/Tile/IR/Contains.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/StringMap.h"

namespace tile {
#define GEN_PASS_DEF_TILEVERIFYPREREQUISITES
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {
/// An access of a kernel to a buffer argument.
struct Access {
  Operation *op;
  std::string buffer;
  bool isWrite;
};
} // namespace

/// Returns the name of a kernel argument. Launchers pass one tensor to all
/// parameters of one name.
static std::string nameOf(KernelOp kernel, BlockArgument argument) {
  unsigned number = argument.getArgNumber();
  auto name =
      kernel.getArgAttrOfType<StringAttr>(number, TileDialect::kNameAttr);
  return name ? name.getValue().str() : "arg" + std::to_string(number);
}

static SmallVector<Access> collectAccesses(KernelOp kernel) {
  SmallVector<Access> accesses;
  kernel.walk([&](Operation *op) {
    for (const GlobalAccess &access : getGlobalAccesses(op))
      if (access.argument)
        accesses.push_back(
            {op, nameOf(kernel, access.argument), access.isWrite});
  });
  return accesses;
}

/// Returns true if a wait precedes `op`, or an operation that contains `op`.
static bool isAfterWait(Operation *op, KernelOp kernel) {
  for (; op != kernel; op = op->getParentOp())
    for (Operation *before = op->getPrevNode(); before;
         before = before->getPrevNode())
      if (isa<WaitPrerequisitesOp>(before))
        return true;
  return false;
}

namespace {
struct VerifyPrerequisites
    : tile::impl::TileVerifyPrerequisitesBase<VerifyPrerequisites> {
  void runOnOperation() override {
    // For each buffer, one read and one write by the prerequisites, if any.
    llvm::StringMap<Access> reads, writes;
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      bool waits = containsOp(kernel, llvm::IsaPred<WaitPrerequisitesOp>);
      SmallVector<Access> accesses = collectAccesses(kernel);
      if (!waits) {
        reads.clear();
        writes.clear();
      }
      for (const Access &access : accesses) {
        if (!waits || isAfterWait(access.op, kernel))
          continue;
        auto written = writes.find(access.buffer);
        auto read = access.isWrite ? reads.find(access.buffer) : reads.end();
        if (written == writes.end() && read == reads.end())
          continue;
        const Access &other =
            written != writes.end() ? written->second : read->second;
        InFlightDiagnostic diag = access.op->emitOpError()
                                  << (access.isWrite ? "writes '" : "reads '")
                                  << access.buffer
                                  << "' before tile.wait_prerequisites";
        diag.attachNote(other.op->getLoc())
            << "kernel @" << other.op->getParentOfType<KernelOp>().getName()
            << (other.isWrite ? " writes" : " reads")
            << " it here and may still run";
        return signalPassFailure();
      }
      for (const Access &access : accesses)
        (access.isWrite ? writes : reads).insert({access.buffer, access});
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
