//===- ThreadAddress.h - Where a thread's elements are ----------*- C++ -*-===//
//
// Emits the coordinates and addresses of the elements that a thread holds. The
// layouts are static; only lane and warp are values.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_THREADADDRESS_H
#define TILE_LIB_CONVERSION_TILETOGPU_THREADADDRESS_H

#include "mlir/IR/Builders.h"
#include "tile/Layout/Layout.h"

namespace tile {

/// i32 coordinates, one per dimension, of register 0 of the calling thread.
/// Register r is at a constant distance from there: layout.element(r, 0, 0).
llvm::SmallVector<mlir::Value> emitThreadCoordinates(mlir::OpBuilder &builder,
                                                     mlir::Location loc,
                                                     const Layout &layout);

/// The number of the copy that the calling thread holds of its elements, times
/// `weight` of each replicating digit; null if threads hold no copies. With
/// the digits' places in the lane as weights it is the distance to the lane
/// that holds the first copy.
mlir::Value emitCopyNumber(mlir::OpBuilder &builder, mlir::Location loc,
                           const Layout &layout, bool byPlace);

/// Whether the calling thread is the first of those that hold copies of its
/// elements, an i1; null if threads hold no copies.
mlir::Value emitIsOwner(mlir::OpBuilder &builder, mlir::Location loc,
                        const Layout &layout);

/// Offsets, in elements, of accesses to a memory layout. Access r of the
/// calling thread is at the element access.element(r, lane, warp) + start.
/// The swizzled offset of access 0 is computed once; the others differ from it
/// by an exclusive or and a constant wherever that holds for every thread, as
/// is checked here by enumeration.
class SharedOffsets {
public:
  /// `origin` is the offset of the buffer, an index; it is part of what at()
  /// returns.
  SharedOffsets(mlir::OpBuilder &builder, mlir::Location loc, Layout access,
                Layout memory, llvm::ArrayRef<int64_t> start,
                mlir::Value origin);

  /// The offset of access r, an index. A constant part is added last, so that
  /// it can become the immediate of an address.
  mlir::Value at(int64_t r);

private:
  int64_t offsetOf(int64_t r, int64_t thread) const;
  mlir::Value emitOffset(int64_t r);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  Layout access, memory;
  llvm::SmallVector<int64_t> start;
  llvm::SmallVector<mlir::Value> coordinates;
  llvm::SmallVector<int64_t> first; // offsets of access 0, by thread
  mlir::Value base;                 // the same, i32
  mlir::Value origin;
};

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_THREADADDRESS_H
