//===- Assembly.h - Instructions that LLVM does not name --------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETONVGPU_ASSEMBLY_H
#define TILE_LIB_CONVERSION_TILETONVGPU_ASSEMBLY_H

#include "mlir/IR/Builders.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include <optional>
#include <string>

namespace tile {

/// An instruction without results, which no access to memory moves across;
/// `text` says where the operands go.
void emitAssembly(mlir::OpBuilder &builder, mlir::Location loc,
                  const llvm::Twine &text, llvm::StringRef constraints,
                  mlir::ValueRange operands);

/// `name` with the operands `where`; with `cache`, in the form that takes a
/// cache policy as one more operand.
void emitCached(mlir::OpBuilder &builder, mlir::Location loc,
                const llvm::Twine &name, const llvm::Twine &where,
                std::string constraints,
                llvm::SmallVector<mlir::Value> operands,
                std::optional<CachePriority> cache);

/// `{$first, $first+1, ...}`.
std::string assemblyCoordinates(size_t first, size_t count);
/// `,r` as many times.
std::string repeatConstraint(llvm::StringRef constraint, size_t count);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVGPU_ASSEMBLY_H
