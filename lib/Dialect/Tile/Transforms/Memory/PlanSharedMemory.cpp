//===- PlanSharedMemory.cpp - Offsets of shared buffers -------------------===//

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/SharedMemory.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILEPLANSHAREDMEMORY
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Verifies the offsets that the author wrote.
static LogicalResult checkPinned(const SharedPlan &plan) {
  ArrayRef<PlannedBuffer> buffers = plan.buffers;
  for (auto [i, buffer] : llvm::enumerate(buffers)) {
    AllocOp alloc = buffer.alloc;
    if (!alloc.getOffset())
      continue;
    if (buffer.offset % buffer.alignment != 0)
      return alloc.emitOpError()
             << "offset " << buffer.offset << " is no multiple of "
             << buffer.alignment << ", the alignment of " << alloc.getType();
    for (const PlannedBuffer &other : buffers.take_front(i)) {
      AllocOp otherAlloc = other.alloc;
      if (!otherAlloc.getOffset() || !buffer.overlaps(other) ||
          !buffer.liveWith(other))
        continue;
      InFlightDiagnostic diag =
          alloc.emitOpError()
          << "at bytes " << buffer.offset << " to "
          << buffer.offset + buffer.bytes - 1
          << " overlaps a buffer that is live at the same time";
      diag.attachNote(otherAlloc.getLoc())
          << "at bytes " << other.offset << " to "
          << other.offset + other.bytes - 1;
      return diag;
    }
  }
  return success();
}

/// Gives each load of a tile in shared memory a buffer and a store of its own,
/// so that no buffer is live between two loads. Returns true if a tile had
/// several loads.
static bool storeForEachLoad(KernelOp kernel) {
  SmallVector<std::pair<StoreOp, SmallVector<LoadOp>>> shared;
  kernel.walk([&](AllocOp alloc) {
    StoreOp store;
    SmallVector<LoadOp> loads;
    for (Operation *user : alloc->getUsers()) {
      auto load = dyn_cast<LoadOp>(user);
      if (load)
        loads.push_back(load);
      else if (store || !(store = dyn_cast<StoreOp>(user)))
        return;
    }
    if (!store || loads.size() < 2 || alloc.getOffset() ||
        llvm::any_of(loads, [&](LoadOp load) {
          return load->getBlock() != store->getBlock() ||
                 !store->isBeforeInBlock(load);
        }))
      return;
    shared.push_back({store, std::move(loads)});
  });
  OpBuilder builder(kernel.getContext());
  for (auto &[store, loads] : shared) {
    llvm::sort(loads, [](LoadOp a, LoadOp b) { return a->isBeforeInBlock(b); });
    for (LoadOp load : llvm::drop_begin(loads)) {
      builder.setInsertionPoint(load);
      IRMapping mapping;
      builder.clone(*store.getBuffer().getDefiningOp(), mapping);
      builder.clone(*store, mapping);
      load.getBufferMutable().assign(mapping.lookup(store.getBuffer()));
    }
  }
  return !shared.empty();
}

namespace {
struct PlanSharedMemory
    : tile::impl::TilePlanSharedMemoryBase<PlanSharedMemory> {
  using TilePlanSharedMemoryBase::TilePlanSharedMemoryBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    const Chip *chip = getTargetChip(kernel);
    if (!chip || failed(verifySharedBuffers(kernel)))
      return signalPassFailure();
    SharedMemoryModel model(kernel);
    SharedPlan plan = model.placeWithin(chip->sharedBytes);
    if (plan.bytes > chip->sharedBytes && storeForEachLoad(kernel)) {
      model = SharedMemoryModel(kernel);
      plan = model.placeWithin(chip->sharedBytes);
    }
    // Pinned buffers may share memory if they are not live at the same time,
    // even if they are allocated in one loop.
    if (failed(checkPinned(model.place(/*loopsApart=*/false))))
      return signalPassFailure();
    if (plan.bytes > chip->sharedBytes) {
      InFlightDiagnostic diag = kernel.emitOpError()
                                << "needs " << plan.bytes
                                << " bytes of shared memory; " << chip->name
                                << " has " << chip->sharedBytes;
      for (const PlannedBuffer &buffer : plan.buffers) {
        AllocOp alloc = buffer.alloc;
        diag.attachNote(alloc.getLoc())
            << buffer.bytes << " bytes at offset " << buffer.offset << ": "
            << alloc.getType();
      }
      noteExtents(diag, kernel);
      return signalPassFailure();
    }
    if (plan.sharesInLoops)
      remark::missed(kernel.getLoc(),
                     remark::RemarkOpts::name("buffers-share-in-loop")
                         .category("tile-plan-shared-memory"))
          << remark::reason(
                 "buffers of one loop share memory, which takes more barriers: "
                 "apart they need {0} bytes, and {1} has {2}",
                 model.place(/*loopsApart=*/true).bytes, chip->name.str(),
                 chip->sharedBytes);
    for (PlannedBuffer &buffer : plan.buffers)
      buffer.alloc.setOffset(buffer.offset);
    kernel.setSharedBytes(plan.bytes);
  }
};
} // namespace
