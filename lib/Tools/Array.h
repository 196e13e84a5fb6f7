//===- Array.h - Arrays in memory and in .npy files -------------*- C++ -*-===//
#ifndef TILE_LIB_TOOLS_ARRAY_H
#define TILE_LIB_TOOLS_ARRAY_H

#include "tile/Target/CPU/Executor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace tile {

/// A dense array, the last dimension fastest, 256 bytes aligned.
class Array {
public:
  /// Filled with zeros.
  static llvm::Expected<Array> create(llvm::ArrayRef<int64_t> shape,
                                      llvm::StringRef type);

  llvm::ArrayRef<int64_t> shape() const { return extents; }
  /// `f16`, `bf16`, `f32`, `f64`, `i32` or `i64`.
  llvm::StringRef type() const { return element; }
  int64_t size() const { return count; }
  /// The same memory as a kernel's argument.
  cpu::Tensor tensor();

  double get(int64_t i) const;
  /// Rounds to the type, to nearest even.
  void set(int64_t i, double value);
  llvm::StringRef bytes() const;
  llvm::MutableArrayRef<char> mutableBytes();

private:
  struct Free {
    void operator()(char *memory) const;
  };
  llvm::SmallVector<int64_t, 4> extents;
  std::string element;
  int64_t count = 0;
  std::unique_ptr<char, Free> memory;
};

/// Reads the format of NumPy, little endian and in C order. bf16, which NumPy
/// does not have, are 2-byte integers or opaque elements read as `type`;
/// otherwise the file's type counts. float32 and float64 are rounded to `type`,
/// if that is a float.
llvm::Expected<Array> readNpy(llvm::StringRef path, llvm::StringRef type);

/// A file of float64, for comparisons; any float type is widened.
llvm::Expected<std::vector<double>>
readNpyAsDouble(llvm::StringRef path, llvm::StringRef type,
                llvm::ArrayRef<int64_t> shape);

/// bf16 becomes `<u2`: the bits.
llvm::Error writeNpy(llvm::StringRef path, const Array &array);

/// `random:SHAPE:DTYPE:SEED`, `zeros:SHAPE:DTYPE`, `nan:SHAPE:DTYPE`, where
/// SHAPE is `2x64x4x128`. Random numbers have the standard normal distribution,
/// integers are from 0 to 255; the same on every machine.
llvm::Expected<Array> makeArray(llvm::StringRef description);

} // namespace tile

#endif // TILE_LIB_TOOLS_ARRAY_H
