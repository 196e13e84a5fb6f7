//===- GlobalAccess.cpp - Accesses of a tile to global memory -------------===//

#include "GlobalAccess.h"
#include "../Kernel/KernelParameters.h"
#include "PageTable.h"
#include "ThreadAddress.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "tile/Analysis/AccessWidth.h"

using namespace mlir;
using namespace tile;

GlobalAccess::GlobalAccess(Emitter &b, const Layout &dist,
                           const BufferParts &buffer, ValueRange indices,
                           Value caller, const GatheredRows *gathered,
                           ArrayRef<unsigned> within)
    : b(b), dist(dist), buffer(buffer), lastOffset(buffer.offset),
      caller(caller), starts(indices), gathered(gathered) {
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
  SmallVector<Value> thread = emitThreadCoordinates(b, dist, caller);
  for (auto [dim, index] : llvm::enumerate(indices)) {
    if (gathered && dim == gathered->dim) {
      gatheredStart = index;
      positions.emplace_back();
      bounds.emplace_back();
      continue;
    }
    Value coordinate = b.toIndex(thread[dim]);
    Value position = b.add(index, coordinate);
    positions.push_back(position);
    if (mapped && mapped->repeats) {
      // The parts of the thread and of the start are added separately, so that
      // the part of the thread can be hoisted out of a loop over starts.
      lastOffset = b.add(lastOffset, buffer.scale(b, coordinate, dim));
      if (!matchPattern(index, m_Zero()))
        lastOffset = b.add(lastOffset, buffer.scaleStart(b, index, dim));
    } else if (!mapped && !isPaged(dim)) {
      lastOffset = b.add(lastOffset, buffer.scale(b, position, dim));
    }
    bounds.push_back(
        isInBounds(buffer.type, index, dim, dist.shape()[dim]) ||
                llvm::is_contained(within, dim)
            ? Bounds()
            : emitBounds(position, dim, isNonNegativeStart(index, dim)));
  }
  last = dist.element(0, 0, 0);
  if (buffer.pages)
    findRows(indices.front());
}

/// Returns true if the start of the tile along `dim` is known to be at least
/// zero. Loads that bounds skip start at the end of the buffer. Two comparisons
/// take as many instructions without this knowledge.
bool GlobalAccess::isNonNegativeStart(Value index, unsigned dim) const {
  auto select = index.getDefiningOp<arith::SelectOp>();
  Value extent = buffer.extents[dim];
  llvm::SmallDenseSet<int64_t> distances;
  for (int64_t r = 0; r < dist.axisSize(kRegister); ++r)
    distances.insert(dist.element(r, 0, 0)[dim]);
  if (distances.size() > 2 && select && extent &&
      areEqualExtents(select.getFalseValue(), extent))
    index = select.getTrueValue();
  return isKnownNonNegative(index);
}

/// Emits the places of the rows of a view of pages. `index` is the first row of
/// the tile.
void GlobalAccess::findRows(Value index) {
  const PageParts &pages = *buffer.pages;
  int64_t pageRows = cast<StridedAttr>(buffer.type.getLayout()).getPage();
  Value end = b.toSignedI32(buffer.extent(b, 0));
  // A tile that lies in one page has one entry of the table.
  int64_t extent = dist.shape().front();
  Value begin = b.toSignedI32(index);
  std::optional<PagedRow> first;
  if (pageRows % extent == 0 && knownDivisor(index) % extent == 0)
    first = findPagedRows(b, pages, begin, end, pageRows).front();
  SmallVector<int64_t> distances;
  SmallVector<Value> ofThread;
  for (int64_t r = 0; r < dist.axisSize(kRegister); ++r) {
    int64_t distance = dist.element(r, 0, 0).front();
    if (!rows.try_emplace(distance).second)
      continue;
    distances.push_back(distance);
    ofThread.push_back(b.add(b.toSignedI32(positions.front()), distance));
  }
  SmallVector<PagedRow> places(ofThread.size());
  if (!first)
    places = findPagedRows(b, pages, ofThread, end, pageRows);
  for (auto [distance, row, place] :
       llvm::zip_equal(distances, ofThread, places)) {
    if (first) {
      place = *first;
      Value inTile = arith::SubIOp::create(b, row, begin);
      place.rowInPage = b.add(first->rowInPage, inTile);
      place.exists = b.both(emitCheck(bounds.front(), distance), place.exists);
    }
    Value offset =
        arith::MulIOp::create(b, b.toIndex(place.page), pages.stride);
    offset = b.add(offset, buffer.scale(b, b.toIndex(place.rowInPage), 0));
    rows[distance] = {offset, place.exists};
  }
}

/// Returns the distance in storage between two registers of a thread, one
/// number per result of the map; std::nullopt if threads have different
/// distances.
std::optional<SmallVector<int64_t>> GlobalAccess::storageDistance(int64_t from,
                                                                  int64_t to) {
  SmallVector<int64_t> distance;
  for (int64_t warp = 0; warp < dist.axisSize(kWarp); ++warp)
    for (int64_t lane = 0; lane < dist.axisSize(kLane); ++lane) {
      auto before = mapped->digits.apply(dist.element(from, lane, warp));
      auto next = mapped->digits.apply(dist.element(to, lane, warp));
      for (auto [i, first] : llvm::enumerate(before)) {
        if (lane == 0 && warp == 0)
          distance.push_back(next[i] - first);
        else if (next[i] - first != distance[i])
          return std::nullopt;
      }
    }
  return distance;
}

Value GlobalAccess::mappedOffset(int64_t r) {
  if (mapped->repeats)
    if (auto distance = storageDistance(lastRegister, r)) {
      Value offset = lastOffset;
      for (auto [result, step] : llvm::enumerate(*distance))
        if (step != 0)
          offset = b.add(offset, buffer.scaleResult(b, b.index(step), result));
      lastRegister = r;
      return lastOffset = offset;
    }
  Value offset = buffer.offset;
  for (auto [dim, distance] : llvm::enumerate(dist.element(r, 0, 0))) {
    Value position = b.add(positions[dim], distance);
    offset = b.add(offset, buffer.scale(b, position, dim));
  }
  return offset;
}

Value GlobalAccess::offset(int64_t r) {
  if (mapped)
    return mappedOffset(r);
  SmallVector<int64_t, 4> next = dist.element(r, 0, 0);
  for (auto [dim, from, to] : llvm::enumerate(last, next))
    if (from != to && !isPaged(dim) && !(gathered && dim == gathered->dim))
      lastOffset = b.add(lastOffset, buffer.scale(b, b.index(to - from), dim));
  last = next;
  if (gathered)
    return b.add(lastOffset,
                 buffer.scale(b, gatheredPosition(r), gathered->dim));
  if (buffer.pages)
    return b.add(lastOffset, rows.at(next.front()).offset);
  return lastOffset;
}

/// Emits the coordinate of register r along the dimension of the gathered rows,
/// an index.
Value GlobalAccess::gatheredPosition(int64_t r) {
  Value row =
      vector::ExtractOp::create(b, gathered->rows, gathered->registers[r]);
  row = arith::IndexCastOp::create(b, b.getIndexType(), row);
  return matchPattern(gatheredStart, m_Zero()) ? row
                                               : b.add(gatheredStart, row);
}

/// Emits the bounds check of register r along the dimension of the gathered
/// rows. The comparison is unsigned, so that negative coordinates are out of
/// bounds.
Value GlobalAccess::isGatheredInBounds(int64_t r) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                               gatheredPosition(r),
                               buffer.extent(b, gathered->dim));
}

SmallVector<int64_t> GlobalAccess::boundsKey(int64_t r) {
  SmallVector<int64_t> key;
  for (auto [dim, distance] : llvm::enumerate(dist.element(r, 0, 0)))
    if (gathered && dim == gathered->dim)
      key.push_back(gathered->registers[r]);
    else if (bounds[dim].count)
      key.push_back(distance);
  return key;
}

/// Emits whether the element `distance` after the thread's first one is in
/// bounds along a dimension.
Value GlobalAccess::emitCheck(const Bounds &bounds, int64_t distance) {
  auto [position, count] = bounds;
  Value place = b.i32(distance);
  // An unsigned comparison, so that negative coordinates are out of bounds.
  if (position)
    place = b.add(position, place);
  return arith::CmpIOp::create(
      b, position ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt,
      place, count);
}

Value GlobalAccess::inBounds(int64_t r, std::optional<unsigned> except) {
  Value result;
  if (gathered)
    result = isGatheredInBounds(r);
  for (auto [dim, distance] : llvm::enumerate(dist.element(r, 0, 0)))
    if (isPaged(dim))
      result = b.both(result, rows.at(distance).exists);
    else if (bounds[dim].count && dim != except)
      result = b.both(result, emitCheck(bounds[dim], distance));
  return result;
}

Value GlobalAccess::allInBounds() {
  Value result;
  if (gathered) {
    llvm::SmallDenseSet<int64_t> checked;
    for (auto [r, row] : llvm::enumerate(gathered->registers))
      if (checked.insert(row).second)
        result = b.both(result, isGatheredInBounds(r));
  }
  for (auto &[distance, row] : rows)
    result = b.both(result, row.exists);
  for (unsigned dim = 0; dim < bounds.size(); ++dim)
    if (!isPaged(dim))
      result = b.both(result, allInBoundsAlong(dim, /*ofWarp=*/true));
  return result;
}

Value GlobalAccess::allInBoundsAlong(unsigned dim, bool ofWarp) {
  Bounds check = bounds[dim];
  if (!check.count)
    return nullptr;
  if (ofWarp) {
    Value first = b.toIndex(emitWarpCoordinates(b, dist, caller)[dim]);
    check = emitBounds(b.add(starts[dim], first), dim,
                       /*nonNegative=*/!check.position);
  }
  int64_t first = 0, last = 0;
  for (int64_t lane = 0; lane < (ofWarp ? dist.axisSize(kLane) : 1); ++lane)
    for (int64_t r = 0; r < dist.axisSize(kRegister); ++r) {
      int64_t distance = dist.element(r, lane, 0)[dim];
      first = std::min(first, distance);
      last = std::max(last, distance);
    }
  Value result = emitCheck(check, last);
  if (check.position && first != last)
    result = b.both(result, emitCheck(check, first));
  return result;
}

bool GlobalAccess::crossesRows() {
  auto strided = dyn_cast<StridedAttr>(buffer.type.getLayout());
  if (!strided)
    return false;
  for (auto [dim, stride] : llvm::enumerate(strided.getStrides()))
    if (stride == 1 && bounds[dim].count)
      for (int64_t r = 1; r < dist.axisSize(kRegister); ++r)
        if (dist.element(r, 0, 0)[dim] != dist.element(0, 0, 0)[dim])
          return true;
  return false;
}

Value GlobalAccess::countAlong(int64_t r, unsigned dim, int64_t count) {
  auto [position, end] = bounds[dim];
  Value place = b.i32(dist.element(r, 0, 0)[dim]);
  if (position)
    place = b.add(position, place);
  Value left = arith::SubIOp::create(b, end, place);
  left = arith::MaxSIOp::create(b, left, b.i32(0));
  return arith::MinSIOp::create(b, left, b.i32(count));
}

Value GlobalAccess::countInBounds(int64_t r, unsigned dim, int64_t count) {
  Value number = arith::IndexCastOp::create(b, b.getIndexType(),
                                            countAlong(r, dim, count));
  Value inside = inBounds(r, dim);
  return inside ? b.select(inside, number, b.index(0)) : number;
}

Value GlobalAccess::endsAtMultiple(int64_t r, unsigned dim, int64_t width) {
  auto [position, end] = bounds[dim];
  if (position)
    return nullptr;
  Value left = arith::SubIOp::create(b, end, b.i32(dist.element(r, 0, 0)[dim]));
  Value rest = arith::RemUIOp::create(b, left, b.i32(width));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rest, b.i32(0));
}

GlobalAccess::Bounds GlobalAccess::emitBounds(Value position, unsigned dim,
                                              bool nonNegative) {
  position = b.toSignedI32(position);
  Value extent = b.toSignedI32(buffer.extent(b, dim));
  if (!nonNegative)
    return {position, extent};
  return {Value(), arith::SubIOp::create(b, extent, position)};
}

SmallVector<unsigned> tile::findDimsWithin(const BufferParts &buffer,
                                           ValueRange indices,
                                           ArrayRef<int64_t> shape) {
  SmallVector<unsigned> dims;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value extent = buffer.extents[dim];
    if (extent && isWithinLoop(index, shape[dim], [&](Value value) {
          return areEqualExtents(value, extent);
        }))
      dims.push_back(dim);
  }
  return dims;
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
