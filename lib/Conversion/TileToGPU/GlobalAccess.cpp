//===- GlobalAccess.cpp - Accesses of a tile to global memory -------------===//

#include "GlobalAccess.h"
#include "ThreadAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "tile/Analysis/AccessWidth.h"

using namespace mlir;
using namespace tile;

GlobalAccess::GlobalAccess(OpBuilder &builder, Location loc, const Layout &dist,
                           const BufferParts &buffer, ValueRange indices,
                           Value caller)
    : builder(builder), loc(loc), dist(dist), buffer(buffer),
      lastOffset(buffer.offset) {
  auto add = [&](Value a, Value b) -> Value {
    return arith::AddIOp::create(builder, loc, a, b);
  };
  if (auto map = dyn_cast<MapAttr>(buffer.type.getLayout())) {
    mapped.emplace();
    mapped->digits = *map.getMapLayout(dist.shape(), nullptr);
    mapped->repeats = llvm::all_of(llvm::enumerate(indices), [&](auto entry) {
      return matchPattern(entry.value(), m_Zero()) ||
             knownDivisor(entry.value()) %
                     buffer.type.getPeriod(entry.index()) ==
                 0;
    });
  }
  SmallVector<Value> thread = emitThreadCoordinates(builder, loc, dist, caller);
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value coordinate = arith::IndexCastUIOp::create(
        builder, loc, builder.getIndexType(), thread[dim]);
    Value position = add(index, coordinate);
    positions.push_back(position);
    if (mapped && mapped->repeats) {
      // The parts of the thread and of the start are added separately, so that
      // the part of the thread can be hoisted out of a loop over starts.
      lastOffset = add(lastOffset, buffer.scale(builder, loc, coordinate, dim));
      if (!matchPattern(index, m_Zero()))
        lastOffset =
            add(lastOffset, buffer.scaleStart(builder, loc, index, dim));
    } else if (!mapped) {
      lastOffset = add(lastOffset, buffer.scale(builder, loc, position, dim));
    }
    bounds.push_back(
        isInBounds(buffer.type, index, dim, dist.shape()[dim])
            ? Bounds()
            : emitBounds(position, dim, isKnownNonNegative(index)));
  }
  last = dist.element(0, 0, 0);
}

/// Returns the distance in storage between two registers of a thread, one
/// number per result of the map; std::nullopt if threads have different
/// distances.
std::optional<SmallVector<int64_t>> GlobalAccess::storageDistance(int64_t from,
                                                                  int64_t to) {
  SmallVector<int64_t> distance;
  for (int64_t warp = 0; warp < dist.axisSize(kWarp); ++warp)
    for (int64_t lane = 0; lane < dist.axisSize(kLane); ++lane) {
      auto a = mapped->digits.apply(dist.element(from, lane, warp));
      auto b = mapped->digits.apply(dist.element(to, lane, warp));
      for (auto [i, first] : llvm::enumerate(a)) {
        if (lane == 0 && warp == 0)
          distance.push_back(b[i] - first);
        else if (b[i] - first != distance[i])
          return std::nullopt;
      }
    }
  return distance;
}

Value GlobalAccess::mappedOffset(int64_t r) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  if (mapped->repeats)
    if (auto distance = storageDistance(lastRegister, r)) {
      Value offset = lastOffset;
      for (auto [result, step] : llvm::enumerate(*distance))
        if (step != 0)
          offset = arith::AddIOp::create(
              builder, loc, offset,
              buffer.scaleResult(builder, loc, constant(step), result));
      lastRegister = r;
      return lastOffset = offset;
    }
  Value offset = buffer.offset;
  for (auto [dim, distance] : llvm::enumerate(dist.element(r, 0, 0))) {
    Value position =
        arith::AddIOp::create(builder, loc, positions[dim], constant(distance));
    offset = arith::AddIOp::create(builder, loc, offset,
                                   buffer.scale(builder, loc, position, dim));
  }
  return offset;
}

Value GlobalAccess::offset(int64_t r) {
  if (mapped)
    return mappedOffset(r);
  SmallVector<int64_t, 4> next = dist.element(r, 0, 0);
  for (auto [dim, from, to] : llvm::enumerate(last, next))
    if (from != to)
      lastOffset = arith::AddIOp::create(
          builder, loc, lastOffset,
          buffer.scale(builder, loc,
                       arith::ConstantIndexOp::create(builder, loc, to - from),
                       dim));
  last = next;
  return lastOffset;
}

SmallVector<int64_t> GlobalAccess::boundsKey(int64_t r) {
  SmallVector<int64_t> key;
  for (auto [dim, distance] : llvm::enumerate(dist.element(r, 0, 0)))
    if (bounds[dim].count)
      key.push_back(distance);
  return key;
}

Value GlobalAccess::inBounds(int64_t r) {
  Value result;
  for (auto [dim, distance] : llvm::enumerate(dist.element(r, 0, 0))) {
    auto [position, count] = bounds[dim];
    if (!count)
      continue;
    Value place = arith::ConstantIntOp::create(builder, loc, distance, 32);
    // An unsigned comparison, so that negative coordinates are out of bounds.
    if (position)
      place = arith::AddIOp::create(builder, loc, position, place);
    Value inside = arith::CmpIOp::create(builder, loc,
                                         position ? arith::CmpIPredicate::ult
                                                  : arith::CmpIPredicate::slt,
                                         place, count);
    result =
        result ? arith::AndIOp::create(builder, loc, result, inside) : inside;
  }
  return result;
}

GlobalAccess::Bounds GlobalAccess::emitBounds(Value position, unsigned dim,
                                              bool nonNegative) {
  auto narrow = [&](Value value) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                      value);
  };
  position = narrow(position);
  Value extent = narrow(buffer.extent(builder, loc, dim));
  if (!nonNegative)
    return {position, extent};
  return {Value(), arith::SubIOp::create(builder, loc, extent, position)};
}

SmallVector<Run> tile::runsOfEqualBounds(GlobalAccess &access,
                                         const AccessGroups &groups) {
  SmallVector<Run> runs;
  int64_t count = groups.order.size() / groups.width;
  for (int64_t i = 0; i < count; ++i) {
    auto key = [&](int64_t j) {
      return access.boundsKey(groups.order[j * groups.width]);
    };
    if (runs.empty() || key(runs.back().begin) != key(i))
      runs.push_back({i, i});
    runs.back().end = i + 1;
  }
  return runs;
}
