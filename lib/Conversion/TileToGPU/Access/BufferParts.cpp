//===- BufferParts.cpp - The values that represent a buffer ---------------===//

#include "BufferParts.h"
#include "tile/Dialect/Tile/IR/LaunchExpressions.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

BufferParts::BufferParts(BufferType type, ValueRange parts)
    : type(type), memory(parts[0]), offset(parts[1]) {
  parts = parts.drop_front(2);
  auto readDynamic = [&](ArrayRef<int64_t> numbers,
                         SmallVectorImpl<Value> &values) {
    for (int64_t number : numbers) {
      bool dynamic = number == kDynamic;
      values.push_back(dynamic ? parts.front() : Value());
      if (dynamic)
        parts = parts.drop_front();
    }
  };
  readDynamic(type.getShape(), extents);
  if (auto strided = dyn_cast<StridedAttr>(type.getLayout()))
    readDynamic(strided.getStrides(), strides);
  if (type.isPaged())
    pages = {parts[0], parts[1], parts[2], parts[3], parts[4]};
}

SmallVector<Value> BufferParts::slice(Value newOffset,
                                      ArrayRef<bool> kept) const {
  SmallVector<Value> parts{memory, newOffset};
  for (const SmallVector<Value> *values : {&extents, &strides})
    for (auto [dim, value] : llvm::enumerate(*values))
      if (kept[dim] && value)
        parts.push_back(value);
  return parts;
}

Value BufferParts::extent(Emitter &b, unsigned dim) const {
  return extents[dim] ? extents[dim] : b.index(type.getShape()[dim]);
}

/// Emits the extent of one result of a map, which is as large as the digits
/// need.
static Value emitExtent(Emitter &b, const Layout &map, unsigned result,
                        const BufferParts &buffer) {
  if (map.shape()[result] != kDynamic)
    return b.index(map.shape()[result]);
  MapExtent terms = getMapExtent(map, result);
  Value extent;
  for (auto [dim, divisor, factor] : terms.terms) {
    Value count =
        b.combine<arith::CeilDivUIOp>(buffer.extent(b, dim), divisor, 1);
    extent = b.sum(extent, b.mul(count, factor));
  }
  return b.add(extent, terms.constant);
}

Value BufferParts::scaleResult(Emitter &b, Value distance,
                               unsigned result) const {
  Layout map =
      *cast<MapAttr>(type.getLayout()).getMapLayout(type.getShape(), nullptr);
  int64_t known = 1;
  for (unsigned next = result + 1; next < map.rank(); ++next) {
    if (map.shape()[next] == kDynamic)
      distance = b.mul(distance, emitExtent(b, map, next, *this));
    else
      known *= map.shape()[next];
  }
  return b.mul(distance, known);
}

Value BufferParts::scaleStart(Emitter &b, Value start, unsigned dim) const {
  // kDynamic extents give all digits, even for a small buffer. The last digit
  // counts the periods.
  SmallVector<int64_t> dynamic(type.getRank(), kDynamic);
  Layout map = *cast<MapAttr>(type.getLayout()).getMapLayout(dynamic, nullptr);
  const Digit &digit = map.axis(dim).back();
  Value count =
      b.combine<arith::ShRSIOp>(start, llvm::Log2_64(type.getPeriod(dim)), 0);
  count = b.mul(count, digit.stride);
  return scaleResult(b, count, digit.dim);
}

Value BufferParts::scale(Emitter &b, Value index, unsigned dim) const {
  if (auto attr = dyn_cast<MapAttr>(type.getLayout())) {
    Layout map = *attr.getMapLayout(type.getShape(), nullptr);
    Value offset;
    int64_t begin = 1;
    for (auto [i, digit] : llvm::enumerate(map.axis(dim))) {
      Value value = b.combine<arith::DivUIOp>(index, begin, 1);
      if (i + 1 != map.axis(dim).size()) {
        value = b.combine<arith::RemUIOp>(value, digit.extent, 0);
        begin *= digit.extent;
      }
      if (digit.stride == 0)
        continue;
      value = b.mul(value, digit.stride);
      value = scaleResult(b, value, digit.dim);
      offset = b.sum(offset, value);
    }
    return offset ? offset : b.index(0);
  }
  if (Value stride = strides.empty() ? Value() : strides[dim])
    return b.mul(index, stride);
  return b.mul(index, type.getCanonicalLayout().axis(dim)[0].stride);
}
