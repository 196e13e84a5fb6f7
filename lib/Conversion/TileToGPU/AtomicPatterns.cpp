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

#include "GlobalAccess.h"
#include "Patterns.h"
#include "ThreadAddress.h"
#include "VectorAccess.h"
#include "WindowAccess.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/AccessWidth.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Returns the value of `vector` in the lane that holds the first copy.
static Value emitFromOwner(OpBuilder &builder, Location loc, Value vector,
                           const Layout &dist) {
  if (dist.replication(kLane) == 1)
    return vector;
  int64_t lanes = dist.axisSize(kLane);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  };
  Value lane = arith::RemUIOp::create(
      builder, loc,
      arith::IndexCastUIOp::create(
          builder, loc, builder.getI32Type(),
          mlir::gpu::ThreadIdOp::create(builder, loc, mlir::gpu::Dimension::x)),
      constant(lanes));
  Value source = arith::SubIOp::create(
      builder, loc, lane, emitCopyNumber(builder, loc, dist, /*byPlace=*/true));
  // Shuffles exchange words of 32 bits.
  auto type = cast<VectorType>(vector.getType());
  int64_t bits = type.getElementTypeBitWidth(), count = type.getNumElements();
  int64_t padded = llvm::alignTo(count * bits, 32) / bits;
  auto paddedType = VectorType::get({padded}, type.getElementType());
  if (padded != count)
    vector = vector::InsertStridedSliceOp::create(
        builder, loc, vector,
        arith::ConstantOp::create(builder, loc,
                                  builder.getZeroAttr(paddedType)),
        ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1});
  auto wordsType = VectorType::get({padded * bits / 32}, builder.getI32Type());
  Value words = vector::BitCastOp::create(builder, loc, wordsType, vector);
  for (int64_t i = 0; i < wordsType.getNumElements(); ++i) {
    Value word = vector::ExtractOp::create(builder, loc, words, i);
    word = mlir::gpu::ShuffleOp::create(builder, loc, word, source,
                                        constant(lanes),
                                        mlir::gpu::ShuffleMode::IDX)
               .getShuffleResult();
    words = vector::InsertOp::create(builder, loc, word, words, i);
  }
  vector = vector::BitCastOp::create(builder, loc, paddedType, words);
  if (padded != count)
    vector = vector::ExtractStridedSliceOp::create(
        builder, loc, vector, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{count},
        ArrayRef<int64_t>{1});
  return vector;
}

//===----------------------------------------------------------------------===//
// The pattern
//===----------------------------------------------------------------------===//

namespace {
struct AtomicRMWPattern : MemoryPattern<AtomicRMWOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(AtomicRMWOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto tile = cast<RankedTensorType>(op.getValue().getType());
    if (isSharedTile(tile))
      return op.emitOpError("combines a tile in shared memory; run "
                            "tile-bufferize first");
    Location loc = op.getLoc();
    Layout dist = getCanonicalLayout(tile);
    if (op.getResult() && dist.replication(kWarp) != 1)
      return op.emitOpError()
             << "returns a tile with the layout " << tile.getEncoding()
             << ", of which " << dist.replication(kWarp)
             << " warps hold copies; old values are returned "
                "to one warp only";
    BufferParts buffer(op.getBuffer().getType(), adaptor.getBuffer());
    SmallVector<Value> indices = single(adaptor.getIndices());
    Value value = adaptor.getValue().front();
    auto type = cast<VectorType>(value.getType());

    AtomicKind kind = *tile::gpu::getAtomicKind(op.getKind());
    AtomicElement element = *tile::gpu::getAtomicElement(type.getElementType());
    bool shared = buffer.type.isShared();
    AccessWidth width = decideWidth(dist, memoryOperand(buffer, indices),
                                    atomicRequest(op, kind, element, shared));
    const AccessGroups &groups = width.groups;
    SmallVector<Value> sharedPlaces;
    std::optional<GlobalAccess> access;
    SmallVector<Run> runs;
    int64_t count = groups.order.size() / groups.width;
    if (buffer.type.isShared()) {
      auto start = constantIndices(indices);
      if (failed(start))
        return rejectDynamicStart(op);
      sharedPlaces = sharedOffsets(rewriter, loc, dist, buffer, *start, groups);
      runs.push_back({0, count});
    } else {
      access.emplace(rewriter, loc, dist, buffer, indices);
      runs = runsOfEqualBounds(*access, groups);
    }

    Value owner = emitIsOwner(rewriter, loc, dist);
    // The number of accesses that the longest branch would skip.
    int64_t skipped = 0;
    for (Run run : runs)
      if (owner ||
          (access && access->isBounded(groups.order[run.begin * groups.width])))
        skipped = std::max(skipped, run.end - run.begin);
    const Atomic *row = findAtomic(chip, kind, element, groups.width, shared);
    std::optional<Window> window;
    if (skipped != 0 && !shared && row->native && chip.vendor == Vendor::AMD)
      window = findWindow(op, dist, buffer, indices, kind, element,
                          groups.width, skipped);
    if (window)
      row = findBufferAtomic(chip, kind, element, groups.width);
    remarkAtomic(op, width, *row);
    Value base, thread, outside;
    if (window) {
      base = Window::emitBase(rewriter, loc, buffer, indices);
      thread = Window::emitThreadOffset(rewriter, loc, dist, buffer);
      outside =
          arith::ConstantIntOp::create(rewriter, loc, Window::kOutside, 32);
    }
    SmallVector<Value> parts = toAccesses(rewriter, loc, value, groups), old;
    for (Run run : runs) {
      SmallVector<Value> places;
      for (int64_t i = run.begin; !window && i < run.end; ++i)
        places.push_back(access ? access->offset(groups.order[i * groups.width])
                                : sharedPlaces[i]);
      Value condition = owner;
      if (access)
        if (Value inside =
                access->inBounds(groups.order[run.begin * groups.width]))
          condition = owner
                          ? arith::AndIOp::create(rewriter, loc, owner, inside)
                          : inside;
      if (window) {
        Value start = condition ? arith::SelectOp::create(
                                      rewriter, loc, condition, thread, outside)
                                : thread;
        for (int64_t i = run.begin; i < run.end; ++i) {
          Value offset = arith::AddIOp::create(
              rewriter, loc, start,
              arith::ConstantIntOp::create(
                  rewriter, loc,
                  window->distance(groups.order[i * groups.width]), 32));
          tile::gpu::BufferAtomicRMWOp::create(rewriter, loc, op.getKind(),
                                               parts[i], buffer.memory, base,
                                               offset, window->bytes());
        }
        continue;
      }
      auto combine = [&] {
        SmallVector<Value> results;
        for (auto [i, place] : llvm::enumerate(places)) {
          Value part = parts[run.begin + i];
          auto atomic = tile::gpu::AtomicRMWOp::create(
              rewriter, loc, op.getResult() ? part.getType() : Type(),
              op.getKind(), part, buffer.memory, place, op.getOrder(),
              op.getScope());
          if (op.getResult())
            results.push_back(atomic.getResult());
        }
        return results;
      };
      if (!condition) {
        llvm::append_range(old, combine());
        continue;
      }
      Type part = VectorType::get({groups.width}, type.getElementType());
      SmallVector<Type> types(op.getResult() ? places.size() : 0, part);
      auto branch = scf::IfOp::create(rewriter, loc, types, condition,
                                      /*withElseRegion=*/!types.empty());
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      SmallVector<Value> results = combine();
      if (types.empty())
        continue;
      scf::YieldOp::create(rewriter, loc, results);
      rewriter.setInsertionPointToStart(branch.elseBlock());
      Value zero =
          arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(part));
      scf::YieldOp::create(rewriter, loc,
                           SmallVector<Value>(types.size(), zero));
      llvm::append_range(old, branch.getResults());
    }
    if (!op.getResult()) {
      rewriter.eraseOp(op);
      return success();
    }
    rewriter.replaceOp(
        op, emitFromOwner(rewriter, loc,
                          fromAccesses(rewriter, loc, type, dist, groups, old),
                          dist));
    return success();
  }

private:
  /// The largest number of accesses under one branch for which the buffer form
  /// is used. A branch that skips more accesses costs little
  /// (docs/Rationale.md).
  static constexpr int64_t kMostInWindow = 4;

  /// Returns the window of a masked atomic if it uses the buffer form instead
  /// of branches that skip up to `skipped` accesses.
  std::optional<Window> findWindow(AtomicRMWOp op, const Layout &dist,
                                   const BufferParts &buffer,
                                   ValueRange indices, AtomicKind kind,
                                   AtomicElement element, int64_t width,
                                   int64_t skipped) const;
  WidthRequest atomicRequest(AtomicRMWOp op, AtomicKind kind,
                             AtomicElement element, bool shared) const;
  void remarkAtomic(AtomicRMWOp op, const AccessWidth &width,
                    const Atomic &row) const;
};
} // namespace

std::optional<Window>
AtomicRMWPattern::findWindow(AtomicRMWOp op, const Layout &dist,
                             const BufferParts &buffer, ValueRange indices,
                             AtomicKind kind, AtomicElement element,
                             int64_t width, int64_t skipped) const {
  auto options =
      remark::RemarkOpts::name("atomic-branch").category("tile-vectorize");
  if (skipped > kMostInWindow) {
    remark::analysis(op.getLoc(), options) << remark::reason(
        "a branch skips {0} masked accesses at once", skipped);
    return std::nullopt;
  }
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

WidthRequest AtomicRMWPattern::atomicRequest(AtomicRMWOp op, AtomicKind kind,
                                             AtomicElement element,
                                             bool shared) const {
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

void AtomicRMWPattern::remarkAtomic(AtomicRMWOp op, const AccessWidth &width,
                                    const Atomic &row) const {
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

void tile::populateAtomicPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns,
                                  const Chip &chip) {
  patterns.add<AtomicRMWPattern>(converter, patterns.getContext(), chip);
}
