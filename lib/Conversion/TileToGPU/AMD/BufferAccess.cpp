//===- BufferAccess.cpp - Accesses through buffer descriptors -------------===//

#include "BufferAccess.h"
#include "mlir/IR/Remarks.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;
using namespace tile;

std::optional<BufferAccess>
BufferAccess::find(Emitter &b, Operation *op, const Chip &chip,
                   const Layout &dist, const BufferParts &buffer,
                   ValueRange indices, GlobalAccess &access,
                   const AccessWidth &width) {
  if (chip.bufferFlags == 0)
    return std::nullopt;
  // A load of one element for all lanes is one of a scalar.
  if (dist.replication(kLane) == dist.axisSize(kLane))
    return std::nullopt;
  std::string reason;
  std::optional<Window> window;
  if (width.partialDim)
    reason = "the bounds may end within an access";
  else
    window = Window::find(dist, buffer, indices, reason);
  if (window)
    return BufferAccess(b, dist, buffer, indices, access, width.groups,
                        std::move(*window));
  const AccessGroups &groups = width.groups;
  for (size_t i = 0; i < groups.order.size(); i += groups.width)
    if (access.isBounded(groups.order[i])) {
      remark::missed(
          op->getLoc(),
          remark::RemarkOpts::name("access-branch").category("tile-vectorize"))
          << remark::reason("elements out of bounds are skipped by a branch: "
                            "{0}",
                            reason);
      break;
    }
  return std::nullopt;
}

BufferAccess::BufferAccess(Emitter &b, const Layout &dist,
                           const BufferParts &buffer, ValueRange indices,
                           GlobalAccess &access, const AccessGroups &groups,
                           Window found)
    : b(b), buffer(buffer), access(access), groups(groups),
      window(std::move(found)) {
  window.limitStrides();
  base = Window::emitBase(b, buffer, indices);
  thread = Window::emitThreadOffset(b, dist, buffer);
}

void BufferAccess::emitAll(
    Value active, llvm::function_ref<void(int64_t, Window::Place)> emit) {
  auto first = [&](int64_t i) { return groups.order[i * groups.width]; };
  for (Run run : runsOfEqualBounds(access, groups)) {
    Value condition = b.both(active, access.inBounds(first(run.begin)));
    for (int64_t i = run.begin; i < run.end; ++i)
      emit(i, window.emitPlace(b, buffer, condition, thread, first(i)));
  }
}

SmallVector<Value> BufferAccess::load(VectorType group, Value active) {
  SmallVector<Value> parts;
  emitAll(active, [&](int64_t, Window::Place place) {
    parts.push_back(tile::gpu::BufferLoadOp::create(
        b, group, buffer.memory, base, place.offset, place.distance,
        window.bytes()));
  });
  return parts;
}

void BufferAccess::store(ArrayRef<Value> parts) {
  emitAll(/*active=*/Value(), [&](int64_t i, Window::Place place) {
    tile::gpu::BufferStoreOp::create(b, parts[i], buffer.memory, base,
                                     place.offset, place.distance,
                                     window.bytes());
  });
}
