//===- BufferParts.cpp - The values that represent a buffer ---------------===//

#include "BufferParts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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

Value BufferParts::extent(OpBuilder &builder, Location loc,
                          unsigned dim) const {
  return extents[dim] ? extents[dim]
                      : arith::ConstantIndexOp::create(builder, loc,
                                                       type.getShape()[dim]);
}

/// Emits `value` OpT `constant` and folds trivial cases.
template <typename OpT>
static Value combine(OpBuilder &builder, Location loc, Value value,
                     int64_t operand, int64_t neutral) {
  if (operand == neutral)
    return value;
  return OpT::create(builder, loc, value,
                     arith::ConstantIndexOp::create(builder, loc, operand));
}

/// Emits the extent of one result of a map, which is as large as the digits
/// need.
static Value emitExtent(OpBuilder &builder, Location loc, const Layout &map,
                        unsigned result, const BufferParts &buffer) {
  if (map.shape()[result] != kDynamic)
    return arith::ConstantIndexOp::create(builder, loc, map.shape()[result]);
  int64_t known = 1;
  Value extent;
  for (unsigned dim = 0; dim < map.numAxes(); ++dim) {
    int64_t begin = 1;
    for (const Digit &digit : map.axis(dim)) {
      bool counts = digit.stride != 0 && digit.dim == result;
      if (digit.extent != kDynamic) {
        known += counts ? (digit.extent - 1) * digit.stride : 0;
        begin *= digit.extent;
        continue;
      }
      if (!counts)
        continue;
      known -= digit.stride;
      Value count = combine<arith::CeilDivUIOp>(
          builder, loc, buffer.extent(builder, loc, dim), begin, 1);
      count = combine<arith::MulIOp>(builder, loc, count, digit.stride, 1);
      extent =
          extent ? arith::AddIOp::create(builder, loc, extent, count) : count;
    }
  }
  return combine<arith::AddIOp>(builder, loc, extent, known, 0);
}

Value BufferParts::scaleResult(OpBuilder &builder, Location loc, Value distance,
                               unsigned result) const {
  Layout map =
      *cast<MapAttr>(type.getLayout()).getMapLayout(type.getShape(), nullptr);
  int64_t known = 1;
  for (unsigned next = result + 1; next < map.rank(); ++next) {
    if (map.shape()[next] == kDynamic)
      distance = arith::MulIOp::create(
          builder, loc, distance, emitExtent(builder, loc, map, next, *this));
    else
      known *= map.shape()[next];
  }
  return combine<arith::MulIOp>(builder, loc, distance, known, 1);
}

Value BufferParts::scaleStart(OpBuilder &builder, Location loc, Value start,
                              unsigned dim) const {
  // kDynamic extents give all digits, even for a small buffer. The last digit
  // counts the periods.
  SmallVector<int64_t> dynamic(type.getRank(), kDynamic);
  Layout map = *cast<MapAttr>(type.getLayout()).getMapLayout(dynamic, nullptr);
  const Digit &digit = map.axis(dim).back();
  Value count = combine<arith::ShRSIOp>(builder, loc, start,
                                        llvm::Log2_64(type.getPeriod(dim)), 0);
  count = combine<arith::MulIOp>(builder, loc, count, digit.stride, 1);
  return scaleResult(builder, loc, count, digit.dim);
}

Value BufferParts::scale(OpBuilder &builder, Location loc, Value index,
                         unsigned dim) const {
  if (auto attr = dyn_cast<MapAttr>(type.getLayout())) {
    Layout map = *attr.getMapLayout(type.getShape(), nullptr);
    Value offset;
    int64_t begin = 1;
    for (auto [i, digit] : llvm::enumerate(map.axis(dim))) {
      Value value = combine<arith::DivUIOp>(builder, loc, index, begin, 1);
      if (i + 1 != map.axis(dim).size()) {
        value = combine<arith::RemUIOp>(builder, loc, value, digit.extent, 0);
        begin *= digit.extent;
      }
      if (digit.stride == 0)
        continue;
      value = combine<arith::MulIOp>(builder, loc, value, digit.stride, 1);
      value = scaleResult(builder, loc, value, digit.dim);
      offset =
          offset ? arith::AddIOp::create(builder, loc, offset, value) : value;
    }
    return offset ? offset : arith::ConstantIndexOp::create(builder, loc, 0);
  }
  Value stride = strides.empty() ? Value() : strides[dim];
  if (!stride) {
    int64_t number = type.getCanonicalLayout().axis(dim)[0].stride;
    if (number == 1)
      return index;
    stride = arith::ConstantIndexOp::create(builder, loc, number);
  }
  return arith::MulIOp::create(builder, loc, index, stride);
}
