//===- WindowAccess.cpp - Tiles as windows of global memory ---------------===//

#include "WindowAccess.h"
#include "ThreadAddress.h"
#include "mlir/IR/Matchers.h"
#include "tile/Analysis/AccessWidth.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

/// Returns the stride of each storage coordinate, in elements; kDynamic if it
/// is not static.
static SmallVector<int64_t> storageStrides(const BufferParts &buffer) {
  SmallVector<int64_t> strides;
  if (auto attr = dyn_cast<MapAttr>(buffer.type.getLayout())) {
    Layout map = *attr.getMapLayout(buffer.type.getShape(), nullptr);
    strides.resize(map.rank());
    int64_t stride = 1;
    for (unsigned result = map.rank(); result-- > 0;) {
      strides[result] = stride;
      int64_t extent = map.shape()[result];
      stride = stride == kDynamic || extent == kDynamic ||
                       llvm::MulOverflow(stride, extent, stride)
                   ? kDynamic
                   : stride;
    }
    return strides;
  }
  Layout layout = buffer.type.getCanonicalLayout();
  for (unsigned dim = 0; dim < unsigned(buffer.type.getRank()); ++dim)
    strides.push_back(!buffer.strides.empty() && buffer.strides[dim]
                          ? kDynamic
                          : layout.axis(dim)[0].stride);
  return strides;
}

std::optional<Window> Window::find(const Layout &dist,
                                   const BufferParts &buffer,
                                   ValueRange indices, std::string &reason) {
  if (buffer.pages) {
    reason = "its rows are in pages at any distance";
    return std::nullopt;
  }
  // Tile coordinates -> storage coordinates.
  std::optional<Layout> digits;
  if (auto map = dyn_cast<MapAttr>(buffer.type.getLayout())) {
    for (auto [dim, index] : llvm::enumerate(indices)) {
      int64_t period = buffer.type.getPeriod(dim);
      if (matchPattern(index, m_Zero()) || knownDivisor(index) % period == 0)
        continue;
      reason = ("the start along dimension " + Twine(dim) +
                " is no known multiple of " + Twine(period) +
                ", from where the layout repeats")
                   .str();
      return std::nullopt;
    }
    digits = *map.getMapLayout(dist.shape(), nullptr);
  }
  SmallVector<int64_t> strides = storageStrides(buffer);
  int64_t elementBytes = buffer.type.getElementBits() / 8;
  if (elementBytes == 0) {
    reason = "elements have less than a byte";
    return std::nullopt;
  }
  // The offset of an access of 16 bytes in the window is below this.
  constexpr int64_t maxBytes = kOutside - 16;

  Window window;
  int64_t registers = dist.axisSize(kRegister);
  window.distances.assign(registers, 0);
  SmallVector<SmallVector<int64_t>> deltas(registers);
  SmallVector<int64_t> most(strides.size(), 0);
  for (int64_t warp = 0; warp < dist.axisSize(kWarp); ++warp)
    for (int64_t lane = 0; lane < dist.axisSize(kLane); ++lane) {
      SmallVector<int64_t> first;
      for (int64_t r = 0; r < registers; ++r) {
        auto element = dist.element(r, lane, warp);
        SmallVector<int64_t> place(element.begin(), element.end());
        if (digits) {
          auto stored = digits->apply(element);
          place.assign(stored.begin(), stored.end());
        }
        if (r == 0)
          first = place;
        for (auto [dim, coordinate] : llvm::enumerate(place))
          most[dim] = std::max(most[dim], coordinate);
        SmallVector<int64_t> delta =
            llvm::map_to_vector(llvm::zip_equal(place, first), [](auto pair) {
              return std::get<0>(pair) - std::get<1>(pair);
            });
        if (lane == 0 && warp == 0)
          deltas[r] = delta;
        if (deltas[r] != delta) {
          reason = "the registers of threads do not lie at the same distances";
          return std::nullopt;
        }
      }
    }

  // The static part of the distances, and the dynamic strides.
  int64_t last = 0;
  SmallVector<unsigned> dynamicDims;
  for (auto [dim, coordinate] : llvm::enumerate(most)) {
    if (coordinate == 0)
      continue;
    if (strides[dim] == kDynamic) {
      dynamicDims.push_back(dim);
      continue;
    }
    int64_t step;
    if (strides[dim] < 0 || strides[dim] >= maxBytes ||
        llvm::MulOverflow(coordinate, strides[dim] * elementBytes, step) ||
        llvm::AddOverflow(last, step, last) || last >= maxBytes) {
      reason = "the tile reaches over 2^31 bytes";
      return std::nullopt;
    }
  }
  for (int64_t r = 0; r < registers; ++r) {
    for (auto [dim, delta] : llvm::enumerate(deltas[r]))
      if (strides[dim] != kDynamic)
        window.distances[r] += delta * strides[dim] * elementBytes;
    if (window.distances[r] < 0) {
      reason = "the registers of threads do not lie upwards";
      return std::nullopt;
    }
  }
  window.size = dynamicDims.empty() ? last + elementBytes : kOutside - 1;
  for (unsigned dim : dynamicDims) {
    std::optional<ParameterPart> part;
    if (!digits)
      part = findParameter(buffer.strides[dim]);
    if (!part || part->field != "strides") {
      reason = ("the stride of dimension " + Twine(dim) +
                (digits ? " in storage" : "") +
                " is neither static nor one of a parameter, so offsets are not "
                "known to be below 2^31 bytes")
                   .str();
      return std::nullopt;
    }
    DynamicStride stride{dim, {}, 0, *part};
    stride.limit = (maxBytes - last) / elementBytes / most[dim] /
                   int64_t(dynamicDims.size());
    for (const SmallVector<int64_t> &delta : deltas) {
      stride.distances.push_back(delta[dim]);
      if (delta[dim] < 0) {
        reason = "the registers of threads do not lie upwards";
        return std::nullopt;
      }
    }
    window.dynamic.push_back(std::move(stride));
  }
  return window;
}

void Window::limitStrides() const {
  for (const DynamicStride &stride : dynamic)
    limitStride(stride.part, stride.limit);
}

Window::Place Window::emitPlace(Emitter &b, const BufferParts &buffer,
                                Value condition, Value thread,
                                int64_t r) const {
  int64_t elementBytes = buffer.type.getElementBits() / 8;
  Value distance;
  for (const DynamicStride &stride : dynamic)
    if (int64_t steps = stride.distances[r])
      distance = b.sum(distance, b.mul(buffer.strides[stride.dim],
                                       b.index(steps * elementBytes)));
  // Launchers do not check the stride of a dimension with one element. All
  // registers behind the first are then out of bounds, at any distance.
  if (distance)
    distance =
        b.toI32(arith::MinUIOp::create(b, distance, b.index(kOutside - 1)));
  // The static distance comes last, where it becomes a part of the instruction.
  if (condition)
    thread = b.select(condition, thread, b.i32(kOutside));
  return {b.add(thread, distances[r]), distance};
}

Value Window::emitBase(Emitter &b, const BufferParts &buffer,
                       ValueRange indices) {
  Value base = buffer.offset;
  bool mapped = isa<MapAttr>(buffer.type.getLayout());
  for (auto [dim, index] : llvm::enumerate(indices)) {
    if (matchPattern(index, m_Zero()))
      continue;
    Value step =
        mapped ? buffer.scaleStart(b, index, dim) : buffer.scale(b, index, dim);
    base = b.add(base, step);
  }
  return base;
}

Value Window::emitThreadOffset(Emitter &b, const Layout &dist,
                               const BufferParts &buffer) {
  Value offset = b.index(0);
  for (auto [dim, coordinate] :
       llvm::enumerate(emitThreadCoordinates(b, dist))) {
    if (dist.shape()[dim] == 1)
      continue;
    offset = b.add(offset, buffer.scale(b, b.toIndex(coordinate), dim));
  }
  return b.mul(b.toI32(offset), buffer.type.getElementBits() / 8);
}
