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

Operation *tile::emitInlineAssembly(ImplicitLocOpBuilder &b, TypeRange results,
                                    const Twine &text, const Twine &constraints,
                                    ValueRange operands, bool hasSideEffects) {
  return LLVM::InlineAsmOp::create(
      b, results, operands, text.str(), constraints.str(), hasSideEffects,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr(), ArrayAttr());
}

Value tile::keepHere(ImplicitLocOpBuilder &b, Value value) {
  return emitInlineAssembly(b, value.getType(), "mov.b32 $0, $1;", "=r,r",
                            value)
      ->getResult(0);
}

void tile::emitAssembly(ImplicitLocOpBuilder &b, const Twine &text,
                        StringRef constraints, ValueRange operands) {
  StringRef separator = constraints.empty() ? "" : ",";
  emitInlineAssembly(b, TypeRange(), text,
                     constraints + separator + "~{memory}", operands);
}

Value tile::emitPolicy(ImplicitLocOpBuilder &b,
                       std::optional<CachePriority> priority) {
  if (!priority)
    return {};
  return emitInlineAssembly(b, b.getI64Type(),
                            "createpolicy.fractional.L2::" +
                                stringifyCachePriority(*priority) + ".b64 $0;",
                            "=l", ValueRange(), /*hasSideEffects=*/false)
      ->getResult(0);
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
