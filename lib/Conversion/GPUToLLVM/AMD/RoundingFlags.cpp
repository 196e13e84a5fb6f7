//===- RoundingFlags.cpp - fastmath<nnan> of conversions to bf16 ----------===//

#include "RoundingFlags.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

/// Returns true if `truncate` makes bf16 of f32 that is not NaN.
static bool isFlagged(arith::TruncFOp truncate) {
  std::optional<arith::FastMathFlags> flags = truncate.getFastmath();
  return flags && bitEnumContainsAll(*flags, arith::FastMathFlags::nnan) &&
         getElementTypeOrSelf(truncate.getType()).isBF16() &&
         getElementTypeOrSelf(truncate.getIn().getType()).isF32();
}

void tile::keepRoundingFlags(mlir::gpu::GPUModuleOp module) {
  module.walk([](arith::TruncFOp truncate) {
    if (!isFlagged(truncate))
      return;
    OpBuilder b(truncate);
    auto fence = LLVM::CallIntrinsicOp::create(
        b, truncate.getLoc(), truncate.getIn().getType(),
        b.getStringAttr("llvm.arithmetic.fence"), truncate.getIn(),
        LLVM::FastmathFlagsAttr::get(b.getContext(),
                                     LLVM::FastmathFlags::nnan));
    truncate.getInMutable().assign(fence.getResults());
    truncate.removeFastmathAttr();
  });
}
