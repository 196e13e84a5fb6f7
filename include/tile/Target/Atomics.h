//===- Atomics.h - Atomic instructions, one row each ------------*- C++ -*-===//
//
// An atomic read-modify-write of one thread: `width` neighbouring elements,
// each of which is combined atomically (the group is not). A row that is not
// `native` becomes a compare-and-swap loop, in LLVM or in ptxas. Integers have
// rows of their own and are never combined as floats, nor the reverse.
//
// The buffer form of AMD reaches global memory through a descriptor of 128 bits
// (base, bytes, flags) in scalar registers and an offset of 32 bits in a vector
// register. An offset out of the descriptor's bytes is dropped, so a mask needs
// no branch.
//
// Sources: PTX ISA 9.0, "atom" and "red" (vectors of f32, f16x2 and bf16x2 are
// global only, sm_90 and PTX 8.1); AMD's CDNA3, CDNA4, RDNA3 and RDNA4
// instruction set guides (GLOBAL_ATOMIC_ADD_F32, _PK_ADD_F16, _PK_ADD_BF16,
// BUFFER_ATOMIC_ADD_F32, DS_ADD_F32, ...).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_ATOMICS_H
#define TILE_TARGET_ATOMICS_H

#include "tile/Target/Chips.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace tile {

enum class AtomicKind { AddF, AddI, MaxS, MinS, MaxU, MinU, Or, And };

enum class AtomicElement { F16, BF16, F32, F64, I32, I64 };

enum class AtomicOrder { Relaxed, Acquire, Release, AcqRel };

/// The threads among which the operation is atomic and ordered.
enum class AtomicScope { Block, Device, System };

struct Atomic {
  /// Unique: `nvidia.f32x4`, `amd.f16x2`, ...
  llvm::StringLiteral name;
  /// Floats have AddF, integers all the others.
  AtomicElement element;
  /// Elements of one access, which is aligned to its own size.
  int64_t width;
  /// Where the instruction reaches. A row is of the buffer form or of the
  /// others.
  bool global, shared, buffer;
  bool native;
  /// The vector and type of the PTX instruction, `v4.f32`; empty if LLVM's
  /// atomicrmw is emitted in any case. A `%` stands for the type of an integer
  /// operation, which depends on its kind.
  llvm::StringLiteral ptx;
};

/// All rows.
llvm::ArrayRef<Atomic> atomics();
/// The row of that name, or null.
const Atomic *findAtomic(llvm::StringRef name);
/// The row of `chip` that combines `width` elements at once, or null. Floats
/// can be added, integers combined in every other way.
const Atomic *findAtomic(const Chip &chip, AtomicKind kind,
                         AtomicElement element, int64_t width, bool shared);
/// The same of the row of the buffer form: relaxed, of device scope, without a
/// result.
const Atomic *findBufferAtomic(const Chip &chip, AtomicKind kind,
                               AtomicElement element, int64_t width);
/// The widths that a chip has rows for, the largest first.
llvm::SmallVector<int64_t> atomicWidths(const Chip &chip, AtomicKind kind,
                                        AtomicElement element, bool shared);

/// `llvm.amdgcn.raw.ptr.buffer.atomic.fadd`: the intrinsic of a buffer form.
std::string getBufferIntrinsic(AtomicKind kind);

/// `red.global.add.v4.f32`, or `atom...` if the old values are wanted. Relaxed
/// order and device scope are PTX's defaults and not printed.
std::string getPtxAtomic(const Atomic &row, AtomicKind kind, AtomicOrder order,
                         AtomicScope scope, bool shared, bool returns);

llvm::StringRef stringify(AtomicElement element);

} // namespace tile

#endif // TILE_TARGET_ATOMICS_H
