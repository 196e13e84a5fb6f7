//===- Atomic.h - Atomic read-modify-write ----------------------*- C++ -*-===//
#ifndef TILE_LIB_TARGET_CPU_ATOMIC_H
#define TILE_LIB_TARGET_CPU_ATOMIC_H

#include "Instruction.h"
#include "tile/Target/Atomics.h"
#include "llvm/IR/Instructions.h"

namespace tile::cpu {

/// What an atomic instruction does to the elements at its address.
struct AtomicUpdate {
  llvm::AtomicRMWInst::BinOp op = llvm::AtomicRMWInst::Xchg;
  AtomicElement element = AtomicElement::I32;
  unsigned count = 1;
  bool shared = false;
  bool acquires = false, releases = false;
};

unsigned bytesOf(AtomicElement element);

/// Makes `site` one that combines values of `type` with memory.
llvm::Error decodeUpdate(llvm::AtomicRMWInst::BinOp op, llvm::Type *type,
                         Site &site);

/// Does the update of the call's site with the memory at `address`, which is
/// checked, and `values`; the old values become the call's result, if any.
void updateMemory(Thread &thread, const Call &call, uint64_t address,
                  const char *values);

/// Adds `count` elements to those at `memory`, one after another, each
/// atomically.
void addElements(AtomicElement element, unsigned count, char *memory,
                 const char *values);

/// Makes `site` one of this instruction, whose operands are its pointer and its
/// value.
llvm::Error decodeAtomic(const llvm::AtomicRMWInst &inst, Site &site);

} // namespace tile::cpu

#endif // TILE_LIB_TARGET_CPU_ATOMIC_H
