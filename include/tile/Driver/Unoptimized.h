//===- Unoptimized.h - Code generation without optimization -----*- C++ -*-===//
#ifndef TILE_DRIVER_UNOPTIMIZED_H
#define TILE_DRIVER_UNOPTIMIZED_H

namespace llvm {
class Module;
} // namespace llvm

namespace tile {

/// Prepares a module for a back end that does not optimize, in which some times
/// grow with the square of the elements of a vector that is put together of
/// others, or of the instructions of a basic block. Vectors become scalars, but
/// for loads and stores, and basic blocks get at most `blockSize` instructions.
void prepareUnoptimized(llvm::Module &module, unsigned blockSize);

} // namespace tile

#endif // TILE_DRIVER_UNOPTIMIZED_H
