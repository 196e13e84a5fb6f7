//===- PageTable.h - Rows in pages ------------------------------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_ACCESS_PAGETABLE_H
#define TILE_LIB_CONVERSION_TILETOGPU_ACCESS_PAGETABLE_H

#include "BufferParts.h"

namespace tile {

/// The place of a row of a view of pages.
struct PagedRow {
  /// The number of the page, 0 if the row is out of bounds, and the row in the
  /// page: i32.
  mlir::Value page, rowInPage;
  /// Whether the row is in bounds and its page exists.
  mlir::Value exists;
};

/// Emits the places of `rows` in a view of `end` rows, all i32, in pages of
/// `pageRows` rows. Entries behind that of the last row are not read.
llvm::SmallVector<PagedRow> findPagedRows(Emitter &b, const PageParts &pages,
                                          llvm::ArrayRef<mlir::Value> rows,
                                          mlir::Value end, int64_t pageRows);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_ACCESS_PAGETABLE_H
