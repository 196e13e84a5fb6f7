//===- Options.h - Options of a compilation in C ----------------*- C++ -*-===//
#ifndef TILE_LIB_CAPI_OPTIONS_H
#define TILE_LIB_CAPI_OPTIONS_H

#include "tile-c/Compile.h"
#include "tile/Driver/Compile.h"

namespace tile {

/// Returns the options of the compiler; null stands for the defaults. Fails,
/// with an error at `loc`, for a level of optimization that there is not.
llvm::FailureOr<CompileOptions> readOptions(const TileCompileOptions *options,
                                            mlir::Location loc);

} // namespace tile

#endif // TILE_LIB_CAPI_OPTIONS_H
