//===- ThreadAddress.cpp - Coordinates and addresses of a thread ----------===//

#include "ThreadAddress.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;
using namespace tile;

/// Emits (value / divisor) % extent * stride. `last` means that the remainder
/// is not needed, because there is no higher digit.
static Value emitDigit(Emitter &b, Value value, int64_t divisor, int64_t extent,
                       int64_t stride, bool last) {
  value = b.combine<arith::DivUIOp>(value, divisor, 1);
  if (!last)
    value = b.combine<arith::RemUIOp>(value, extent, 0);
  return b.mul(value, stride);
}

bool tile::isInRoleWithRegisters(Block *block) {
  Operation *parent = block->getParentOp();
  auto func = dyn_cast<mlir::gpu::GPUFuncOp>(parent);
  if (!func)
    func = parent->getParentOfType<mlir::gpu::GPUFuncOp>();
  // outlineKernel() sets this attribute for such roles.
  return func && func != parent &&
         func->hasAttr(NVVM::NVVMDialect::getMinctasmAttrName());
}

Value tile::emitThread(Emitter &b) {
  if (isInRoleWithRegisters(b.getInsertionBlock()))
    return tile::gpu::ThreadOp::create(b, b.getI32Type());
  return b.threadNumber();
}

/// Emits the sums of the parts that `axes`, lanes and warps, have in the
/// coordinates of register 0.
static SmallVector<Value> emitCoordinates(Emitter &b, const Layout &layout,
                                          Value thread,
                                          ArrayRef<unsigned> axes) {
  if (!thread)
    thread = emitThread(b);
  int64_t lanes = layout.axisSize(kLane);
  SmallVector<Value> coordinates(layout.rank());
  for (unsigned axis : axes) {
    // The number of the thread is lane + warp * lanes.
    int64_t divisor = axis == kLane ? 1 : lanes;
    ArrayRef<Digit> digits = layout.axis(axis);
    for (auto [i, digit] : llvm::enumerate(digits)) {
      bool last = axis == kWarp && i + 1 == digits.size();
      if (digit.stride != 0)
        coordinates[digit.dim] = b.sum(
            coordinates[digit.dim],
            emitDigit(b, thread, divisor, digit.extent, digit.stride, last));
      divisor *= digit.extent;
    }
  }
  for (Value &coordinate : coordinates)
    if (!coordinate)
      coordinate = b.i32(0);
  return coordinates;
}

SmallVector<Value> tile::emitThreadCoordinates(Emitter &b, const Layout &layout,
                                               Value thread) {
  return emitCoordinates(b, layout, thread, {kLane, kWarp});
}

SmallVector<Value> tile::emitWarpCoordinates(Emitter &b, const Layout &layout,
                                             Value thread) {
  return emitCoordinates(b, layout, thread, {kWarp});
}

Value tile::emitCopyNumber(Emitter &b, const Layout &layout, bool byPlace) {
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
      b, Layout::distributed({}, lanes, warps, ArrayRef(size)))[0];
}

Value tile::emitIsOwner(Emitter &b, const Layout &layout) {
  Value number = emitCopyNumber(b, layout, /*byPlace=*/false);
  if (!number)
    return {};
  return b.equal(number, b.i32(0));
}

Value tile::emitSwizzle(Emitter &b, Value number, Swizzle swizzle) {
  if (swizzle.bits == 0)
    return number;
  Value bits =
      b.combine<arith::ShRUIOp>(number, swizzle.base + swizzle.shift, 0);
  bits = b.combine<arith::AndIOp>(bits, (1 << swizzle.bits) - 1, -1);
  bits = b.combine<arith::ShLIOp>(bits, swizzle.base, 0);
  return arith::XOrIOp::create(b, number, bits);
}

SharedOffsets::SharedOffsets(Emitter &b, Layout access, Layout memory,
                             ArrayRef<int64_t> start, Value origin,
                             Value thread)
    : b(b), access(std::move(access)), memory(std::move(memory)), start(start),
      coordinates(emitThreadCoordinates(b, this->access, thread)),
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
    Value value = b.add(coordinate, distance[axis] + start[axis]);
    int64_t divisor = 1;
    ArrayRef<Digit> digits = memory.axis(axis);
    for (auto [i, digit] : llvm::enumerate(digits)) {
      if (digit.stride != 0)
        offset = b.sum(offset, emitDigit(b, value, divisor, digit.extent,
                                         digit.stride, i + 1 == digits.size()));
      divisor *= digit.extent;
    }
  }
  if (!offset)
    offset = b.i32(0);
  return emitSwizzle(b, offset, memory.swizzle());
}

Value SharedOffsets::at(int64_t r) {
  auto behindOrigin = [&](Value value) {
    return b.add(origin, b.toIndex(value));
  };
  Swizzle swizzle = memory.swizzle();
  int64_t field = ((int64_t(1) << swizzle.bits) - 1) << swizzle.base;
  int64_t flip = (offsetOf(r, 0) ^ first[0]) & field;
  int64_t shift = offsetOf(r, 0) - (first[0] ^ flip);
  for (auto [thread, offset] : llvm::enumerate(first))
    if ((offset ^ flip) + shift != offsetOf(r, thread))
      return behindOrigin(emitOffset(r));
  return b.add(behindOrigin(b.combine<arith::XOrIOp>(base, flip, 0)), shift);
}
