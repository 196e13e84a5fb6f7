//===- Launch.h - What a manifest asks of arguments -------------*- C++ -*-===//
//
// What a launcher has to know and to check, without any IR: docs/Manifest.md
// says what the fields mean.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_LAUNCH_H
#define TILE_TARGET_LAUNCH_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tile::launch {

/// A tensor, in the memory of the process or of a GPU.
struct Tensor {
  void *data = nullptr;
  /// `f16`, `bf16`, `f32`, `f64`, `i32` or `i64`.
  std::string type;
  /// Both in elements.
  llvm::SmallVector<int64_t, 4> shape, strides;
};

/// What a parameter of a kernel is given: a tensor or a number.
using Argument = std::variant<Tensor, int64_t, double>;

/// A parameter, as docs/Manifest.md describes it.
struct Parameter {
  std::string name, type;
  bool isBuffer = false;
  /// Of a scalar: it must be finite and not below 0.
  bool nonNegative = false;
  /// Whether a kernel may write to the buffer; no manifest says that.
  bool isWritten = false;
  /// Of buffers, in elements; nothing where any value will do.
  llvm::SmallVector<std::optional<int64_t>, 4> shape, strides;
  llvm::SmallVector<int64_t, 4> strideDivisibility;
  /// Bytes.
  int64_t alignment = 1;
};

/// How the copy engine sees the tensor of parameter `argument`; its dimensions
/// and the extents of a box, innermost first, and bytes of the swizzle.
struct TensorMapSpec {
  int64_t argument = 0, swizzle = 0;
  /// The dimension of the argument along which sequences end; -1 for none.
  int64_t ragged = -1;
  llvm::SmallVector<int64_t, 5> dims, box;
};

/// What the extent `dim` of parameter `argument` must be to a number.
struct Requirement {
  enum class Relation { Equal, AtLeast, AtMost, MultipleOf };

  int64_t argument = 0, dim = 0;
  Relation relation = Relation::Equal;
  /// An expression.
  llvm::json::Value value = nullptr;
  /// What the number is, for messages.
  std::string reason;
};

/// A kernel of a manifest.
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
  std::vector<Requirement> requirements;
};

/// The kernels of a manifest that this library has written.
llvm::Expected<std::vector<KernelSpec>>
parseManifest(const llvm::json::Value &manifest);

/// Checks all arguments of a kernel, one for each parameter: types, extents,
/// strides, alignment, storage and requirements.
llvm::Error checkArguments(const KernelSpec &kernel,
                           llvm::ArrayRef<Argument> arguments);

/// The number of blocks for arguments that checkArguments() has accepted.
llvm::Expected<std::array<int64_t, 3>>
evaluateGrid(const KernelSpec &kernel, llvm::ArrayRef<Argument> arguments);

/// Bytes of an element of this type, 0 if there is no such type.
unsigned elementBytes(llvm::StringRef type);

} // namespace tile::launch

#endif // TILE_TARGET_LAUNCH_H
