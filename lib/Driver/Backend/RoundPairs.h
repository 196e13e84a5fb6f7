//===- RoundPairs.h - Pairs of f16 ------------------------------*- C++ -*-===//
#ifndef TILE_LIB_DRIVER_BACKEND_ROUNDPAIRS_H
#define TILE_LIB_DRIVER_BACKEND_ROUNDPAIRS_H

#include "llvm/IR/Module.h"

namespace tile {

/// Rounds vectors of f32 to f16 as products with one. RDNA has an instruction
/// that multiplies, rounds, and writes a half of a register; with conversions,
/// a pair takes two, and one that packs the halves.
void roundPairs(llvm::Module &module);

} // namespace tile

#endif // TILE_LIB_DRIVER_BACKEND_ROUNDPAIRS_H
