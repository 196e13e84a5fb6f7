//===- ExpandFunctions.h - Functions of named operations --------*- C++ -*-===//
#ifndef TILE_LIB_KERNELS_EXPANDFUNCTIONS_H
#define TILE_LIB_KERNELS_EXPANDFUNCTIONS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// A kernel that a named operation becomes.
struct PlannedKernel {
  std::string name;
  /// None if the compiler chooses the number.
  std::optional<int64_t> warps;
  Schedule schedule;
  /// Writes the body, without its terminator, and the attributes of arguments.
  /// The mapping maps values of the function to those of the kernel.
  std::function<void(mlir::ImplicitLocOpBuilder &, KernelOp,
                     const mlir::IRMapping &)>
      build;
};

/// Replaces the functions of `module` that contain an operation for which
/// `isExpanded` returns true by the kernels that `plan` returns for each of
/// them. Such a function consists of these operations and of arith operations
/// for their scalars. Fails if `plan` fails, and reports functions that cannot
/// become kernels.
llvm::LogicalResult expandFunctions(
    mlir::ModuleOp module,
    llvm::function_ref<bool(mlir::Operation *)> isExpanded,
    llvm::function_ref<
        llvm::FailureOr<llvm::SmallVector<PlannedKernel, 0>>(mlir::Operation *)>
        plan);

/// Writes a tile.require for each pair of extents of `extents` that have to
/// agree, unless their types say that they do. `mapping` maps the buffers to
/// those of the kernel.
void requireNamedExtents(mlir::ImplicitLocOpBuilder &builder,
                         llvm::ArrayRef<NamedExtent> extents,
                         const mlir::IRMapping &mapping);

/// Writes a tile.require, unless the types say that it holds.
void requireExtent(mlir::ImplicitLocOpBuilder &builder, mlir::Value buffer,
                   int64_t dim, Relation relation, mlir::Value value,
                   const llvm::Twine &reason);

} // namespace tile

#endif // TILE_LIB_KERNELS_EXPANDFUNCTIONS_H
