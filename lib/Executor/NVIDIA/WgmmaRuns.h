//===- WgmmaRuns.h - Inline assembly of several wgmmas ----------*- C++ -*-===//
#ifndef TILE_LIB_EXECUTOR_NVIDIA_WGMMARUNS_H
#define TILE_LIB_EXECUTOR_NVIDIA_WGMMARUNS_H

namespace llvm {
class Module;
} // namespace llvm

namespace tile::cpu {

/// Replaces each inline assembly of several wgmmas, and of the arithmetic of
/// their matrix descriptors, by one for each wgmma and by instructions of LLVM.
/// One with other instructions stays.
void expandWgmmaRuns(llvm::Module &module);

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_NVIDIA_WGMMARUNS_H
