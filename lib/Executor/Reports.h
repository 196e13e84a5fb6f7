//===- Reports.h - What kernels print ---------------------------*- C++ -*-===//
#ifndef TILE_LIB_EXECUTOR_REPORTS_H
#define TILE_LIB_EXECUTOR_REPORTS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <string>

namespace tile::cpu {

/// The text that the blocks of a launch print, in the order of the blocks. The
/// caller guards it.
class PrintedText {
public:
  using Sink = llvm::function_ref<void(llvm::StringRef)>;

  /// Adds the text of a block that has ended, and writes what has no block in
  /// front of it that still runs.
  void add(uint64_t block, std::string text, Sink sink);
  /// Writes the rest, because a block has failed.
  void finish(Sink sink);

private:
  /// The texts that are not written yet.
  std::map<uint64_t, std::string> texts;
  uint64_t next = 0;
};

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_REPORTS_H
