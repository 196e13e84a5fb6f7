//===- GlobalAccess.h - Accesses of a tile to global memory --- -*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_GLOBALACCESS_H
#define TILE_LIB_CONVERSION_TILETOGPU_GLOBALACCESS_H

#include "BufferParts.h"
#include "tile/Layout/Queries.h"

namespace tile {

/// Offsets into, and bounds of, a global buffer for each register of a tile.
class GlobalAccess {
public:
  GlobalAccess(mlir::OpBuilder &builder, mlir::Location loc, const Layout &dist,
               const BufferParts &buffer, mlir::ValueRange indices);

  /// The offset of register r. Each is reached from the one before, so that
  /// one distance, not one per register, stays alive in a loop.
  mlir::Value offset(int64_t r);
  /// The distances that decide whether register r is in bounds.
  llvm::SmallVector<int64_t> boundsKey(int64_t r);
  /// Whether register r may be out of bounds.
  bool isBounded(int64_t r) { return !boundsKey(r).empty(); }
  /// Whether register r is in bounds; null if it always is. In 32 bits: the
  /// manifest bounds extents by 2^31.
  mlir::Value inBounds(int64_t r);

private:
  /// How a buffer with a #tile.map finds the offset of a register. Where the
  /// start is known to be one from which the layout repeats, the coordinates in
  /// storage of start, thread and register add up, as far as the registers'
  /// are found to by enumeration; else each register is mapped by itself.
  struct Mapped {
    bool repeats = false;
    Layout digits; // tile -> storage
  };
  std::optional<llvm::SmallVector<int64_t>> storageDistance(int64_t from,
                                                            int64_t to);
  mlir::Value mappedOffset(int64_t r);

  /// In bounds is (i32) position + distance < count, unsigned; or, with no
  /// position, distance < count, signed. No count: always in bounds.
  struct Bounds {
    mlir::Value position, count;
  };

  Bounds emitBounds(mlir::Value position, unsigned dim, bool nonNegative);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const Layout &dist;
  const BufferParts &buffer;
  llvm::SmallVector<Bounds> bounds;
  mlir::Value lastOffset;
  /// Register and coordinates that lastOffset is of.
  int64_t lastRegister = 0;
  llvm::SmallVector<int64_t, 4> last;
  std::optional<Mapped> mapped;
  /// Of register 0, per dimension.
  llvm::SmallVector<mlir::Value> positions;
};

/// Accesses to the same side of the bounds, in order.
struct Run {
  int64_t begin, end; // of AccessGroups, in accesses
};

llvm::SmallVector<Run> runsOfEqualBounds(GlobalAccess &access,
                                         const AccessGroups &groups);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_GLOBALACCESS_H
