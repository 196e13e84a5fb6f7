//===- Assembly.h - Instructions as inline assembly -------------*- C++ -*-===//
//
// Emits PTX instructions that have no LLVM intrinsic.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_CONVERSION_TILETONVGPU_ASSEMBLY_H
#define TILE_LIB_CONVERSION_TILETONVGPU_ASSEMBLY_H

#include "mlir/IR/Builders.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include <optional>
#include <string>

namespace tile {

/// Emits an instruction without results. Accesses to memory do not move across
/// it. `text` is its assembly with placeholders for the operands.
void emitAssembly(mlir::OpBuilder &builder, mlir::Location loc,
                  const llvm::Twine &text, llvm::StringRef constraints,
                  mlir::ValueRange operands);

/// Emits the instruction `name` with the operands `where`. With `cache`, uses
/// the form with a cache policy as an additional operand.
void emitCached(mlir::OpBuilder &builder, mlir::Location loc,
                const llvm::Twine &name, const llvm::Twine &where,
                std::string constraints,
                llvm::SmallVector<mlir::Value> operands,
                std::optional<CachePriority> cache);

/// Returns a list of `count` placeholders, `{$first, $first+1, ...}`.
std::string assemblyCoordinates(size_t first, size_t count);
/// Returns `count` copies of "," and `constraint`, for example ",r,r".
std::string repeatConstraint(llvm::StringRef constraint, size_t count);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVGPU_ASSEMBLY_H
