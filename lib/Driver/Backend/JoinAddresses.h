//===- JoinAddresses.h - Addresses in shared memory -------------*- C++ -*-===//
#ifndef TILE_LIB_DRIVER_BACKEND_JOINADDRESSES_H
#define TILE_LIB_DRIVER_BACKEND_JOINADDRESSES_H

#include "llvm/IR/Module.h"

namespace tile {

/// Computes the addresses in shared memory that differ by constants from few
/// registers: an instruction of an AMD chip adds a constant of 16 bits. LLVM
/// does not see the constants of addresses in different buffers, and keeps a
/// register for each buffer, or each address, across loops.
void joinSharedAddresses(llvm::Module &module);

} // namespace tile

#endif // TILE_LIB_DRIVER_BACKEND_JOINADDRESSES_H
