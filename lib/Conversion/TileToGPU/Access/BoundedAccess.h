//===- BoundedAccess.h - Loads and stores within bounds ---------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_ACCESS_BOUNDEDACCESS_H
#define TILE_LIB_CONVERSION_TILETOGPU_ACCESS_BOUNDEDACCESS_H

#include "GlobalAccess.h"
#include "tile/Analysis/AccessWidth.h"

namespace tile {

/// Emits loads of the elements of a tile that are in bounds. Returns a vector
/// of type `group` for each of the accesses that `width` gives. Elements out of
/// bounds are zero, and so are all in threads where `active`, if it is not
/// null, is false.
///
/// A row of the buffer may end within the tile, or within one access. Then a
/// thread whose elements are all in bounds loads them without further checks.
/// Another thread checks each access, and loads the elements of one in which
/// the row ends singly.
llvm::SmallVector<mlir::Value>
loadInBounds(Emitter &b, GlobalAccess &access, const AccessWidth &width,
             mlir::Value memory, mlir::VectorType group, mlir::Value active);

/// Emits the stores of `parts`, a vector for each access, in the same way.
void storeInBounds(Emitter &b, GlobalAccess &access, const AccessWidth &width,
                   mlir::Value memory, llvm::ArrayRef<mlir::Value> parts);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_ACCESS_BOUNDEDACCESS_H
