//===- BufferParts.cpp - A buffer as values -------------------------------===//

#include "BufferParts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tile;

BufferParts::BufferParts(BufferType type, ValueRange parts)
    : type(type), memory(parts[0]), offset(parts[1]) {
  parts = parts.drop_front(2);
  auto take = [&](ArrayRef<int64_t> numbers, SmallVectorImpl<Value> &values) {
    for (int64_t number : numbers) {
      bool dynamic = number == kDynamic;
      values.push_back(dynamic ? parts.front() : Value());
      if (dynamic)
        parts = parts.drop_front();
    }
  };
  take(type.getShape(), extents);
  if (auto strided = dyn_cast<StridedAttr>(type.getLayout()))
    take(strided.getStrides(), strides);
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

Value BufferParts::scale(OpBuilder &builder, Location loc, Value index,
                         unsigned dim) const {
  Value stride = strides.empty() ? Value() : strides[dim];
  if (!stride) {
    int64_t number = type.getCanonicalLayout().axis(dim)[0].stride;
    if (number == 1)
      return index;
    stride = arith::ConstantIndexOp::create(builder, loc, number);
  }
  return arith::MulIOp::create(builder, loc, index, stride);
}
