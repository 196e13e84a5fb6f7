//===- RoundToBF16.h - f32 to bf16 on AMD -----------------------*- C++ -*-===//
#ifndef TILE_LIB_DRIVER_BACKEND_ROUNDTOBF16_H
#define TILE_LIB_DRIVER_BACKEND_ROUNDTOBF16_H

#include "llvm/IR/Module.h"

namespace tile {

/// Rounds f32 to bf16, to nearest, ties to even. By integer arithmetic, NaN
/// becomes 0xffff; else LLVM selects the instructions, which round a pair on
/// some chips. A fence with `nnan` around the operand says that it is not NaN
/// (RoundingFlags.h), and is removed.
void roundToBF16(llvm::Module &module, bool byIntegers);

} // namespace tile

#endif // TILE_LIB_DRIVER_BACKEND_ROUNDTOBF16_H
