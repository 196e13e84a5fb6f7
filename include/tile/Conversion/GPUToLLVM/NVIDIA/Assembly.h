//===- Assembly.h - Instructions as inline assembly -------------*- C++ -*-===//
//
// Emits PTX instructions that have no operation in nvgpu or nvvm
// (docs/Dialects/VendorLevel.md).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CONVERSION_GPUTOLLVM_NVIDIA_ASSEMBLY_H
#define TILE_CONVERSION_GPUTOLLVM_NVIDIA_ASSEMBLY_H

#include "mlir/IR/Builders.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include <optional>
#include <string>

namespace tile {

/// Emits inline assembly. `text` has placeholders for results and operands, and
/// `constraints` one for each.
mlir::Operation *
emitInlineAssembly(mlir::ImplicitLocOpBuilder &b, mlir::TypeRange results,
                   const llvm::Twine &text, const llvm::Twine &constraints,
                   mlir::ValueRange operands, bool hasSideEffects = true);

/// Emits a copy of `value`, an i32, that LLVM treats as a new value. Values
/// that are computed from it are not hoisted out of a loop, where they would
/// occupy registers during the whole loop. The copy is a move, which ptxas
/// removes.
mlir::Value keepHere(mlir::ImplicitLocOpBuilder &b, mlir::Value value);

/// Emits an instruction without results. Accesses to memory do not move across
/// it. `text` is its assembly with placeholders for the operands.
void emitAssembly(mlir::ImplicitLocOpBuilder &b, const llvm::Twine &text,
                  llvm::StringRef constraints, mlir::ValueRange operands);

/// Emits a cache policy with this eviction priority for all accesses of an
/// instruction, an i64; returns null without a priority.
mlir::Value emitPolicy(mlir::ImplicitLocOpBuilder &b,
                       std::optional<CachePriority> priority);

/// Emits the instruction `name` with the operands `where`. With `policy`, uses
/// the form with a cache policy as an additional operand.
void emitCached(mlir::ImplicitLocOpBuilder &b, const llvm::Twine &name,
                const llvm::Twine &where, std::string constraints,
                llvm::SmallVector<mlir::Value> operands, mlir::Value policy);

/// Returns a list of `count` placeholders, `{$first, $first+1, ...}`.
std::string assemblyCoordinates(size_t first, size_t count);
/// Returns `count` copies of "," and `constraint`, for example ",r,r".
std::string repeatConstraint(llvm::StringRef constraint, size_t count);

} // namespace tile

#endif // TILE_CONVERSION_GPUTOLLVM_NVIDIA_ASSEMBLY_H
