//===- AttrFormats.h - Parts of the text of layouts -------------*- C++ -*-===//
//
// Custom directives of the assembly formats in TileAttrs.td.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_DIALECT_TILE_IR_ATTRFORMATS_H
#define TILE_LIB_DIALECT_TILE_IR_ATTRFORMATS_H

#include "mlir/IR/OpImplementation.h"
#include "tile/Layout/Layout.h"

namespace tile {

// `[` (extent `->` (`0` | `d`K (`*` stride)?)),* `]`
mlir::ParseResult parseDigits(mlir::AsmParser &parser,
                              llvm::SmallVector<Digit> &digits);
void printDigits(mlir::AsmPrinter &printer, llvm::ArrayRef<Digit> digits);

// `transposed`
mlir::ParseResult parseTransposed(mlir::AsmParser &parser, bool &transposed);
void printTransposed(mlir::AsmPrinter &printer, bool transposed);

// `[` (stride | `?` (`:` divisor)?),* `]`
// (`,` `align` `=` bytes)? (`,` `page` `=` extent)?
mlir::ParseResult parseStrides(mlir::AsmParser &parser,
                               llvm::SmallVector<int64_t> &strides,
                               llvm::SmallVector<int64_t> &divisors,
                               int64_t &align, int64_t &page);
void printStrides(mlir::AsmPrinter &printer, llvm::ArrayRef<int64_t> strides,
                  llvm::ArrayRef<int64_t> divisors, int64_t align,
                  int64_t page);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_IR_ATTRFORMATS_H
