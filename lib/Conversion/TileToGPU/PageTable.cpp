//===- PageTable.cpp - Rows in pages --------------------------------------===//

#include "PageTable.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tile;

PagedRow tile::findPagedRow(Emitter &b, const PageParts &pages, Value row,
                            Value end, int64_t pageRows) {
  PagedRow place;
  // Unsigned comparisons, so that negative numbers are out of bounds.
  auto isBelow = [&](Value number, Value bound) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number, bound);
  };
  Value inside = isBelow(row, end);
  place.page = b.emitIf(inside, b.getI32Type(), [&]() -> SmallVector<Value> {
    Value number = b.toIndex(b.combine<arith::DivUIOp>(row, pageRows, 1));
    Value entry =
        b.add(pages.offset, arith::MulIOp::create(b, number, pages.step));
    return {memref::LoadOp::create(b, pages.table, entry)};
  })[0];
  place.rowInPage =
      pageRows == 1 ? b.i32(0) : b.combine<arith::RemUIOp>(row, pageRows, 1);
  place.exists =
      b.both(inside, isBelow(place.page, b.toSignedI32(pages.count)));
  return place;
}
