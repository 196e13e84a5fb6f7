//===- Builtins.h - Instructions that both vendors have ---------*- C++ -*-===//
#ifndef TILE_LIB_EXECUTOR_BUILTINS_H
#define TILE_LIB_EXECUTOR_BUILTINS_H

#include "Block.h"
#include <cmath>

namespace tile::cpu {

/// Reads the dimension from the last letter of the name, `x` to `z`.
llvm::Error decodeDimension(const llvm::CallBase &, Site &site);

// Indices and sizes along the dimension of the site.
void readThreadIndex(Thread &thread, const Call &call);
void readBlockIndex(Thread &thread, const Call &call);
void readBlockSize(Thread &thread, const Call &call);
void readGridSize(Thread &thread, const Call &call);
void readLane(Thread &thread, const Call &call);
void readWarp(Thread &thread, const Call &call);
void readWarpSize(Thread &thread, const Call &call);

/// Makes the thread wait for all threads of the block at the barrier `id`.
void waitForBlock(Thread &thread, const Site &site, unsigned id);

/// Arrives at barrier 0 without waiting, and waits for the others there.
void signalBarrier(Thread &thread, const Call &call);
void awaitBarrier(Thread &thread, const Call &call);
/// Returns the phase at which the thread has arrived without waiting.
uint64_t takeSignalled(Thread &thread, const Call &call);

/// Emulates scheduling hints.
void doNothing(Thread &thread, const Call &call);

// Approximate functions of the hardware, computed with more precision.
// Subnormal operands and results become zeros of the same sign.
float flushSubnormal(float x);
float exp2Flush(float x);
float log2Flush(float x);
float reciprocalFlush(float x);
float reciprocalSqrtFlush(float x);
float sqrtFlush(float x);

template <typename ResultT, typename... Ts>
void *hostFunction(ResultT (*function)(Ts...)) {
  return reinterpret_cast<void *>(function);
}

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_BUILTINS_H
