//===- Arguments.h - What a kernel is launched with -------------*- C++ -*-===//
#ifndef TILE_LIB_TARGET_CPU_ARGUMENTS_H
#define TILE_LIB_TARGET_CPU_ARGUMENTS_H

#include "TensorMapImage.h"
#include "tile/Target/CPU/Executor.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <deque>

namespace tile::cpu {

/// How the copy engine sees the tensor of parameter `argument`; its dimensions
/// and the extents of a box, innermost first, and bytes of the swizzle.
struct TensorMapSpec {
  int64_t argument = 0, swizzle = 0;
  /// The dimension of the argument along which sequences end; -1 for none.
  int64_t ragged = -1;
  llvm::SmallVector<int64_t, 5> dims, box;
};

/// A kernel of a manifest; see docs/Manifest.md.
struct KernelSpec {
  std::string name;
  std::array<int64_t, 3> block{};
  int64_t sharedBytes = 0;
  std::vector<Parameter> parameters;
  /// Three expressions.
  llvm::json::Array grid;
  /// The tensor maps that follow the parameters.
  std::vector<TensorMapSpec> tensorMaps;
  /// Per parameter, the elements of storage that it needs, an expression; null
  /// where its strides say how its elements are stored.
  std::vector<llvm::json::Value> storage;
};

/// The kernels of a manifest that this library has written.
llvm::Expected<std::vector<KernelSpec>>
parseManifest(const llvm::json::Value &manifest);

/// Checks one argument per parameter and returns the kernel's arguments, 8
/// bytes each. Tensor maps are made in `images`, to which arguments point.
llvm::Expected<std::vector<uint64_t>>
packArguments(const KernelSpec &kernel, llvm::ArrayRef<Argument> arguments,
              std::deque<TensorMapImage> &images);

/// The number of blocks for arguments that packArguments() has accepted.
llvm::Expected<std::array<int64_t, 3>>
evaluateGrid(const KernelSpec &kernel, llvm::ArrayRef<Argument> arguments);

/// Bytes of an element of this type, 0 if there is no such type.
unsigned elementBytes(llvm::StringRef type);

} // namespace tile::cpu

#endif // TILE_LIB_TARGET_CPU_ARGUMENTS_H
