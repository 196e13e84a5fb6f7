//===- ThreadAddress.cpp - Coordinates and addresses of a thread ----------===//

#include "ThreadAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;
using namespace tile;

static Value constant(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}

/// Emits `value` OpT `constant` and folds trivial cases.
template <typename OpT>
static Value combine(OpBuilder &builder, Location loc, Value value,
                     int64_t operand, int64_t neutral) {
  if (operand == neutral)
    return value;
  return OpT::create(builder, loc, value, constant(builder, loc, operand));
}

static Value sum(OpBuilder &builder, Location loc, Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AddIOp::create(builder, loc, a, b);
}

/// Emits (value / divisor) % extent * stride. `last` means that the remainder
/// is not needed, because there is no higher digit.
static Value emitDigit(OpBuilder &builder, Location loc, Value value,
                       int64_t divisor, int64_t extent, int64_t stride,
                       bool last) {
  value = combine<arith::DivUIOp>(builder, loc, value, divisor, 1);
  if (!last)
    value = combine<arith::RemUIOp>(builder, loc, value, extent, 0);
  return combine<arith::MulIOp>(builder, loc, value, stride, 1);
}

Value tile::emitThread(OpBuilder &builder, Location loc) {
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  auto func = dyn_cast<mlir::gpu::GPUFuncOp>(parent);
  if (!func)
    func = parent->getParentOfType<mlir::gpu::GPUFuncOp>();
  // outlineKernel() sets this attribute for such roles.
  if (func && func != parent &&
      func->hasAttr(NVVM::NVVMDialect::getMinctasmAttrName()))
    return tile::gpu::ThreadOp::create(builder, loc, builder.getI32Type());
  return arith::IndexCastUIOp::create(
      builder, loc, builder.getI32Type(),
      mlir::gpu::ThreadIdOp::create(builder, loc, mlir::gpu::Dimension::x));
}

SmallVector<Value> tile::emitThreadCoordinates(OpBuilder &builder, Location loc,
                                               const Layout &layout,
                                               Value thread) {
  if (!thread)
    thread = emitThread(builder, loc);
  int64_t lanes = layout.axisSize(kLane);
  SmallVector<Value> coordinates(layout.rank());
  for (unsigned axis : {kLane, kWarp}) {
    // The number of the thread is lane + warp * lanes.
    int64_t divisor = axis == kLane ? 1 : lanes;
    ArrayRef<Digit> digits = layout.axis(axis);
    for (auto [i, digit] : llvm::enumerate(digits)) {
      bool last = axis == kWarp && i + 1 == digits.size();
      if (digit.stride != 0)
        coordinates[digit.dim] =
            sum(builder, loc, coordinates[digit.dim],
                emitDigit(builder, loc, thread, divisor, digit.extent,
                          digit.stride, last));
      divisor *= digit.extent;
    }
  }
  for (Value &coordinate : coordinates)
    if (!coordinate)
      coordinate = constant(builder, loc, 0);
  return coordinates;
}

Value tile::emitCopyNumber(OpBuilder &builder, Location loc,
                           const Layout &layout, bool byPlace) {
  if (layout.replication(kLane) == 1 && layout.replication(kWarp) == 1)
    return {};
  int64_t size = 1;
  auto replicas = [&](unsigned axis) {
    Digits result;
    int64_t place = 1;
    for (const Digit &digit : layout.axis(axis)) {
      int64_t weight = byPlace ? place : 1;
      result.push_back({digit.extent, 0, digit.stride == 0 ? weight : 0});
      size += (digit.extent - 1) * result.back().stride;
      place *= digit.extent;
    }
    return result;
  };
  Digits lanes = replicas(kLane), warps = replicas(kWarp);
  return emitThreadCoordinates(
      builder, loc, Layout::distributed({}, lanes, warps, ArrayRef(size)))[0];
}

Value tile::emitIsOwner(OpBuilder &builder, Location loc,
                        const Layout &layout) {
  Value number = emitCopyNumber(builder, loc, layout, /*byPlace=*/false);
  if (!number)
    return {};
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, number,
                               constant(builder, loc, 0));
}

SharedOffsets::SharedOffsets(OpBuilder &builder, Location loc, Layout access,
                             Layout memory, ArrayRef<int64_t> start,
                             Value origin, Value thread)
    : builder(builder), loc(loc), access(std::move(access)),
      memory(std::move(memory)), start(start),
      coordinates(emitThreadCoordinates(builder, loc, this->access, thread)),
      origin(origin) {
  int64_t threads = this->access.axisSize(kLane) * this->access.axisSize(kWarp);
  for (int64_t thread = 0; thread < threads; ++thread)
    first.push_back(offsetOf(0, thread));
  base = emitOffset(0);
}

int64_t SharedOffsets::offsetOf(int64_t r, int64_t thread) const {
  int64_t lanes = access.axisSize(kLane);
  auto coords = access.element(r, thread % lanes, thread / lanes);
  for (auto [coordinate, shift] : llvm::zip_equal(coords, start))
    coordinate += shift;
  return memory.offset(coords);
}

/// Emits the complete offset of access r: the mixed-radix digits of every
/// coordinate, then the swizzle.
Value SharedOffsets::emitOffset(int64_t r) {
  auto distance = access.element(r, 0, 0);
  Value offset;
  for (auto [axis, coordinate] : llvm::enumerate(coordinates)) {
    Value value = combine<arith::AddIOp>(builder, loc, coordinate,
                                         distance[axis] + start[axis], 0);
    int64_t divisor = 1;
    ArrayRef<Digit> digits = memory.axis(axis);
    for (auto [i, digit] : llvm::enumerate(digits)) {
      if (digit.stride != 0)
        offset = sum(builder, loc, offset,
                     emitDigit(builder, loc, value, divisor, digit.extent,
                               digit.stride, i + 1 == digits.size()));
      divisor *= digit.extent;
    }
  }
  if (!offset)
    offset = constant(builder, loc, 0);
  Swizzle swizzle = memory.swizzle();
  if (swizzle.bits == 0)
    return offset;
  Value bits = combine<arith::ShRUIOp>(builder, loc, offset,
                                       swizzle.base + swizzle.shift, 0);
  bits =
      combine<arith::AndIOp>(builder, loc, bits, (1 << swizzle.bits) - 1, -1);
  bits = combine<arith::ShLIOp>(builder, loc, bits, swizzle.base, 0);
  return arith::XOrIOp::create(builder, loc, offset, bits);
}

Value SharedOffsets::at(int64_t r) {
  auto behindOrigin = [&](Value value) -> Value {
    return arith::AddIOp::create(
        builder, loc, origin,
        arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                     value));
  };
  Swizzle swizzle = memory.swizzle();
  int64_t field = ((int64_t(1) << swizzle.bits) - 1) << swizzle.base;
  int64_t flip = (offsetOf(r, 0) ^ first[0]) & field;
  int64_t shift = offsetOf(r, 0) - (first[0] ^ flip);
  for (auto [thread, offset] : llvm::enumerate(first))
    if ((offset ^ flip) + shift != offsetOf(r, thread))
      return behindOrigin(emitOffset(r));
  Value value =
      behindOrigin(combine<arith::XOrIOp>(builder, loc, base, flip, 0));
  if (shift == 0)
    return value;
  return arith::AddIOp::create(
      builder, loc, value, arith::ConstantIndexOp::create(builder, loc, shift));
}
