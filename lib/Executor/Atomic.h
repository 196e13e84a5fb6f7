//===- Atomic.h - Atomic read-modify-write ----------------------*- C++ -*-===//
#ifndef TILE_LIB_EXECUTOR_ATOMIC_H
#define TILE_LIB_EXECUTOR_ATOMIC_H

#include "Instruction.h"
#include "tile/Chips/Atomics.h"
#include "llvm/IR/Instructions.h"

namespace tile::cpu {

/// The update that an atomic instruction makes to the elements at its address.
struct AtomicUpdate {
  llvm::AtomicRMWInst::BinOp op = llvm::AtomicRMWInst::Xchg;
  AtomicElement element = AtomicElement::I32;
  unsigned count = 1;
  bool shared = false;
  bool acquires = false, releases = false;
};

unsigned bytesOf(AtomicElement element);

/// Makes `site` an update of memory by values of `type`.
llvm::Error decodeUpdate(llvm::AtomicRMWInst::BinOp op, llvm::Type *type,
                         Site &site);

/// Updates the memory at `address`, which has been checked, with `values` as
/// the call's site says. The old values become the result of the call, if it
/// has one.
void updateMemory(Thread &thread, const Call &call, uint64_t address,
                  const char *values);

/// Adds `count` elements to those at `memory`. Each addition is atomic.
void addElements(AtomicElement element, unsigned count, char *memory,
                 const char *values);

/// Makes `site` the update of this instruction; its operands are the pointer
/// and the value.
llvm::Error decodeAtomic(const llvm::AtomicRMWInst &inst, Site &site);

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_ATOMIC_H
