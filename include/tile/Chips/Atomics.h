//===- Atomics.h - Atomic instructions, one row each ------------*- C++ -*-===//
//
// An atomic read-modify-write of one thread on `width` contiguous elements.
// Each element is combined atomically, the group is not. A row that is not
// `native` becomes a compare-and-swap loop, in LLVM or in ptxas. Integers and
// floats have separate rows.
//
// The buffer form of AMD accesses global memory through a descriptor of 128
// bits (base, bytes, flags) in scalar registers and an offset of 32 bits in a
// vector register. The hardware drops an access whose offset is outside the
// descriptor's bytes, so a mask needs no branch.
//
// Sources: PTX ISA 9.0, "atom" and "red" (vectors of f32, f16x2 and bf16x2 are
// global only, sm_90 and PTX 8.1); AMD's CDNA3, CDNA4, RDNA3 and RDNA4
// instruction set guides (GLOBAL_ATOMIC_ADD_F32, _PK_ADD_F16, _PK_ADD_BF16,
// BUFFER_ATOMIC_ADD_F32, DS_ADD_F32, ...).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CHIPS_ATOMICS_H
#define TILE_CHIPS_ATOMICS_H

#include "tile/Chips/Chips.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace tile {

enum class AtomicKind { AddF, AddI, MaxS, MinS, MaxU, MinU, Or, And };

enum class AtomicElement { F16, BF16, F32, F64, I32, I64 };

enum class AtomicOrder { Relaxed, Acquire, Release, AcqRel };

/// The threads for which the operation is atomic and ordered.
enum class AtomicScope { Block, Device, System };

struct Atomic {
  /// Unique: `nvidia.f32x4`, `amd.f16x2`, ...
  llvm::StringLiteral name;
  /// Floats support AddF, integers all other kinds.
  AtomicElement element;
  /// Elements of one access, which is aligned to its size.
  int64_t width;
  /// The memories that the instruction can access. A row is either of the
  /// buffer form or of the other forms.
  bool global, shared, buffer;
  bool native;
  /// The vector and type of the PTX instruction, `v4.f32`; empty if LLVM's
  /// atomicrmw is always emitted. `%` stands for the type of an integer
  /// operation, which depends on the kind.
  llvm::StringLiteral ptx;
};

/// Returns all rows.
llvm::ArrayRef<Atomic> atomics();
/// Returns the row of that name, or null.
const Atomic *findAtomic(llvm::StringRef name);
/// Returns the row of `chip` that combines `width` elements in one instruction,
/// or null. Floats can only be added; integers support all other kinds.
const Atomic *findAtomic(const Chip &chip, AtomicKind kind,
                         AtomicElement element, int64_t width, bool shared);
/// As findAtomic(), for the buffer form: relaxed, of device scope, without a
/// result.
const Atomic *findBufferAtomic(const Chip &chip, AtomicKind kind,
                               AtomicElement element, int64_t width);
/// Returns the widths that the rows of a chip have, largest first.
llvm::SmallVector<int64_t> atomicWidths(const Chip &chip, AtomicKind kind,
                                        AtomicElement element, bool shared);

/// Returns the intrinsic of a buffer form,
/// `llvm.amdgcn.raw.ptr.buffer.atomic.fadd`.
std::string getBufferIntrinsic(AtomicKind kind);

/// Returns the PTX mnemonic: `red.global.add.v4.f32`, or `atom...` if the old
/// values are used. Relaxed order and device scope are PTX's defaults and
/// omitted.
std::string getPtxAtomic(const Atomic &row, AtomicKind kind, AtomicOrder order,
                         AtomicScope scope, bool shared, bool returns);

llvm::StringRef stringify(AtomicElement element);

} // namespace tile

#endif // TILE_CHIPS_ATOMICS_H
