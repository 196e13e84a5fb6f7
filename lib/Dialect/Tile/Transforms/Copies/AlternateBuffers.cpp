//===- AlternateBuffers.cpp - Two buffers for a tile of a loop ------------===//
//
// A tile that all warps write to shared memory and read in each iteration needs
// two barriers: one before the reads, and one before the next iteration writes.
// With two buffers that take turns, the first one is enough: no warp writes a
// buffer again before all of them have passed the barrier of the iteration
// between, after their last reads.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/SharedMemory.h"
#include "tile/Dialect/Tile/IR/Contains.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILEALTERNATEBUFFERS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// The number of buffers that take turns.
static constexpr int64_t kBuffers = 2;

/// Returns true if each product in flight that `dot` yields is awaited in the
/// block of `dot`.
static bool isAwaitedInBlock(DotOp dot) {
  if (!isa<PendingType>(dot.getResult().getType()))
    return true;
  return llvm::all_of(dot.getResult().getUsers(), [&](Operation *user) {
    if (user->getBlock() != dot->getBlock())
      return false;
    if (auto next = dyn_cast<DotOp>(user))
      return isAwaitedInBlock(next);
    return isa<AwaitOp>(user);
  });
}

/// Returns true if the loop around `alloc` allocates no other buffer. Of two
/// exchanges in an iteration, the barrier of one orders the reads of the other
/// one and the stores of the next iteration.
static bool isOnlyAlloc(AllocOp alloc) {
  return !containsOp(alloc->getParentOp(), [&](Operation *op) {
    return isa<AllocOp>(op) && op != alloc;
  });
}

/// Returns true if an iteration of the loop around `alloc` stores all of the
/// buffer, and then only reads it. Operands of products count in kernels with
/// warp roles only: without roles, another block of the multiprocessor runs
/// while one waits.
static bool isExchanged(AllocOp alloc, bool hasRoles) {
  Block *body = alloc->getBlock();
  StoreOp store;
  SmallVector<Operation *> readers;
  for (Operation *user : getBufferUsers(alloc)) {
    if (user->getBlock() != body)
      return false;
    if (auto other = dyn_cast<StoreOp>(user)) {
      auto tile = cast<RankedTensorType>(other.getValue().getType());
      if (store || other.getBuffer() != alloc.getResult() ||
          tile.getShape() != alloc.getType().getShape())
        return false;
      store = other;
    } else if (isa<DotOp, LoadOp>(user)) {
      readers.push_back(user);
    } else {
      return false;
    }
  }
  if (!store || readers.empty())
    return false;
  // Products in flight read their operands after the barriers of other
  // exchanges.
  bool isAlone = isOnlyAlloc(alloc);
  return llvm::all_of(readers, [&](Operation *reader) {
    auto dot = dyn_cast<DotOp>(reader);
    return store->isBeforeInBlock(reader) &&
           (dot ? hasRoles && isAwaitedInBlock(dot) : isAlone);
  });
}

namespace {
/// Two buffers that take turns in loops of one block, which run one after the
/// other.
struct Storage {
  BufferType type;
  /// The first and the last of these loops.
  scf::ForOp first, last;
  Value buffers = {};
};

/// A loop, the buffers that its body allocates, and the storage of each.
struct Exchange {
  scf::ForOp loop;
  SmallVector<AllocOp> allocs;
  SmallVector<unsigned> storages;
};
} // namespace

/// Returns the storage of each exchange. Loops of one block share them.
static SmallVector<Storage>
chooseStorages(MutableArrayRef<Exchange> exchanges) {
  SmallVector<Storage> storages;
  for (Exchange &exchange : exchanges)
    for (AllocOp alloc : exchange.allocs) {
      BufferType type = RingType::getStorageType(alloc.getType(), kBuffers);
      auto *found = llvm::find_if(storages, [&](const Storage &storage) {
        Operation *last = storage.last;
        return storage.type == type && last != exchange.loop &&
               last->getBlock() == exchange.loop->getBlock();
      });
      if (found == storages.end()) {
        storages.push_back({type, exchange.loop, exchange.loop});
        found = std::prev(storages.end());
      }
      found->last = exchange.loop;
      exchange.storages.push_back(found - storages.begin());
    }
  return storages;
}

/// Returns a number in i32 that `loop` carries and that is odd in every other
/// iteration, such as the count of tiles of a ring; null if there is none.
static Value findCount(scf::ForOp loop) {
  for (auto [argument, next] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues())) {
    auto add = next.getDefiningOp<arith::AddIOp>();
    if (!argument.getType().isInteger(32) || !add || add.getLhs() != argument)
      continue;
    std::optional<int64_t> step = getConstantIntValue(add.getRhs());
    if (step && *step % kBuffers != 0)
      return argument;
  }
  return {};
}

/// Makes `loop` carry such a number.
static Value addCount(IRRewriter &rewriter, scf::ForOp &loop) {
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  DictionaryAttr attributes = loop->getDiscardableAttrDictionary();
  Type i32 = rewriter.getI32Type();
  Value first = arith::ConstantIntOp::create(rewriter, loc, i32, 0);
  FailureOr<LoopLikeOpInterface> counted = loop.replaceWithAdditionalYields(
      rewriter, first, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &builder, Location loc, ArrayRef<BlockArgument> counts) {
        Value one = arith::ConstantIntOp::create(builder, loc, i32, 1);
        return SmallVector<Value>{
            arith::AddIOp::create(builder, loc, counts.back(), one)};
      });
  loop = cast<scf::ForOp>(counted->getOperation());
  loop->setDiscardableAttrs(attributes);
  return loop.getRegionIterArgs().back();
}

/// Replaces the buffers of `exchange` by its storages, whose buffers take
/// turns.
static void alternate(IRRewriter &rewriter, Exchange &exchange,
                      ArrayRef<Storage> storages) {
  scf::ForOp loop = exchange.loop;
  Location loc = loop.getLoc();
  Value count = findCount(loop);
  if (!count)
    count = addCount(rewriter, loop);
  rewriter.setInsertionPointToStart(loop.getBody());
  Value two =
      arith::ConstantIntOp::create(rewriter, loc, count.getType(), kBuffers);
  Value slot = arith::IndexCastUIOp::create(
      rewriter, loc, rewriter.getIndexType(),
      arith::RemUIOp::create(rewriter, loc, count, two));
  for (auto [alloc, storage] :
       llvm::zip_equal(exchange.allocs, exchange.storages)) {
    rewriter.setInsertionPoint(alloc);
    SmallVector<Value> indices(alloc.getType().getRank() + 1);
    indices[0] = slot;
    rewriter.replaceOp(alloc,
                       SliceOp::create(rewriter, alloc.getLoc(),
                                       storages[storage].buffers, indices));
  }
}

namespace {
struct AlternateBuffers
    : tile::impl::TileAlternateBuffersBase<AlternateBuffers> {
  using TileAlternateBuffersBase::TileAlternateBuffersBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    WarpRolesOp roles;
    kernel.walk([&](WarpRolesOp op) { roles = op; });
    Region &region = roles ? roles.getRoles().front() : kernel.getBody();
    SmallVector<Exchange> exchanges;
    region.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      Exchange exchange{loop, {}, {}};
      for (AllocOp alloc : loop.getBody()->getOps<AllocOp>())
        if (!alloc.getOffset() &&
            RingType::getStorageType(alloc.getType(), kBuffers) &&
            isExchanged(alloc, bool(roles)))
          exchange.allocs.push_back(alloc);
      if (!exchange.allocs.empty())
        exchanges.push_back(exchange);
    });
    if (exchanges.empty())
      return;
    const Chip *chip = getTargetChip(kernel);
    if (!chip)
      return signalPassFailure();
    // Blocks of a cluster wait before they store to each other, whatever the
    // buffer.
    if (countClusterBlocks(*chip, kernel.getNumWarps()) > 1)
      return;
    SmallVector<Storage> storages = chooseStorages(exchanges);
    SharedMemoryModel model(kernel);
    int64_t before = model.placeWithin(chip->sharedBytes).bytes;
    for (const Exchange &exchange : exchanges)
      for (AllocOp alloc : exchange.allocs)
        model.remove(alloc);
    for (const Storage &storage : storages)
      model.add(storage.type, storage.first, storage.first, storage.last);
    int64_t after = model.placeWithin(chip->sharedBytes).bytes;
    // As many blocks as before share a multiprocessor.
    int64_t mostBlocks =
        chip->throughput.threads / (kernel.getNumWarps() * chip->warpSize);
    auto countBlocks = [&](int64_t bytes) {
      return std::min(mostBlocks, chip->sharedBytes / bytes);
    };
    if (after > chip->sharedBytes || countBlocks(after) < countBlocks(before))
      return;
    IRRewriter rewriter(kernel.getContext());
    for (Storage &storage : storages) {
      rewriter.setInsertionPoint(storage.first);
      storage.buffers = AllocOp::create(rewriter, storage.first.getLoc(),
                                        storage.type, IntegerAttr());
    }
    for (Exchange &exchange : exchanges)
      alternate(rewriter, exchange, storages);
    remark::passed(kernel.getLoc(),
                   remark::RemarkOpts::name("buffers-alternate")
                       .category("tile-alternate-buffers"))
        << remark::metric("bytes", after);
  }
};
} // namespace
