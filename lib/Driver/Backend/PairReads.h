//===- PairReads.h - Bases of reads in pairs --------------------*- C++ -*-===//
#ifndef TILE_LIB_DRIVER_BACKEND_PAIRREADS_H
#define TILE_LIB_DRIVER_BACKEND_PAIRREADS_H

#include "llvm/IR/Function.h"

namespace tile {

/// Gives neighbouring reads of 8 bytes bases within the reach of the
/// instruction that does two of them (ds_read2_b64). It adds up to 2 KiB to an
/// address, where others add up to 64 KiB: LLVM would add the rest for each
/// pair, in each iteration of a loop. The result is for AMD's back end only.
void addBasesOfPairs(llvm::Function &function);

} // namespace tile

#endif // TILE_LIB_DRIVER_BACKEND_PAIRREADS_H
