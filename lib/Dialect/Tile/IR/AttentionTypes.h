//===- AttentionTypes.h - Type lists of the named operations ----*- C++ -*-===//
//
// The custom directive BufferTypes: the types of an operation's buffers, in the
// order of its operands. An operand before types, ref($x), says whether the
// types up to the next one are in the list.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_DIALECT_TILE_IR_ATTENTIONTYPES_H
#define TILE_LIB_DIALECT_TILE_IR_ATTENTIONTYPES_H

#include "mlir/IR/OpImplementation.h"

namespace tile {

template <typename... ArgTs>
mlir::ParseResult parseBufferTypes(mlir::OpAsmParser &parser, ArgTs &...args) {
  bool isPresent = true, isFirst = true;
  auto parse = [&](auto &arg) -> llvm::LogicalResult {
    if constexpr (std::is_same_v<decltype(arg), mlir::Type &>) {
      if (!isPresent)
        return mlir::success();
      if (!std::exchange(isFirst, false) && parser.parseComma())
        return mlir::failure();
      return parser.parseType(arg);
    } else if constexpr (std::is_same_v<
                             decltype(arg),
                             mlir::OpAsmParser::UnresolvedOperand &>) {
      isPresent = true; // the operand is not optional
    } else {
      isPresent = arg.has_value();
    }
    return mlir::success();
  };
  return mlir::success((mlir::succeeded(parse(args)) && ...));
}

template <typename... ArgTs>
void printBufferTypes(mlir::OpAsmPrinter &printer, mlir::Operation *,
                      ArgTs... args) {
  llvm::ListSeparator separator;
  auto print = [&](auto arg) {
    if constexpr (std::is_base_of_v<mlir::Type, decltype(arg)>)
      if (arg) // absent operands have no type
        printer << llvm::StringRef(separator) << mlir::Type(arg);
  };
  (print(args), ...);
}

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_IR_ATTENTIONTYPES_H
