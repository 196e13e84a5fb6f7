//===- NamedFields.h - Structs whose fields have names in text --*- C++ -*-===//
//
// Such a struct has a static function template forEachField(visit, structs...),
// which calls visit(name, fields...) for each field, with the field of every
// struct.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_DIALECT_TILE_IR_NAMEDFIELDS_H
#define TILE_LIB_DIALECT_TILE_IR_NAMEDFIELDS_H

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"

namespace tile {

/// Returns true if all fields of both structs are equal.
template <typename StructT>
bool haveEqualFields(const StructT &a, const StructT &b) {
  bool equal = true;
  StructT::forEachField(
      [&](llvm::StringRef, const auto &x, const auto &y) { equal &= x == y; },
      a, b);
  return equal;
}

/// Parses the value of a flag: `= true`, `= false`, or nothing, which is true.
inline mlir::ParseResult parseFlag(mlir::AsmParser &parser, bool &value) {
  value = true;
  llvm::StringRef name;
  if (failed(parser.parseOptionalEqual()))
    return mlir::success();
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalKeyword(&name, {"true", "false"}))
    return parser.emitError(loc, "expected true or false");
  value = name == "true";
  return mlir::success();
}

/// Parses the name of a field of `fields` and calls
/// parseField(location of the name, name, field) for the rest. An error about
/// an unknown name calls the struct `noun`, such as "a schedule".
template <typename StructT, typename ParseT>
mlir::ParseResult parseNamedField(mlir::AsmParser &parser, llvm::StringRef noun,
                                  StructT &fields, ParseT parseField) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  llvm::StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return mlir::failure();
  bool isKnown = false;
  mlir::ParseResult result = mlir::success();
  llvm::SmallVector<llvm::StringRef> names;
  StructT::forEachField(
      [&](llvm::StringRef name, auto &field) {
        names.push_back(name);
        if (name != keyword)
          return;
        isKnown = true;
        result = parseField(loc, name, field);
      },
      fields);
  if (isKnown)
    return result;
  mlir::InFlightDiagnostic diag = parser.emitError(loc);
  diag << noun << " has no field '" << keyword << "'; its fields are ";
  llvm::interleaveComma(names, diag);
  return diag;
}

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_IR_NAMEDFIELDS_H
