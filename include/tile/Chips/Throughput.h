//===- Throughput.h - What a multiprocessor does in a cycle -----*- C++ -*-===//
//
// The columns of a chip (Chips.h) that only predictions of time read. To add a
// chip, add a row in lib/Chips/Throughput.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CHIPS_THROUGHPUT_H
#define TILE_CHIPS_THROUGHPUT_H

#include "tile/Chips/Chips.h"

namespace tile {

/// Peak work of one multiprocessor or compute unit in a clock cycle, and what
/// its blocks share.
struct Throughput {
  /// The name of the chip.
  llvm::StringLiteral chip;
  /// Floating-point operations of dense MMAs with operands of 16 bits; an FMA
  /// is two of them.
  int64_t matrix;
  /// Results of f32 arithmetic, and of exp2.
  int64_t arithmetic, exponentials;
  /// Bytes that shared memory reads or writes.
  int64_t sharedBytes;
  /// Bytes that come through the second-level cache while all multiprocessors
  /// read.
  int64_t cacheBytes;
  /// 32-bit registers, and threads.
  int64_t registers, threads;
};

/// Returns the row of a chip.
const Throughput &getThroughput(const Chip &chip);

} // namespace tile

#endif // TILE_CHIPS_THROUGHPUT_H
