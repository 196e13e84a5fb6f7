//===- WindowAccess.h - Tiles as windows of global memory -------*- C++ -*-===//
//
// If every element of a tile is less than 2^31 bytes behind the tile's start,
// the tile is a window of global memory: it has one base for all threads and
// offsets of 32 bits. The base is the start of the tile, so the buffer may have
// any size. Where a stride is dynamic, launchers check that it is small enough.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_ACCESS_WINDOWACCESS_H
#define TILE_LIB_CONVERSION_TILETOGPU_ACCESS_WINDOWACCESS_H

#include "../Kernel/KernelParameters.h"
#include "BufferParts.h"
#include "tile/Layout/Queries.h"

namespace tile {

/// The distances of the elements of a tile from its start.
class Window {
public:
  /// Returns the window of a tile with the layout `dist` that starts at
  /// `indices` of `buffer`. Returns std::nullopt and the reason if a distance
  /// is not the sum of one for the thread and one for the register, depends on
  /// a stride that no launcher checks, or reaches 2^31 bytes.
  static std::optional<Window> find(const Layout &dist,
                                    const BufferParts &buffer,
                                    mlir::ValueRange indices,
                                    std::string &reason);

  /// Lets launchers check the dynamic strides. Whoever uses the window must
  /// call it.
  void limitStrides() const;

  int64_t bytes() const { return size; }
  /// The place of an access in a window: bytes from the base in the thread,
  /// i32, plus those in all threads, which are null for 0.
  struct Place {
    mlir::Value offset, distance;
  };
  /// Emits the place of register r of a thread. `thread` is the offset of
  /// register 0. The offset is outside of the window where `condition`, if it
  /// is not null, is false.
  Place emitPlace(Emitter &b, const BufferParts &buffer, mlir::Value condition,
                  mlir::Value thread, int64_t r) const;

  /// Emits the offset of the tile's start in `buffer.memory`, in elements.
  static mlir::Value emitBase(Emitter &b, const BufferParts &buffer,
                              mlir::ValueRange indices);
  /// Emits the distance of register 0 of the calling thread from the base, i32.
  static mlir::Value emitThreadOffset(Emitter &b, const Layout &dist,
                                      const BufferParts &buffer);

private:
  /// An offset that is outside of every window, also after adding any static
  /// distance.
  static constexpr int64_t kOutside = int64_t(1) << 31;

  int64_t size = 0;
  /// The static part of the distance of each register, in bytes.
  llvm::SmallVector<int64_t> distances;
  /// A dynamic stride, the elements by which each register lies behind register
  /// 0 along its dimension, and the largest value with which all offsets are
  /// small enough.
  struct DynamicStride {
    unsigned dim;
    llvm::SmallVector<int64_t> distances;
    int64_t limit;
    ParameterPart part;
  };
  llvm::SmallVector<DynamicStride> dynamic;
};

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_ACCESS_WINDOWACCESS_H
