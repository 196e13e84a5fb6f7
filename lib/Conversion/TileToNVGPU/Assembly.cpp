//===- Assembly.cpp - Instructions that LLVM does not name ----------------===//

#include "Assembly.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

void tile::emitAssembly(OpBuilder &builder, Location loc, const Twine &text,
                        StringRef constraints, ValueRange operands) {
  std::string all = constraints.str() + (constraints.empty() ? "" : ",");
  LLVM::InlineAsmOp::create(builder, loc, TypeRange(), operands, text.str(),
                            all + "~{memory}", /*has_side_effects=*/true,
                            /*is_align_stack=*/false,
                            LLVM::tailcallkind::TailCallKind::None,
                            LLVM::AsmDialectAttr(), ArrayAttr());
}
