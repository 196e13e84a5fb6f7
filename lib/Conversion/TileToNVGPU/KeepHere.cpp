//===- KeepHere.cpp - Values that stay inside of loops --------------------===//

#include "KeepHere.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

Value tile::keepHere(OpBuilder &builder, Location loc, Value value) {
  return LLVM::InlineAsmOp::create(
             builder, loc, value.getType(), value, "mov.b32 $0, $1;", "=r,r",
             /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
             ArrayAttr())
      .getResult(0);
}
