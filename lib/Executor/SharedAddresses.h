//===- SharedAddresses.h - Memory whose addresses fit into 32 bits --------===//

#ifndef TILE_LIB_EXECUTOR_SHAREDADDRESSES_H
#define TILE_LIB_EXECUTOR_SHAREDADDRESSES_H

#include "llvm/ADT/BitVector.h"
#include "llvm/Support/Error.h"
#include <cstddef>
#include <mutex>

namespace tile::cpu {

/// Addresses for the shared memory of blocks, which kernels hold in 32 bits.
///
/// The heap of a program that is not position independent, as Python's is, may
/// grow through all such addresses. So a range of them is reserved once, and
/// blocks get parts of it. Only parts in use take memory.
class SharedAddresses {
public:
  /// Returns the range of this process, and reserves it at the first call.
  static SharedAddresses &get();

  /// Maps zeros at a multiple of 256 KiB. Fails if no part of the range is
  /// large enough.
  llvm::Expected<char *> map(std::size_t bytes);

  /// Returns memory that `map` gave for as many bytes.
  void unmap(char *memory, std::size_t bytes);

private:
  SharedAddresses();

  std::mutex mutex;
  char *begin = nullptr;
  /// Parts that blocks use.
  llvm::BitVector used;
};

} // namespace tile::cpu

#endif
