//===- ReadProgram.cpp - Reads a program from text or bytecode ------------===//

#include "tile/Driver/ReadProgram.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

/// Returns the name that the source gives an argument, without its `%`; empty
/// if it cannot be the name of a parameter.
static StringRef
getParameterName(const AsmParserState::SMDefinition &definition) {
  SMRange range = definition.loc;
  if (!range.isValid())
    return {};
  StringRef name(range.Start.getPointer(),
                 range.End.getPointer() - range.Start.getPointer());
  if (!name.consume_front("%") || name.empty() || llvm::isDigit(name.front()))
    return {};
  // The name of an argument without one.
  StringRef number = name;
  if (number.consume_front("arg") && llvm::all_of(number, llvm::isDigit))
    return {};
  return name;
}

/// Names the arguments of `function` as its source does.
static void nameArguments(FunctionOpInterface function,
                          const AsmParserState &state) {
  if (function.isExternal())
    return;
  const AsmParserState::BlockDefinition *block =
      state.getBlockDef(&function.getFunctionBody().front());
  if (!block || block->arguments.size() != function.getNumArguments())
    return;
  constexpr StringLiteral attribute = tile::TileDialect::kNameAttr;
  auto isTaken = [&](StringRef name) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto given = function.getArgAttrOfType<StringAttr>(i, attribute);
          given && given.getValue() == name)
        return true;
    return false;
  };
  for (auto [i, definition] : llvm::enumerate(block->arguments)) {
    StringRef name = getParameterName(definition);
    if (!name.empty() && !function.getArgAttr(i, attribute) && !isTaken(name))
      function.setArgAttr(i, attribute,
                          StringAttr::get(function.getContext(), name));
  }
}

OwningOpRef<ModuleOp> tile::readProgram(llvm::SourceMgr &sources,
                                        MLIRContext &context) {
  ParserConfig config(&context);
  const llvm::MemoryBuffer *buffer =
      sources.getMemoryBuffer(sources.getMainFileID());
  // Bytecode holds no names of values.
  if (isBytecode(*buffer))
    return parseSourceFile<ModuleOp>(sources, config);
  Block block;
  AsmParserState state;
  if (failed(parseAsmSourceFile(sources, &block, config, &state)))
    return {};
  OwningOpRef<ModuleOp> module =
      mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(
          &block, &context,
          FileLineColLoc::get(&context, buffer->getBufferIdentifier(),
                              /*line=*/0, /*column=*/0));
  if (!module)
    return {};
  module->walk([&](FunctionOpInterface function) {
    if (isa<KernelOp, func::FuncOp>(function))
      nameArguments(function, state);
  });
  return module;
}
