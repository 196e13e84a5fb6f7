//===- WindowAccess.h - A tile as a window of global memory --- -*- C++ -*-===//
//
// Where every element of a tile is at a static distance from its start, the
// tile is a window of so many bytes: one base for all threads, and offsets of
// 32 bits in it. The base is wherever the tile starts, so the buffer itself may
// be of any size.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_WINDOWACCESS_H
#define TILE_LIB_CONVERSION_TILETOGPU_WINDOWACCESS_H

#include "BufferParts.h"
#include "tile/Layout/Queries.h"

namespace tile {

/// Distances, in bytes, of the elements of a tile from its start in a buffer.
class Window {
public:
  /// The window of a tile with the layout `dist` that starts at `indices` of
  /// `buffer`; nothing, with the reason, if distances are not static, are not
  /// the sum of a thread's and a register's, or reach 2^31 bytes.
  static std::optional<Window> find(const Layout &dist,
                                    const BufferParts &buffer,
                                    mlir::ValueRange indices,
                                    std::string &reason);

  int64_t bytes() const { return size; }
  /// From register 0 of a thread to its register r.
  int64_t distance(int64_t r) const { return distances[r]; }
  /// An offset that stays out of the window when a distance is added.
  static constexpr int64_t kOutside = int64_t(1) << 31;

  /// Where in `buffer.memory` the tile starts, in elements.
  static mlir::Value emitBase(mlir::OpBuilder &builder, mlir::Location loc,
                              const BufferParts &buffer,
                              mlir::ValueRange indices);
  /// The distance of register 0 of the calling thread from there, i32.
  static mlir::Value emitThreadOffset(mlir::OpBuilder &builder,
                                      mlir::Location loc, const Layout &dist,
                                      const BufferParts &buffer);

private:
  int64_t size = 0;
  llvm::SmallVector<int64_t> distances;
};

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_WINDOWACCESS_H
