//===- GlobalAccess.h - Accesses of a tile to global memory -----*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_ACCESS_GLOBALACCESS_H
#define TILE_LIB_CONVERSION_TILETOGPU_ACCESS_GLOBALACCESS_H

#include "BufferParts.h"
#include "tile/Layout/Queries.h"
#include <map>

namespace tile {

/// The indices that replace the coordinates of a tile along `dim`: those of
/// register r are element registers[r] of `rows`, a vector of i32 or i64.
struct GatheredRows {
  unsigned dim;
  mlir::Value rows;
  llvm::SmallVector<int64_t> registers;
};

/// Emits the offset in a global buffer and the bounds check of each register of
/// a tile, for `thread`, or the calling thread if null. The tile is known to
/// lie in bounds along the dimensions `within`.
class GlobalAccess {
public:
  GlobalAccess(Emitter &b, const Layout &dist, const BufferParts &buffer,
               mlir::ValueRange indices, mlir::Value thread = {},
               const GatheredRows *gathered = nullptr,
               llvm::ArrayRef<unsigned> within = {});

  /// Emits the offset of register r, in elements. It is computed from that of
  /// the previous register, so that a loop keeps one distance alive instead of
  /// one per register.
  mlir::Value offset(int64_t r);
  /// Returns the coordinate of register r along `dim`, from that of the thread.
  int64_t place(int64_t r, unsigned dim) const {
    return dist.element(r, 0, 0)[dim];
  }
  /// Returns the distances that decide whether register r is in bounds.
  llvm::SmallVector<int64_t> boundsKey(int64_t r);
  /// Returns true if register r may be out of bounds.
  bool isBounded(int64_t r) { return !boundsKey(r).empty(); }
  /// Emits the bounds check of register r; returns null if it is always in
  /// bounds. The check uses 32 bits, since the manifest limits extents to below
  /// 2^31.
  mlir::Value inBounds(int64_t r) { return inBounds(r, std::nullopt); }
  /// Emits whether all registers of the thread are in bounds; returns null if
  /// they always are. Along dimensions without gathered rows or rows of pages,
  /// the lanes of a warp get one answer. If they took both sides of a branch,
  /// those that load behind it would wait for what the others have loaded to
  /// the same registers.
  mlir::Value allInBounds();
  /// Emits the same for the bounds of `dim` alone, of the thread or its warp.
  mlir::Value allInBoundsAlong(unsigned dim, bool ofWarp = false);
  /// Returns true if a thread has several elements along the contiguous
  /// dimension of the buffer, some of which may be out of bounds.
  bool crossesRows();
  /// Emits the number of elements in bounds, an index, among the `count`
  /// elements along `dim` from that of register r on.
  mlir::Value countInBounds(int64_t r, unsigned dim, int64_t count);
  /// Emits the same number as i32, but looks at the bounds of `dim` alone.
  mlir::Value countAlong(int64_t r, unsigned dim, int64_t count);
  /// Emits whether `dim` ends at a multiple of `width` elements from register
  /// r; returns null if the start of the tile may be negative.
  mlir::Value endsAtMultiple(int64_t r, unsigned dim, int64_t width);

private:
  /// The state for a buffer with a #tile.map. If the start is a multiple of the
  /// period of the map, the storage coordinates of a register are the sum of
  /// those of the start, the thread and the register; an enumeration of all
  /// threads checks the part of the register. Otherwise the map is applied to
  /// each register.
  struct Mapped {
    bool repeats = false;
    Layout digits; // tile -> storage
  };
  std::optional<llvm::SmallVector<int64_t>> storageDistance(int64_t from,
                                                            int64_t to);
  mlir::Value mappedOffset(int64_t r);
  mlir::Value gatheredPosition(int64_t r);
  mlir::Value isGatheredInBounds(int64_t r);
  void findRows(mlir::Value index);
  /// Returns whether pages give the places along `dim`.
  bool isPaged(unsigned dim) const { return dim == 0 && buffer.pages; }

  /// The bounds check of a dimension, in i32: position + distance < count,
  /// unsigned; or, if `position` is null, distance < count, signed. If `count`
  /// is null, the dimension is always in bounds.
  struct Bounds {
    mlir::Value position, count;
  };

  bool isNonNegativeStart(mlir::Value index, unsigned dim) const;
  Bounds emitBounds(mlir::Value position, unsigned dim, bool nonNegative);
  mlir::Value emitCheck(const Bounds &bounds, int64_t distance);
  /// Emits the bounds check along all dimensions but `except`.
  mlir::Value inBounds(int64_t r, std::optional<unsigned> except);

  Emitter &b;
  const Layout &dist;
  const BufferParts &buffer;
  llvm::SmallVector<Bounds> bounds;
  mlir::Value lastOffset;
  /// The register of lastOffset and its coordinates.
  int64_t lastRegister = 0;
  llvm::SmallVector<int64_t, 4> last;
  std::optional<Mapped> mapped;
  /// The thread, or null, and the start of the tile.
  mlir::Value caller;
  llvm::SmallVector<mlir::Value> starts;
  const GatheredRows *gathered;
  /// The start of the tile along the dimension of the gathered rows.
  mlir::Value gatheredStart;
  /// The coordinates of register 0, one per dimension.
  llvm::SmallVector<mlir::Value> positions;

  /// A row of a view of pages: its offset from that of the buffer, and whether
  /// it is in bounds and its page exists.
  struct Row {
    mlir::Value offset, exists;
  };
  /// The rows of the thread in a view of pages, by their distance from that of
  /// register 0.
  std::map<int64_t, Row> rows;
};

/// Returns the dimensions along which a tile of extents `shape` lies in bounds
/// in all iterations of a loop that counts along them.
llvm::SmallVector<unsigned> findDimsWithin(const BufferParts &buffer,
                                           mlir::ValueRange indices,
                                           llvm::ArrayRef<int64_t> shape);

/// Consecutive accesses with one bounds check.
struct Run {
  int64_t begin, end; // numbers of accesses in AccessGroups
};

llvm::SmallVector<Run> runsOfEqualBounds(GlobalAccess &access,
                                         const AccessGroups &groups);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_ACCESS_GLOBALACCESS_H
