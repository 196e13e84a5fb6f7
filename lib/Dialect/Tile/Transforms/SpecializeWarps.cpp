//===- SpecializeWarps.cpp - Warps that copy for warps that compute -------===//
//
// All copies to shared memory go to a role of their own. Copies of one argument
// into buffers of one type share a ring of `stages` buffers, each with a
// barrier for `full` and one for `empty`; both roles count the tiles of a ring
// that have gone through it, and tile number i is in slot i mod stages, in
// phase (i / stages) mod 2 of that slot's barriers.
//
// The producer is the slice of the program that the copies need: the same loops
// in the same order. So it runs ahead as far as the rings let it, whatever the
// loops are.
//
//===----------------------------------------------------------------------===//

#include "ArgumentTile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Dialect/Tile/Transforms/SharedMemory.h"
#include "llvm/ADT/MapVector.h"

namespace tile {
#define GEN_PASS_DEF_TILESPECIALIZEWARPS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {
/// A copy as the copy engine takes it.
struct PlannedCopy : ArgumentTile {
  CopyOp copy;
  AllocOp buffer;
  /// The first and the last operation of the block that read the buffer.
  Operation *first = nullptr, *last = nullptr;
  unsigned ring = 0;
};

/// Buffers that tiles of one kind go through, one after another.
struct Ring {
  BlockArgument argument;
  BufferType tile;
  int64_t stages = 1;
  /// Whether tiles are counted; else there is one in all.
  bool counted = false;
  Value buffers, full, empty;
};

/// Numbers of tiles, one i32 per ring.
using Counts = SmallVector<Value>;

class Specializer {
public:
  Specializer(KernelOp kernel, int64_t producerWarps)
      : rewriter(kernel.getContext()), kernel(kernel), loc(kernel.getLoc()),
        producerWarps(producerWarps) {}

  /// Says why the kernel cannot be specialised, or nothing.
  std::string analyse();
  void run();

  ArrayRef<Ring> getRings() const { return rings; }

private:
  std::string planCopy(CopyOp copy);
  std::string checkSlice(Value value, const PlannedCopy &planned);
  std::string checkRing(const PlannedCopy &planned);
  bool isOutside(Operation *op);

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }
  /// Numbers of tiles have 32 bits: they are carried along in registers.
  Value number(int64_t value) {
    return arith::ConstantOp::create(rewriter, loc,
                                     rewriter.getI32IntegerAttr(value));
  }
  /// Slot and phase of tile number `count`.
  std::pair<Value, Value> locate(const Ring &ring, Value count);
  Value slotOf(const Ring &ring, Value slot);
  void makeRings();
  IRMapping copyOutside(Block &role);
  Value materialize(Value value, IRMapping &mapping);
  void produce(Block &from, IRMapping &mapping, Counts &counts);
  void consume(Block &block, Counts &counts);
  SmallVector<unsigned> countedIn(Operation *op);
  const PlannedCopy *find(Operation *op) {
    auto copy = dyn_cast<CopyOp>(op);
    auto it = copy ? copies.find(copy) : copies.end();
    return it == copies.end() ? nullptr : &it->second;
  }

  IRRewriter rewriter;
  KernelOp kernel;
  Location loc;
  int64_t producerWarps;
  llvm::MapVector<Operation *, PlannedCopy> copies;
  SmallVector<Ring> rings;
  llvm::DenseSet<Operation *> outside;
};
} // namespace

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

/// Scalars that all roles may compute for themselves.
bool Specializer::isOutside(Operation *op) {
  auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
  return isa<GridOp>(op) ||
         (op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
          !op->hasTrait<OpTrait::IsTerminator>() &&
          llvm::none_of(op->getResultTypes(), isTile) &&
          llvm::all_of(op->getOperands(), [&](Value operand) {
            Operation *source = operand.getDefiningOp();
            return !source || outside.contains(source);
          }));
}

/// What the copies depend on must be known without waiting for anything.
std::string Specializer::checkSlice(Value value, const PlannedCopy &planned) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (parent == kernel || (loop && value == loop.getInductionVar()))
      return "";
    return "its place depends on a value that a loop carries";
  }
  Operation *op = value.getDefiningOp();
  if (outside.contains(op))
    return "";
  if (op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return "its place depends on '" + op->getName().getStringRef().str() + "'";
  for (Value operand : op->getOperands())
    if (std::string reason = checkSlice(operand, planned); !reason.empty())
      return reason;
  return "";
}

std::string Specializer::planCopy(CopyOp copy) {
  PlannedCopy planned;
  planned.copy = copy;
  planned.buffer = copy.getDest().getDefiningOp<AllocOp>();
  if (copy.getAsync())
    return "it is asynchronous already";
  if (!planned.buffer || planned.buffer->getBlock() != copy->getBlock())
    return "its buffer is not allocated beside it";
  if (planned.buffer.getOffset())
    return "the offset of its buffer is pinned";
  std::string reason =
      findReaders(copy, planned.buffer, planned.first, planned.last);
  if (!reason.empty())
    return reason;

  if (planned.buffer.getType().getRank() > 2)
    return "its tile has more than two dimensions";
  reason = findArgumentTile(copy.getSource(), copy.getIndices(), planned);
  if (!reason.empty())
    return reason;
  reason = getTensorMapObstacle(cast<BufferType>(planned.argument.getType()),
                                planned.dims, planned.buffer.getType());
  if (!reason.empty())
    return reason;
  for (Value index : planned.indices)
    if (reason = checkSlice(index, planned); !reason.empty())
      return reason;

  bool repeats = false;
  int64_t stages = 0;
  for (Operation *parent = copy->getParentOp(); parent != kernel;
       parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return "it is inside '" + parent->getName().getStringRef().str() + "'";
    for (Value bound :
         {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (reason = checkSlice(bound, planned); !reason.empty())
        return "a loop around it: " + reason;
    repeats = true;
    if (auto pinned =
            loop->getAttrOfType<IntegerAttr>(TileDialect::kStagesAttr))
      stages = std::max(stages, pinned.getInt());
  }
  auto ring = llvm::find_if(rings, [&](const Ring &ring) {
    return ring.argument == planned.argument &&
           ring.tile == planned.buffer.getType();
  });
  bool isNew = ring == rings.end();
  if (isNew) {
    Ring fresh;
    fresh.argument = planned.argument;
    fresh.tile = planned.buffer.getType();
    rings.push_back(fresh);
    ring = std::prev(rings.end());
  }
  if (repeats || !isNew) {
    ring->counted = true;
    ring->stages = std::max(ring->stages, stages ? stages : 2);
  }
  planned.ring = ring - rings.begin();
  copies.insert({copy, planned});
  return "";
}

/// The tiles of a ring that are in use at once must fit it.
std::string Specializer::checkRing(const PlannedCopy &planned) {
  CopyOp copy = planned.copy;
  AllocOp buffer = planned.buffer;
  for (Operation *op = buffer->getNextNode(); op != copy.getOperation();
       op = op->getNextNode())
    if (!op || find(op))
      return "another copy is issued before it fills its buffer";
  int64_t others = 0;
  for (Operation *op = copy->getNextNode(); op; op = op->getNextNode()) {
    bool isLast = op == planned.last;
    const PlannedCopy *other = find(op);
    others += other && other->ring == planned.ring;
    bool nested = false;
    if (op->getNumRegions() != 0)
      op->walk([&](Operation *inner) {
        const PlannedCopy *other = find(inner);
        nested |= other && other->ring == planned.ring;
      });
    if (nested || others >= rings[planned.ring].stages)
      return "more tiles are in use at once than the ring has stages";
    if (isLast)
      break;
  }
  return "";
}

std::string Specializer::analyse() {
  for (Operation &op : kernel.getBody().front())
    if (isOutside(&op))
      outside.insert(&op);
  std::string reason;
  Operation *where = nullptr;
  kernel.walk([&](Operation *op) {
    if (isa<BarrierOp, WaitGroupOp, CommitGroupOp, WarpRolesOp>(op))
      reason = "its author has synchronised it already";
    else if (auto copy = dyn_cast<CopyOp>(op))
      reason = planCopy(copy);
    where = op;
    return reason.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (reason.empty() && copies.empty())
    return "it copies nothing from global to shared memory";
  // Stages are iterations: some may take several tiles of a ring.
  for (auto [number, ring] : llvm::enumerate(rings)) {
    llvm::SmallDenseMap<Block *, int64_t> together;
    int64_t most = 1;
    for (auto &[copy, planned] : copies)
      if (planned.ring == number && isa<scf::ForOp>(copy->getParentOp()))
        most = std::max(most, ++together[copy->getBlock()]);
    if (ring.stages > 1)
      ring.stages *= most;
  }
  for (auto &[copy, planned] : copies)
    if (reason.empty())
      reason = checkRing(planned);
  return reason;
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

std::pair<Value, Value> Specializer::locate(const Ring &ring, Value count) {
  if (!ring.counted)
    return {constant(0), constant(0)};
  Value stages = number(ring.stages);
  Value slot = arith::RemUIOp::create(rewriter, loc, count, stages);
  Value round = arith::DivUIOp::create(rewriter, loc, count, stages);
  Value phase = arith::RemUIOp::create(rewriter, loc, round, number(2));
  auto index = [&](Value value) -> Value {
    return arith::IndexCastUIOp::create(rewriter, loc, rewriter.getIndexType(),
                                        value);
  };
  return {index(slot), index(phase)};
}

Value Specializer::slotOf(const Ring &ring, Value slot) {
  if (ring.stages == 1)
    return ring.buffers;
  SmallVector<Value> indices(
      cast<BufferType>(ring.buffers.getType()).getRank());
  indices[0] = slot;
  return SliceOp::create(rewriter, loc, ring.buffers, indices);
}

void Specializer::makeRings() {
  MLIRContext *context = rewriter.getContext();
  auto barriers = [&](int64_t count) {
    return BufferType::get(context, {count}, rewriter.getI64Type(),
                           cast<LayoutAttrInterface>(Attribute(PaddedAttr::get(
                               context, 0, ArrayRef<int64_t>{0}))),
                           MemorySpace::Shared);
  };
  for (Ring &ring : rings) {
    BufferType type =
        ring.stages > 1 ? getRingType(ring.tile, ring.stages) : ring.tile;
    auto alloc = [&](BufferType type) -> Value {
      return AllocOp::create(rewriter, loc, type, IntegerAttr());
    };
    ring.buffers = alloc(type);
    ring.full = alloc(barriers(ring.stages));
    InitBarriersOp::create(rewriter, loc, ring.full, 1);
    if (!ring.counted)
      continue;
    ring.empty = alloc(barriers(ring.stages));
    InitBarriersOp::create(rewriter, loc, ring.empty, kernel.getNumWarps());
  }
  BarrierOp::create(rewriter, loc);
}

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

/// The rings that are counted in the regions of `op`.
SmallVector<unsigned> Specializer::countedIn(Operation *op) {
  llvm::BitVector used(rings.size());
  op->walk([&](Operation *inner) {
    if (const PlannedCopy *planned = find(inner))
      if (rings[planned->ring].counted)
        used.set(planned->ring);
  });
  return SmallVector<unsigned>(used.set_bits_begin(), used.set_bits_end());
}

/// `value` in the producer.
Value Specializer::materialize(Value value, IRMapping &mapping) {
  if (Value mapped = mapping.lookupOrNull(value))
    return mapped;
  Operation *op = value.getDefiningOp();
  if (!op || outside.contains(op))
    return value;
  for (Value operand : op->getOperands())
    mapping.map(operand, materialize(operand, mapping));
  rewriter.clone(*op, mapping);
  return mapping.lookup(value);
}

void Specializer::produce(Block &from, IRMapping &mapping, Counts &counts) {
  for (Operation &op : from) {
    if (const PlannedCopy *planned = find(&op)) {
      const Ring &ring = rings[planned->ring];
      Value &count = counts[planned->ring];
      auto [slot, phase] = locate(ring, count);
      SmallVector<Value> indices;
      for (Value index : planned->indices)
        indices.push_back(materialize(index, mapping));
      if (ring.counted) {
        // Where the only buffer is in use until then, to the second-level
        // cache.
        if (ring.stages == 1)
          BulkPrefetchOp::create(rewriter, op.getLoc(), planned->argument,
                                 indices, planned->dims, ring.tile);
        Value before = arith::SubIOp::create(rewriter, loc, constant(1), phase);
        WaitBarrierOp::create(rewriter, op.getLoc(), ring.empty, slot, before);
        count = arith::AddIOp::create(rewriter, loc, count, number(1));
      }
      BulkCopyOp::create(rewriter, op.getLoc(), planned->argument, indices,
                         planned->dims, slotOf(ring, slot), ring.full, slot);
      continue;
    }
    if (isa<WaitPrerequisitesOp>(op)) {
      rewriter.clone(op);
      continue;
    }
    auto loop = dyn_cast<scf::ForOp>(op);
    bool copiesInside = false;
    if (loop)
      loop.walk([&](CopyOp) { copiesInside = true; });
    if (!copiesInside)
      continue;
    SmallVector<unsigned> used = countedIn(loop);
    SmallVector<Value> inits =
        llvm::map_to_vector(used, [&](unsigned ring) { return counts[ring]; });
    auto copy = scf::ForOp::create(rewriter, loop.getLoc(),
                                   materialize(loop.getLowerBound(), mapping),
                                   materialize(loop.getUpperBound(), mapping),
                                   materialize(loop.getStep(), mapping), inits);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(copy.getBody());
      // What is cloned inside is not visible after the loop.
      IRMapping inner = mapping;
      inner.map(loop.getInductionVar(), copy.getInductionVar());
      Counts innerCounts = counts;
      for (auto [i, ring] : llvm::enumerate(used))
        innerCounts[ring] = copy.getRegionIterArgs()[i];
      produce(*loop.getBody(), inner, innerCounts);
      SmallVector<Value> yields = llvm::map_to_vector(
          used, [&](unsigned ring) { return innerCounts[ring]; });
      if (inits.empty())
        continue; // the builder has terminated the loop
      scf::YieldOp::create(rewriter, loop.getLoc(), yields);
    }
    for (auto [i, ring] : llvm::enumerate(used))
      counts[ring] = copy.getResult(i);
  }
}

//===----------------------------------------------------------------------===//
// The consumers
//===----------------------------------------------------------------------===//

void Specializer::consume(Block &block, Counts &counts) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (const PlannedCopy *planned = find(&op)) {
      const Ring &ring = rings[planned->ring];
      Value &count = counts[planned->ring];
      AllocOp buffer = planned->buffer;
      rewriter.setInsertionPoint(buffer);
      auto [slot, phase] = locate(ring, count);
      Value tile = slotOf(ring, slot);
      if (ring.counted)
        count = arith::AddIOp::create(rewriter, loc, count, number(1));
      rewriter.setInsertionPoint(planned->first);
      WaitBarrierOp::create(rewriter, op.getLoc(), ring.full, slot, phase);
      if (ring.counted) {
        rewriter.setInsertionPointAfter(planned->last);
        // What threads have read, the copy engine overwrites by another path.
        if (llvm::any_of(getBufferUsers(buffer),
                         [](Operation *user) { return isa<LoadOp>(user); }))
          FenceAsyncOp::create(rewriter, op.getLoc());
        ArriveBarrierOp::create(rewriter, op.getLoc(), ring.empty, slot);
      }
      rewriter.eraseOp(&op);
      rewriter.replaceOp(buffer, tile);
      continue;
    }
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      continue;
    loop->removeAttr(TileDialect::kStagesAttr);
    SmallVector<unsigned> used = countedIn(loop);
    if (used.empty()) {
      consume(*loop.getBody(), counts);
      continue;
    }
    SmallVector<Value> inits =
        llvm::map_to_vector(used, [&](unsigned ring) { return counts[ring]; });
    DictionaryAttr attributes = loop->getDiscardableAttrDictionary();
    rewriter.setInsertionPoint(loop);
    FailureOr<LoopLikeOpInterface> counted = loop.replaceWithAdditionalYields(
        rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &, Location, ArrayRef<BlockArgument> numbers) {
          return SmallVector<Value>(numbers.begin(), numbers.end());
        });
    loop = cast<scf::ForOp>(counted->getOperation());
    loop->setDiscardableAttrs(attributes);
    Counts inner = counts;
    size_t first = loop.getNumRegionIterArgs() - used.size();
    for (auto [i, ring] : llvm::enumerate(used))
      inner[ring] = loop.getRegionIterArgs()[first + i];
    consume(*loop.getBody(), inner);
    for (auto [i, ring] : llvm::enumerate(used)) {
      loop.getBody()->getTerminator()->setOperand(first + i, inner[ring]);
      counts[ring] = loop.getResult(first + i);
    }
  }
}

/// Every role computes scalars for itself: in common they would be kept in
/// registers where the roles begin, of which one that copies has few.
IRMapping Specializer::copyOutside(Block &role) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&role);
  IRMapping mapping;
  for (Operation &op : kernel.getBody().front())
    if (outside.contains(&op) && !isa<GridOp>(op))
      rewriter.clone(op, mapping);
  return mapping;
}

void Specializer::run() {
  Block &body = kernel.getBody().front();
  rewriter.setInsertionPoint(body.getTerminator());
  SmallVector<int32_t> warps{int32_t(kernel.getNumWarps()),
                             int32_t(producerWarps)};
  auto registers =
      kernel->getAttrOfType<DenseI32ArrayAttr>(TileDialect::kRegistersAttr);
  kernel->removeAttr(TileDialect::kRegistersAttr);
  kernel->removeAttr(TileDialect::kProducerWarpsAttr);
  SmallVector<Operation *> inside;
  for (Operation &op : body.without_terminator())
    if (!outside.contains(&op) && !isa<LaunchDependentsOp>(op))
      inside.push_back(&op);
  makeRings();
  auto roles =
      WarpRolesOp::create(rewriter, loc, rewriter.getDenseI32ArrayAttr(warps),
                          registers, /*rolesCount=*/2);
  Block &consumers = roles.getRoles()[0].emplaceBlock();
  Block &producer = roles.getRoles()[1].emplaceBlock();

  rewriter.setInsertionPoint(roles);
  Value zero = number(0);
  Counts counts(rings.size(), zero);
  for (Operation *op : inside)
    op->moveBefore(&consumers, consumers.end());
  IRMapping mapping = copyOutside(producer);
  rewriter.setInsertionPointToEnd(&producer);
  produce(consumers, mapping, counts);
  IRMapping own = copyOutside(consumers);
  for (auto [value, copy] : own.getValueMap())
    rewriter.replaceUsesWithIf(value, copy, [&](OpOperand &use) {
      return roles.getRoles()[0].isAncestor(use.getOwner()->getParentRegion());
    });
  counts.assign(rings.size(), zero);
  consume(consumers, counts);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (outside.contains(&op) && isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static remark::RemarkOpts remarkName(StringRef name) {
  return remark::RemarkOpts::name(name).category("tile-specialize-warps");
}

namespace {
struct SpecializeWarps : tile::impl::TileSpecializeWarpsBase<SpecializeWarps> {
  using TileSpecializeWarpsBase::TileSpecializeWarpsBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    Attribute asked = kernel->getAttr(TileDialect::kProducerWarpsAttr);
    if (!asked)
      return;
    auto warps = dyn_cast<IntegerAttr>(asked);
    auto registers = kernel->getAttr(TileDialect::kRegistersAttr);
    if (!warps || warps.getInt() < 1 ||
        (registers && !isa<DenseI32ArrayAttr>(registers))) {
      kernel.emitOpError() << "needs a positive number as "
                           << TileDialect::kProducerWarpsAttr
                           << " and numbers as " << TileDialect::kRegistersAttr;
      return signalPassFailure();
    }
    const Chip *chip = getTargetChip(kernel);
    if (!chip || failed(verifySharedBuffers(kernel)))
      return signalPassFailure();
    std::string reason = attempt(kernel, warps.getInt(), *chip);
    if (reason.empty())
      return;
    kernel->removeAttr(TileDialect::kProducerWarpsAttr);
    kernel->removeAttr(TileDialect::kRegistersAttr);
    remark::missed(kernel.getLoc(), remarkName("warps-not-specialized"))
        << remark::reason("{0}", reason);
  }

private:
  /// Specialises the kernel, or says why not.
  static std::string attempt(KernelOp kernel, int64_t warps, const Chip &chip) {
    if (!chip.bulkCopy)
      return chip.name.str() + " has no copy engine";
    Specializer specializer(kernel, warps);
    std::string reason = specializer.analyse();
    if (!reason.empty())
      return reason;
    OwningOpRef<KernelOp> trial = kernel.clone();
    Specializer rehearsal(*trial, warps);
    (void)rehearsal.analyse();
    rehearsal.run();
    int64_t bytes = planSharedMemoryWithin(*trial, chip.sharedBytes).bytes;
    if (bytes > chip.sharedBytes)
      return "its rings take " + std::to_string(bytes) +
             " bytes of shared memory; " + chip.name.str() + " has " +
             std::to_string(chip.sharedBytes);
    specializer.run();
    int64_t stages = 1;
    for (const Ring &ring : specializer.getRings())
      stages = std::max(stages, ring.stages);
    remark::passed(kernel.getLoc(), remarkName("warps-specialized"))
        << remark::metric("rings", int64_t(specializer.getRings().size()))
        << remark::metric("stages", stages);
    return "";
  }
};
} // namespace
