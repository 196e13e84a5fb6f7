//===- WindowAccess.h - Tiles as windows of global memory -------*- C++ -*-===//
//
// If every element of a tile is at a static distance from the tile's start, the
// tile is a window of global memory: it has one base for all threads and
// offsets of 32 bits. The base is the start of the tile, so the buffer may have
// any size.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_WINDOWACCESS_H
#define TILE_LIB_CONVERSION_TILETOGPU_WINDOWACCESS_H

#include "BufferParts.h"
#include "tile/Layout/Queries.h"

namespace tile {

/// The distances, in bytes, of the elements of a tile from its start.
class Window {
public:
  /// Returns the window of a tile with the layout `dist` that starts at
  /// `indices` of `buffer`. Returns std::nullopt and the reason if a distance
  /// is not static, is not the sum of one for the thread and one for the
  /// register, or reaches 2^31 bytes.
  static std::optional<Window> find(const Layout &dist,
                                    const BufferParts &buffer,
                                    mlir::ValueRange indices,
                                    std::string &reason);

  int64_t bytes() const { return size; }
  /// Returns the distance from register 0 of a thread to its register r.
  int64_t distance(int64_t r) const { return distances[r]; }
  /// An offset that is outside of the window, also after adding any distance.
  static constexpr int64_t kOutside = int64_t(1) << 31;

  /// Emits the offset of the tile's start in `buffer.memory`, in elements.
  static mlir::Value emitBase(Emitter &b, const BufferParts &buffer,
                              mlir::ValueRange indices);
  /// Emits the distance of register 0 of the calling thread from the base, i32.
  static mlir::Value emitThreadOffset(Emitter &b, const Layout &dist,
                                      const BufferParts &buffer);

private:
  int64_t size = 0;
  llvm::SmallVector<int64_t> distances;
};

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_WINDOWACCESS_H
