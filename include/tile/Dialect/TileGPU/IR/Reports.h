//===- Reports.h - Functions that print -------------------------*- C++ -*-===//
#ifndef TILE_DIALECT_TILEGPU_IR_REPORTS_H
#define TILE_DIALECT_TILEGPU_IR_REPORTS_H

#include "llvm/ADT/StringRef.h"

namespace tile::gpu {

/// The function that a gpu.printf calls, with a format and the address of its
/// arguments, each at a multiple of its size. The driver of NVIDIA provides it,
/// and so does the executor.
inline constexpr llvm::StringLiteral kPrintFunction = "vprintf";

/// The function that a tile_gpu.fail calls, with the same arguments. On NVIDIA
/// it prints and executes a trap. On AMD a trap takes the place of the call
/// when a code object is made. The executor reports an error.
inline constexpr llvm::StringLiteral kFailFunction = "tile_assert_failed";

} // namespace tile::gpu

#endif // TILE_DIALECT_TILEGPU_IR_REPORTS_H
