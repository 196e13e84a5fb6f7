//===- ThreadAddress.h - Coordinates and addresses of a thread --*- C++ -*-===//
//
// Emits the coordinates and addresses of the elements that a thread holds.
// Layouts are static; only the numbers of the lane and the warp are values.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_ACCESS_THREADADDRESS_H
#define TILE_LIB_CONVERSION_TILETOGPU_ACCESS_THREADADDRESS_H

#include "../Emitter.h"
#include "tile/Layout/Layout.h"

namespace tile {

/// Returns true if `block` is in a role of a kernel whose roles have different
/// numbers of registers. Its threads have no registers to keep coordinates in
/// during a loop.
bool isInRoleWithRegisters(mlir::Block *block);

/// Emits the number of the calling thread, an i32. Where
/// isInRoleWithRegisters(), it is read again at each use.
mlir::Value emitThread(Emitter &b);

/// Emits the coordinates (i32, one per dimension) of register 0 of `thread`,
/// the calling thread if null. Those of register r have the constant distance
/// layout.element(r, 0, 0).
llvm::SmallVector<mlir::Value> emitThreadCoordinates(Emitter &b,
                                                     const Layout &layout,
                                                     mlir::Value thread = {});

/// Emits those of the first lane of the warp of `thread`.
llvm::SmallVector<mlir::Value>
emitWarpCoordinates(Emitter &b, const Layout &layout, mlir::Value thread = {});

/// Emits the number of the copy of its elements that the calling thread holds;
/// returns null if threads hold no copies. If `byPlace`, each replicating digit
/// is weighted by its place value in the lane: the result is the distance to
/// the lane that holds the first copy.
mlir::Value emitCopyNumber(Emitter &b, const Layout &layout, bool byPlace);

/// Emits an i1 that is true if the calling thread holds the first copies of its
/// elements; returns null if threads hold no copies.
mlir::Value emitIsOwner(Emitter &b, const Layout &layout);

/// Emits `swizzle` of `number`, an i32.
mlir::Value emitSwizzle(Emitter &b, mlir::Value number, Swizzle swizzle);

/// Emits the offsets, in elements, of accesses to a memory layout. Access r of
/// `thread`, the calling thread if null, is at the element
/// access.element(r, lane, warp) + start.
/// The swizzled offset of access 0 is computed once. The offset of another
/// access is derived from it by an xor and an addition of constants if this is
/// correct in every thread, which is checked by enumeration; otherwise it is
/// computed in full.
class SharedOffsets {
public:
  /// `origin` is the offset of the buffer, an index; at() includes it.
  SharedOffsets(Emitter &b, Layout access, Layout memory,
                llvm::ArrayRef<int64_t> start, mlir::Value origin,
                mlir::Value thread = {});

  /// Emits the offset of access r, an index. A constant part is added last, so
  /// that it can become the immediate of an address.
  mlir::Value at(int64_t r);

private:
  int64_t offsetOf(int64_t r, int64_t thread) const;
  mlir::Value emitOffset(int64_t r);

  Emitter &b;
  Layout access, memory;
  llvm::SmallVector<int64_t> start;
  llvm::SmallVector<mlir::Value> coordinates;
  llvm::SmallVector<int64_t> first; // offsets of access 0, per thread
  mlir::Value base;                 // offset of access 0 of this thread, i32
  mlir::Value origin;
};

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_ACCESS_THREADADDRESS_H
