//===- NamedOps.h - The kernels that named operations become ----*- C++ -*-===//
#ifndef TILE_DIALECT_TILE_TRANSFORMS_PROGRAM_NAMEDOPS_H
#define TILE_DIALECT_TILE_TRANSFORMS_PROGRAM_NAMEDOPS_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// The suffixes of the kernels of tile.attention_backward that own keys and
/// queries.
inline constexpr llvm::StringLiteral kKeysSuffix = "dkv", kQueriesSuffix = "dq";

/// Returns true for the operations on global buffers that become kernels.
bool isNamedOp(mlir::Operation *op);

/// Returns the name of the kernel that `op` becomes, or the part before the
/// suffixes if it becomes several.
std::string getKernelName(mlir::Operation *op);

} // namespace tile

#endif // TILE_DIALECT_TILE_TRANSFORMS_PROGRAM_NAMEDOPS_H
