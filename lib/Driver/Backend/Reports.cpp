//===- Reports.cpp - Assertions and prints of AMD's code objects ----------===//

#include "tile/Dialect/TileGPU/IR/Reports.h"
#include "Backend.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

LogicalResult tile::replaceReports(mlir::gpu::GPUModuleOp module,
                                   const Chip &chip) {
  WalkResult result = module.walk([&](LLVM::CallOp call) -> WalkResult {
    if (call.getCallee() == tile::gpu::kPrintFunction)
      return call.emitError("prints, which a code object for ")
             << chip.name
             << " cannot; the executor (tile-run) runs the program and prints";
    if (call.getCallee() == tile::gpu::kFailFunction) {
      OpBuilder builder(call);
      LLVM::Trap::create(builder, call.getLoc());
      call.erase();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
