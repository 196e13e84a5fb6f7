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
  // Returns the distance from the start in bytes; fails if it is not static or
  // too large.
  auto place = [&](int64_t r, int64_t lane,
                   int64_t warp) -> FailureOr<int64_t> {
    auto coordinates = dist.element(r, lane, warp);
    if (digits)
      coordinates = digits->apply(coordinates);
    int64_t sum = 0;
    for (auto [dim, coordinate] : llvm::enumerate(coordinates)) {
      int64_t step = strides[dim];
      if (coordinate == 0)
        continue;
      if (step == kDynamic) {
        reason =
            ("the stride of dimension " + Twine(dim) +
             (digits ? " in storage" : "") +
             " is not static, so offsets are not known to be below 2^31 bytes")
                .str();
        return failure();
      }
      if (llvm::MulOverflow(coordinate, step, step) ||
          llvm::AddOverflow(sum, step, sum) || sum < 0 ||
          sum >= (kOutside / elementBytes) - 16) {
        reason = "the tile reaches over 2^31 bytes";
        return failure();
      }
    }
    return sum * elementBytes;
  };

  Window window;
  window.distances.assign(dist.axisSize(kRegister), 0);
  for (int64_t warp = 0; warp < dist.axisSize(kWarp); ++warp)
    for (int64_t lane = 0; lane < dist.axisSize(kLane); ++lane) {
      int64_t first = 0;
      for (int64_t r = 0; r < dist.axisSize(kRegister); ++r) {
        FailureOr<int64_t> offset = place(r, lane, warp);
        if (failed(offset))
          return std::nullopt;
        if (r == 0)
          first = *offset;
        if (lane == 0 && warp == 0)
          window.distances[r] = *offset - first;
        if (window.distances[r] != *offset - first || window.distances[r] < 0) {
          reason = "the registers of threads do not lie at the same distances, "
                   "upwards";
          return std::nullopt;
        }
        window.size = std::max(window.size, *offset + elementBytes);
      }
    }
  return window;
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
