//===- PageTable.h - Rows in pages ------------------------------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_PAGETABLE_H
#define TILE_LIB_CONVERSION_TILETOGPU_PAGETABLE_H

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

/// Emits the place of `row`, one of `end` rows, both i32, in pages of
/// `pageRows` rows. The entry of a row out of bounds is not read.
PagedRow findPagedRow(Emitter &b, const PageParts &pages, mlir::Value row,
                      mlir::Value end, int64_t pageRows);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_PAGETABLE_H
