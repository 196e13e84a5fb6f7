//===- Array.h - Arrays in memory and in .npy files -------------*- C++ -*-===//
#ifndef TILE_LIB_TOOLS_ARRAY_H
#define TILE_LIB_TOOLS_ARRAY_H

#include "tile/Executor/Executor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace tile {

/// A dense array whose memory is aligned to 256 bytes.
class Array {
public:
  /// The dimension whose elements are contiguous: the last one in C order, the
  /// first one in Fortran order.
  enum class Order { C, Fortran };

  /// Returns an array of zeros.
  static llvm::Expected<Array> create(llvm::ArrayRef<int64_t> shape,
                                      llvm::StringRef type,
                                      Order order = Order::C);

  llvm::ArrayRef<int64_t> shape() const { return extents; }
  /// Returns `f16`, `bf16`, `f32`, `f64`, `i32` or `i64`.
  llvm::StringRef type() const { return element; }
  int64_t size() const { return count; }
  bool isFortran() const { return storageOrder == Order::Fortran; }
  /// Returns a kernel argument that refers to the memory of this array.
  cpu::Tensor tensor();

  /// Returns element `i`, counted in C order whatever the storage order is.
  double get(int64_t i) const;
  /// Sets element `i`, counted in C order, to `value` rounded to the element
  /// type, to nearest even.
  void set(int64_t i, double value);
  /// Returns the memory, in storage order.
  llvm::StringRef bytes() const;
  llvm::MutableArrayRef<char> mutableBytes();

private:
  struct Free {
    void operator()(char *memory) const;
  };
  /// Returns the address of element `i`, counted in C order.
  char *at(int64_t i) const;

  llvm::SmallVector<int64_t, 4> extents;
  std::string element;
  Order storageOrder = Order::C;
  int64_t count = 0;
  std::unique_ptr<char, Free> memory;
};

/// Reads a little-endian .npy file; the array has the order of the file. NumPy
/// has no bf16: for `type` bf16, elements of 2-byte integer or opaque types are
/// taken as the bits. float32 and float64 elements are rounded to `type` if
/// that is a float. Every other type must be `type` itself.
llvm::Expected<Array> readNpy(llvm::StringRef path, llvm::StringRef type);

/// Reads a .npy file of shape `shape` as doubles in C order. `type` is the
/// element type that opaque elements have.
llvm::Expected<std::vector<double>>
readNpyAsDouble(llvm::StringRef path, llvm::StringRef type,
                llvm::ArrayRef<int64_t> shape);

/// Writes a .npy file in the order of the array. bf16 elements become `<u2`,
/// their bits.
llvm::Error writeNpy(llvm::StringRef path, const Array &array);

/// Makes the array that `description` describes: `random:SHAPE:DTYPE:SEED`,
/// `zeros:SHAPE:DTYPE` or `nan:SHAPE:DTYPE` with a SHAPE such as `2x64x4x128`.
/// Random floats have the standard normal distribution, random integers lie in
/// 0 to 255. A seed gives the same numbers on every machine.
llvm::Expected<Array> makeArray(llvm::StringRef description);

} // namespace tile

#endif // TILE_LIB_TOOLS_ARRAY_H
