//===- PageTable.cpp - Rows in pages --------------------------------------===//

#include "PageTable.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tile;

SmallVector<PagedRow> tile::findPagedRows(Emitter &b, const PageParts &pages,
                                          ArrayRef<Value> rows, Value end,
                                          int64_t pageRows) {
  // Unsigned comparisons, so that negative numbers are out of bounds.
  auto isBelow = [&](Value number, Value bound) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number, bound);
  };
  auto pageOf = [&](Value row) {
    return b.combine<arith::DivUIOp>(row, pageRows, 1);
  };
  // A row out of bounds reads the last entry: the loads of all rows have one
  // branch, and wait for the memory together.
  Value hasRows =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, end, b.i32(0));
  SmallVector<Value> found =
      b.emitIf(hasRows, SmallVector<Type>(rows.size(), b.getI32Type()), [&] {
        Value last = pageOf(b.add(end, -1));
        SmallVector<Value> entries;
        for (Value row : rows) {
          Value number =
              b.toIndex(arith::MinUIOp::create(b, pageOf(row), last));
          Value entry =
              b.add(pages.offset, arith::MulIOp::create(b, number, pages.step));
          entries.push_back(memref::LoadOp::create(b, pages.table, entry));
        }
        return entries;
      });
  Value count = b.toSignedI32(pages.count);
  SmallVector<PagedRow> places;
  for (auto [row, page] : llvm::zip_equal(rows, found)) {
    PagedRow place;
    place.page = page;
    place.rowInPage =
        pageRows == 1 ? b.i32(0) : b.combine<arith::RemUIOp>(row, pageRows, 1);
    place.exists = b.both(isBelow(row, end), isBelow(page, count));
    places.push_back(place);
  }
  return places;
}
