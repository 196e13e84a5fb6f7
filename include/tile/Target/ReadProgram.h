//===- ReadProgram.h - Reads a program from text or bytecode ----*- C++ -*-===//
#ifndef TILE_TARGET_READPROGRAM_H
#define TILE_TARGET_READPROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace llvm {
class SourceMgr;
}

namespace tile {

/// Parses the main buffer of `sources` into a module. Arguments of kernels, and
/// of functions with named operations, get the name that the text gives them
/// (`%q` is `q`) as their `tile.name`, which the manifest reports, unless they
/// have one. Numbers (`%0`), names of the form `arg0` and names that another
/// argument has are no such names. Returns null after a diagnostic.
mlir::OwningOpRef<mlir::ModuleOp> readProgram(llvm::SourceMgr &sources,
                                              mlir::MLIRContext &context);

} // namespace tile

#endif // TILE_TARGET_READPROGRAM_H
