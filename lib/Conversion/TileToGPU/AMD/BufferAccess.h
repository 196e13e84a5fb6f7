//===- BufferAccess.h - Accesses through buffer descriptors -----*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_AMD_BUFFERACCESS_H
#define TILE_LIB_CONVERSION_TILETOGPU_AMD_BUFFERACCESS_H

#include "../Access/GlobalAccess.h"
#include "../Access/WindowAccess.h"
#include "tile/Analysis/AccessWidth.h"
#include "tile/Chips/Chips.h"

namespace tile {

/// The accesses of a tile to global memory through a buffer descriptor. They
/// need no branches, and an address is one register.
///
/// The bounds may end within an access. Its elements then are divided into
/// pieces of half, a quarter and so on of the access. One branch skips the
/// pieces of all accesses in threads that have none. In a loop with products,
/// its condition is also that the bounds are no multiple of the width of an
/// access, which is the same in all threads and iterations.
class BufferAccess {
public:
  /// Returns nothing if `op` cannot use them, and emits a remark with the
  /// reason if masks then need branches.
  static std::optional<BufferAccess>
  find(Emitter &b, mlir::Operation *op, const Chip &chip, const Layout &dist,
       const BufferParts &buffer, mlir::ValueRange indices,
       GlobalAccess &access, const AccessWidth &width);

  /// As loadInBounds() and storeInBounds().
  llvm::SmallVector<mlir::Value> load(mlir::VectorType group,
                                      mlir::Value active);
  void store(llvm::ArrayRef<mlir::Value> parts);

private:
  BufferAccess(Emitter &b, const Layout &dist, const BufferParts &buffer,
               mlir::ValueRange indices, GlobalAccess &access,
               const AccessWidth &width, Window window, bool isInProducts);

  /// Calls `emit` with the number and the place of each access. One that the
  /// bounds cut is outside of the window.
  void emitAll(mlir::Value active,
               llvm::function_ref<void(int64_t, Window::Place)> emit);
  /// Emits whether the bounds may cut accesses in any thread of the block; null
  /// if they always may.
  mlir::Value emitCuts(const Layout &dist, mlir::Value index);
  /// Emits the number of elements of access i in bounds along the contiguous
  /// dimension, i32.
  mlir::Value emitCount(int64_t i);
  /// Calls `emit` with the size and the place of each piece of access i, and
  /// the number of its elements in front of the piece, i32. A piece that the
  /// access does not have is outside of the window.
  void emitPieces(
      int64_t i, mlir::Value active,
      llvm::function_ref<void(int64_t, Window::Place, mlir::Value)> emit);
  mlir::Value loadPieces(int64_t i, mlir::VectorType type, mlir::Value active);
  void storePieces(int64_t i, mlir::Value part);
  /// Emits whether the thread may have pieces; null if no thread has.
  mlir::Value emitHasPieces(mlir::Value active);

  Emitter &b;
  const BufferParts &buffer;
  GlobalAccess &access;
  const AccessGroups &groups;
  std::optional<unsigned> partialDim;
  Window window;
  mlir::Value base, thread;
  /// The result of emitCuts(); null outside of loops with products.
  mlir::Value cuts;
};

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_AMD_BUFFERACCESS_H
