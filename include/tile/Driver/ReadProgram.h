//===- ReadProgram.h - Reads a program from text or bytecode ----*- C++ -*-===//
#ifndef TILE_DRIVER_READPROGRAM_H
#define TILE_DRIVER_READPROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace llvm {
class SourceMgr;
}

namespace tile {

/// Parses the main buffer of `sources` into a module. Sets the `tile.name` of
/// arguments of kernels, and of functions with named operations, to their name
/// in the text (`%q` is `q`). Arguments keep a `tile.name` of their own.
/// Numbers (`%0`), names of the form `arg0` and names that another argument has
/// are not used. Returns null after a diagnostic.
mlir::OwningOpRef<mlir::ModuleOp> readProgram(llvm::SourceMgr &sources,
                                              mlir::MLIRContext &context);

} // namespace tile

#endif // TILE_DRIVER_READPROGRAM_H
