//===- Launch.h - Manifests for launchers -----------------------*- C++ -*-===//
//
// The part of a manifest that launchers evaluate and check, without any IR.
// docs/Manifest.md describes the fields.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LAUNCH_LAUNCH_H
#define TILE_LAUNCH_LAUNCH_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace llvm {
struct fltSemantics;
} // namespace llvm

namespace tile::launch {

/// A tensor in the memory of the process or of a GPU.
struct Tensor {
  void *data = nullptr;
  /// `f16`, `bf16`, `f32`, `f64`, `i8`, `i32` or `i64`.
  std::string type;
  /// Extents and strides, in elements.
  llvm::SmallVector<int64_t, 4> shape, strides;
};

/// The argument for a parameter: a tensor or a number.
using Argument = std::variant<Tensor, int64_t, double>;

/// A parameter; see docs/Manifest.md.
struct Parameter {
  std::string name, type;
  bool isBuffer = false;
  /// A scalar must be finite and not negative.
  bool nonNegative = false;
  /// Whether a kernel may write to the buffer. Manifests do not contain this.
  bool isWritten = false;
  /// Extents and strides of a buffer, in elements; nothing where any value is
  /// allowed.
  llvm::SmallVector<std::optional<int64_t>, 4> shape, strides;
  llvm::SmallVector<int64_t, 4> strideDivisibility;
  /// The largest value of a stride, which then is not negative; nothing where
  /// any value is allowed.
  llvm::SmallVector<std::optional<int64_t>, 4> strideLimits;
  /// Alignment of the pointer in bytes.
  int64_t alignment = 1;
};

/// A tensor map for the buffer of parameter `argument`: the dimensions and the
/// extents of a box, innermost first, and the swizzle in bytes. A ragged map
/// may lack dimensions, for which it has offsets (Chips/NVIDIA/TensorMap.h).
struct TensorMapSpec {
  int64_t argument = 0, swizzle = 0;
  /// The dimension of the argument along which sequences end; -1 for none.
  int64_t ragged = -1;
  llvm::SmallVector<int64_t, 5> dims, box;
};

/// A condition on extent `dim` of parameter `argument`.
struct Requirement {
  enum class Relation { Equal, AtLeast, AtMost, MultipleOf };

  int64_t argument = 0, dim = 0;
  Relation relation = Relation::Equal;
  /// The expression that the extent is compared with.
  llvm::json::Value value = nullptr;
  /// The meaning of the expression, for error messages.
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
  /// For each parameter, an expression for the elements of storage that it
  /// needs; null where strides describe the storage.
  std::vector<llvm::json::Value> storage;
  std::vector<Requirement> requirements;
  /// The multiprocessors of the GPU; by default, of the largest part of the
  /// chip.
  int64_t multiprocessors = 1;
};

/// Parses a manifest that this library has written.
llvm::Expected<std::vector<KernelSpec>>
parseManifest(const llvm::json::Value &manifest);

/// Returns the argument for a parameter, which an expression gives by its
/// position in a kernel, or by its name in the `shapes` of a manifest; null if
/// there is none.
using FindArgument =
    llvm::function_ref<const Argument *(const llvm::json::Value &parameter)>;

/// Returns the value of an expression of a manifest.
llvm::Expected<int64_t> evaluate(const llvm::json::Value &expression,
                                 int64_t multiprocessors, FindArgument find);

/// Returns the value of an expression of a kernel's manifest for its arguments,
/// one for each parameter.
llvm::Expected<int64_t> evaluate(const llvm::json::Value &expression,
                                 const KernelSpec &kernel,
                                 llvm::ArrayRef<Argument> arguments);

/// Checks the arguments of a kernel, one for each parameter: types, extents,
/// strides, alignment, storage and requirements.
llvm::Error checkArguments(const KernelSpec &kernel,
                           llvm::ArrayRef<Argument> arguments);

/// Returns the grid for arguments that checkArguments() has accepted, within
/// the limits of a launch.
llvm::Expected<std::array<int64_t, 3>>
evaluateGrid(const KernelSpec &kernel, llvm::ArrayRef<Argument> arguments);

/// Returns the bits of a scalar argument of this type that checkArguments() has
/// accepted. Floats are rounded to the nearest, ties to even.
uint64_t packScalar(llvm::StringRef type, const Argument &argument);

/// Returns the bytes of an element of this type; 0 if there is no such type.
unsigned elementBytes(llvm::StringRef type);

/// Returns the format of a float type; null for other types.
const llvm::fltSemantics *findFormat(llvm::StringRef type);

} // namespace tile::launch

#endif // TILE_LAUNCH_LAUNCH_H
