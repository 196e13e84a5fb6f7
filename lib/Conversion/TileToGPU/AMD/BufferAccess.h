//===- BufferAccess.h - Accesses through buffer descriptors -----*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_AMD_BUFFERACCESS_H
#define TILE_LIB_CONVERSION_TILETOGPU_AMD_BUFFERACCESS_H

#include "../GlobalAccess.h"
#include "../WindowAccess.h"
#include "tile/Analysis/AccessWidth.h"
#include "tile/Chips/Chips.h"

namespace tile {

/// The accesses of a tile to global memory through a buffer descriptor. They
/// need no branches, and an address is one register.
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
               const AccessGroups &groups, Window window);

  /// Calls `emit` with the number and the place of each access.
  void emitAll(mlir::Value active,
               llvm::function_ref<void(int64_t, Window::Place)> emit);

  Emitter &b;
  const BufferParts &buffer;
  GlobalAccess &access;
  const AccessGroups &groups;
  Window window;
  mlir::Value base, thread;
};

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_AMD_BUFFERACCESS_H
