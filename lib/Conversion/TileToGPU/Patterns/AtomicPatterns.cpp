//===- AtomicPatterns.cpp - Atomic operations on tiles --------------------===//
//
// Every element of the tile is combined with memory once: if an element has
// copies, only the first register of the first thread is used. One instruction
// combines several neighbouring elements if both layouts, the bounds and the
// chip allow it (AccessWidth.h). A branch skips masked elements. On chips with
// buffer atomics, tiles that are a window (WindowAccess.h) use an offset
// outside of the window instead.
//
//===----------------------------------------------------------------------===//

#include "../Access/GlobalAccess.h"
#include "../Access/ThreadAddress.h"
#include "../Access/VectorAccess.h"
#include "../Access/WindowAccess.h"
#include "../Lowering.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/AccessWidth.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;
using namespace tile;

/// Returns the value of `vector` in the lane that holds the first copy.
static Value emitFromOwner(Emitter &b, Value vector, const Layout &dist) {
  if (dist.replication(kLane) == 1)
    return vector;
  int64_t lanes = dist.axisSize(kLane);
  Value lane = arith::RemUIOp::create(b, b.threadNumber(), b.i32(lanes));
  Value source =
      arith::SubIOp::create(b, lane, emitCopyNumber(b, dist, /*byPlace=*/true));
  // Shuffles exchange words of 32 bits.
  auto type = cast<VectorType>(vector.getType());
  int64_t bits = type.getElementTypeBitWidth(), count = type.getNumElements();
  int64_t padded = llvm::alignTo(count * bits, 32) / bits;
  auto paddedType = VectorType::get({padded}, type.getElementType());
  if (padded != count)
    vector = vector::InsertStridedSliceOp::create(
        b, vector, b.zeros(paddedType), ArrayRef<int64_t>{0},
        ArrayRef<int64_t>{1});
  auto wordsType = VectorType::get({padded * bits / 32}, b.getI32Type());
  Value words = vector::BitCastOp::create(b, wordsType, vector);
  for (int64_t i = 0; i < wordsType.getNumElements(); ++i) {
    Value word = vector::ExtractOp::create(b, words, i);
    word = mlir::gpu::ShuffleOp::create(b, word, source, b.i32(lanes),
                                        mlir::gpu::ShuffleMode::IDX)
               .getShuffleResult();
    words = vector::InsertOp::create(b, word, words, i);
  }
  return b.slice(vector::BitCastOp::create(b, paddedType, words), 0, count);
}

/// Returns the window of a masked atomic if it uses the buffer form instead of
/// branches.
static std::optional<Window> findWindow(AtomicRMWOp op, const Chip &chip,
                                        const Layout &dist,
                                        const BufferParts &buffer,
                                        ValueRange indices, AtomicKind kind,
                                        AtomicElement element, int64_t width) {
  auto options =
      remark::RemarkOpts::name("atomic-branch").category("tile-vectorize");
  std::string reason;
  std::optional<Window> window;
  if (op.getResult())
    reason = "the old values are wanted, which the buffer form does not return";
  else if (op.getOrder() != MemoryOrder::Relaxed ||
           op.getScope() != MemoryScope::Device)
    reason = ("order(" + stringifyEnum(op.getOrder()) + ") scope(" +
              stringifyEnum(op.getScope()) +
              ") is wanted; the buffer form is relaxed, of device scope")
                 .str();
  else if (!findBufferAtomic(chip, kind, element, width))
    reason = (chip.name + " has no buffer form of an atomic " +
              stringifyEnum(op.getKind()) + " of " + Twine(width) + " " +
              stringify(element))
                 .str();
  else
    window = Window::find(dist, buffer, indices, reason);
  if (!window)
    remark::missed(op.getLoc(), options) << remark::reason(
        "masked elements are skipped by a branch: {0}", reason);
  return window;
}

static WidthRequest atomicRequest(AtomicRMWOp op, const Chip &chip,
                                  AtomicKind kind, AtomicElement element,
                                  bool shared) {
  WidthRequest request;
  request.instructions = atomicWidths(chip, kind, element, shared);
  // The widest request is the widest atomic of any chip.
  request.widest = 1;
  for (const Atomic &row : atomics())
    if (row.element == element)
      request.widest = std::max(request.widest, row.width);
  std::string name = stringify(element).str();
  std::string operation = stringifyEnum(op.getKind()).str();
  request.unavailable = [=, chip = &chip](int64_t count) {
    return (chip->name + " has no atomic " + operation + " of " + Twine(count) +
            " " + name + (shared ? " to shared memory" : ""))
        .str();
  };
  return request;
}

static void remarkAtomic(AtomicRMWOp op, const Chip &chip,
                         const AccessWidth &width, const Atomic &row) {
  remarkLimits(op, width);
  auto options = [](StringRef name) {
    return remark::RemarkOpts::name(name).category("tile-vectorize");
  };
  remark::passed(op.getLoc(), options("atomic-width"))
      << remark::reason("{0}", row.name) << remark::metric("width", row.width);
  if (!row.native)
    remark::missed(op.getLoc(), options("atomic-loop"))
        << remark::reason("{0} has no instruction that combines {1} {2}; it "
                          "compares and swaps in a loop",
                          chip.name, row.width, stringify(row.element));
}

static LogicalResult convertAtomic(AtomicRMWOp op, Parts<AtomicRMWOp> operands,
                                   Lowering &b) {
  auto tile = cast<RankedTensorType>(op.getValue().getType());
  if (isSharedTile(tile))
    return op.emitOpError("combines a tile in shared memory; run "
                          "tile-bufferize first");
  const Chip &chip = b.chip;
  Layout dist = getCanonicalLayout(tile);
  if (op.getResult() && dist.replication(kWarp) != 1)
    return op.emitOpError()
           << "returns a tile with the layout " << tile.getEncoding()
           << ", of which " << dist.replication(kWarp)
           << " warps hold copies; old values are returned "
              "to one warp only";
  BufferParts buffer(op.getBuffer().getType(), operands.getBuffer());
  SmallVector<Value> indices = single(operands.getIndices());
  Value value = operands.getValue().front();
  auto type = cast<VectorType>(value.getType());

  AtomicKind kind = *tile::gpu::getAtomicKind(op.getKind());
  AtomicElement element = *tile::gpu::getAtomicElement(type.getElementType());
  bool shared = buffer.type.isShared();
  AccessWidth width =
      decideWidth(dist, memoryOperand(buffer, indices),
                  atomicRequest(op, chip, kind, element, shared));
  const AccessGroups &groups = width.groups;
  SmallVector<Value> sharedPlaces;
  std::optional<GlobalAccess> access;
  SmallVector<Run> runs;
  if (shared) {
    FailureOr<SmallVector<int64_t>> start = constantStart(op, indices);
    if (failed(start))
      return failure();
    sharedPlaces = sharedOffsets(b, dist, buffer, *start, groups);
    runs.push_back({0, int64_t(sharedPlaces.size())});
  } else {
    access.emplace(b, dist, buffer, indices);
    runs = runsOfEqualBounds(*access, groups);
  }
  auto first = [&](int64_t i) { return groups.order[i * groups.width]; };

  Value owner = emitIsOwner(b, dist);
  bool isMasked = owner || llvm::any_of(runs, [&](Run run) {
                    return access && access->isBounded(first(run.begin));
                  });
  const Atomic *row = findAtomic(chip, kind, element, groups.width, shared);
  std::optional<Window> window;
  if (isMasked && !shared && row->native && chip.vendor == Vendor::AMD)
    window = findWindow(op, chip, dist, buffer, indices, kind, element,
                        groups.width);
  if (window)
    row = findBufferAtomic(chip, kind, element, groups.width);
  remarkAtomic(op, chip, width, *row);
  Value base, thread;
  if (window) {
    window->limitStrides();
    base = Window::emitBase(b, buffer, indices);
    thread = Window::emitThreadOffset(b, dist, buffer);
  }
  SmallVector<Value> parts = toAccesses(b, value, groups), old;
  SmallVector<std::pair<int64_t, Value>> bufferAccesses;
  for (Run run : runs) {
    SmallVector<Value> places;
    for (int64_t i = run.begin; !window && i < run.end; ++i)
      places.push_back(access ? access->offset(first(i)) : sharedPlaces[i]);
    Value condition =
        b.both(owner, access ? access->inBounds(first(run.begin)) : Value());
    if (window) {
      for (int64_t i = run.begin; i < run.end; ++i)
        bufferAccesses.push_back({i, condition});
      continue;
    }
    Type part = VectorType::get({groups.width}, type.getElementType());
    SmallVector<Type> types(op.getResult() ? places.size() : 0, part);
    llvm::append_range(old, b.emitIf(condition, types, [&] {
      SmallVector<Value> results;
      for (auto [i, place] : llvm::enumerate(places)) {
        auto atomic = tile::gpu::AtomicRMWOp::create(
            b, op.getResult() ? part : Type(), op.getKind(),
            parts[run.begin + i], buffer.memory, place, op.getOrder(),
            op.getScope());
        if (op.getResult())
          results.push_back(atomic.getResult());
      }
      return results;
    }));
  }
  // In the order of registers, so that each fragment of a product can be added
  // before the next one is computed.
  llvm::sort(bufferAccesses, [&](const auto &left, const auto &right) {
    return first(left.first) < first(right.first);
  });
  for (auto [i, condition] : bufferAccesses) {
    Window::Place place =
        window->emitPlace(b, buffer, condition, thread, first(i));
    tile::gpu::BufferAtomicRMWOp::create(b, op.getKind(), parts[i],
                                         buffer.memory, base, place.offset,
                                         place.distance, window->bytes());
  }
  if (!op.getResult())
    return b.erase(op);
  return b.replace(
      op, emitFromOwner(b, fromAccesses(b, type, dist, groups, old), dist));
}

void tile::addAtomicConversions(ConversionAdder &conversions) {
  conversions.addAll(convertAtomic);
}
