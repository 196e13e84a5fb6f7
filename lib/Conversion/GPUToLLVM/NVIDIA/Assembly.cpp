//===- Assembly.cpp - Instructions as inline assembly ---------------------===//
//
// Source: PTX ISA, "createpolicy" and "Cache Eviction Priority Hints".
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/GPUToLLVM/NVIDIA/Assembly.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tile;

void tile::emitAssembly(ImplicitLocOpBuilder &b, const Twine &text,
                        StringRef constraints, ValueRange operands) {
  std::string all = constraints.str() + (constraints.empty() ? "" : ",");
  LLVM::InlineAsmOp::create(b, TypeRange(), operands, text.str(),
                            all + "~{memory}", /*has_side_effects=*/true,
                            /*is_align_stack=*/false,
                            LLVM::tailcallkind::TailCallKind::None,
                            LLVM::AsmDialectAttr(), ArrayAttr());
}

Value tile::emitPolicy(ImplicitLocOpBuilder &b,
                       std::optional<CachePriority> priority) {
  if (!priority)
    return {};
  std::string text =
      ("createpolicy.fractional.L2::" + stringifyCachePriority(*priority) +
       ".b64 $0;")
          .str();
  return LLVM::InlineAsmOp::create(b, b.getI64Type(), ValueRange(), text, "=l",
                                   /*has_side_effects=*/false,
                                   /*is_align_stack=*/false,
                                   LLVM::tailcallkind::TailCallKind::None,
                                   LLVM::AsmDialectAttr(), ArrayAttr())
      .getRes();
}

void tile::emitCached(ImplicitLocOpBuilder &b, const Twine &name,
                      const Twine &where, std::string constraints,
                      SmallVector<Value> operands, Value policy) {
  if (!policy)
    return emitAssembly(b, name + where + ";", constraints, operands);
  operands.push_back(policy);
  emitAssembly(b,
               name + ".L2::cache_hint" + where + ", $" +
                   Twine(operands.size() - 1) + ";",
               constraints + ",l", operands);
}

std::string tile::assemblyCoordinates(size_t first, size_t count) {
  std::string text = "{";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(llvm::seq(first, first + count), os,
                        [&](size_t i) { os << '$' << i; });
  os << '}';
  return text;
}

std::string tile::repeatConstraint(StringRef constraint, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += ("," + constraint).str();
  return text;
}
