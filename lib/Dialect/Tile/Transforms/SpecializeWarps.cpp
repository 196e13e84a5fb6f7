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
// Sums that loops add to memory may leave through a ring the other way: a third
// role, the slice that needs, lets the copy engine add them.
//
//===----------------------------------------------------------------------===//

#include "ArgumentTile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/BulkRuns.h"
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
  /// Where they come from; null where they leave.
  BlockArgument argument;
  BufferType tile;
  int64_t stages = 1;
  /// Whether tiles are counted; else there is one in all.
  bool counted = false;
  Value buffers, full, empty;

  bool leaves() const { return !argument; }
};

/// What the attributes of a kernel ask for.
struct Warps {
  int64_t producers, storers;
};

/// Numbers of tiles, one i32 per ring.
using Counts = SmallVector<Value>;

class Specializer {
public:
  /// With `takesSums`, sums leave by the copy engine, from the storing warps.
  Specializer(KernelOp kernel, Warps warps, bool takesSums)
      : rewriter(kernel.getContext()), kernel(kernel), loc(kernel.getLoc()),
        warps(warps), takesSums(takesSums) {}

  /// Says why the kernel cannot be specialised, or nothing.
  std::string analyse();
  void run();

  ArrayRef<Ring> getRings() const { return rings; }
  /// The sums that leave by the copy engine.
  const llvm::MapVector<Operation *, unsigned> &getSums() const { return sums; }
  /// Those that do not, and why.
  ArrayRef<std::pair<Operation *, std::string>> getOtherSums() const {
    return otherSums;
  }

private:
  std::string planCopy(CopyOp copy);
  std::string planSum(AtomicRMWOp sum);
  std::string checkSlice(Value value);
  std::string checkLoops(Operation *op, int64_t &stages, bool &repeats);
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
  void follow(Block &from, bool leaving, IRMapping &mapping, Counts &counts);
  void fill(const PlannedCopy &planned, IRMapping &mapping, Counts &counts);
  void add(AtomicRMWOp sum, IRMapping &mapping, Counts &counts);
  void addRole(Block &consumers, Block &role, bool leaving);
  void consume(Block &block, Counts &counts);
  void take(const PlannedCopy &planned, Counts &counts);
  void hand(AtomicRMWOp sum, Counts &counts);
  SmallVector<unsigned> countedIn(Operation *op, std::optional<bool> leaving);
  std::optional<unsigned> ringOf(Operation *op);
  const PlannedCopy *find(Operation *op) {
    auto copy = dyn_cast<CopyOp>(op);
    auto it = copy ? copies.find(copy) : copies.end();
    return it == copies.end() ? nullptr : &it->second;
  }

  IRRewriter rewriter;
  KernelOp kernel;
  Location loc;
  Warps warps;
  bool takesSums;
  llvm::MapVector<Operation *, PlannedCopy> copies;
  /// The ring of each.
  llvm::MapVector<Operation *, unsigned> sums;
  SmallVector<std::pair<Operation *, std::string>> otherSums;
  SmallVector<Ring> rings;
  llvm::DenseSet<Operation *> outside;
  /// Where all counts begin.
  Value zero;
};
} // namespace

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

/// Scalars that all roles may compute for themselves, or read from arguments
/// that nobody writes.
bool Specializer::isOutside(Operation *op) {
  auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
  auto readsConstant = [&](LoadScalarOp load) {
    auto argument = dyn_cast<BlockArgument>(load.getBuffer());
    return argument && llvm::all_of(argument.getUsers(), [](Operation *user) {
             return isa<LoadScalarOp, DimOp>(user);
           });
  };
  auto load = dyn_cast<LoadScalarOp>(op);
  return isa<GridOp>(op) ||
         (op->getNumRegions() == 0 &&
          (isMemoryEffectFree(op) || (load && readsConstant(load))) &&
          !op->hasTrait<OpTrait::IsTerminator>() &&
          llvm::none_of(op->getResultTypes(), isTile) &&
          llvm::all_of(op->getOperands(), [&](Value operand) {
            Operation *source = operand.getDefiningOp();
            return !source || outside.contains(source);
          }));
}

/// What other roles depend on must be known without waiting for anything.
std::string Specializer::checkSlice(Value value) {
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
    if (std::string reason = checkSlice(operand); !reason.empty())
      return reason;
  return "";
}

/// The loops around `op` must be known, too. `stages` is what their authors ask
/// for.
std::string Specializer::checkLoops(Operation *op, int64_t &stages,
                                    bool &repeats) {
  for (Operation *parent = op->getParentOp(); parent != kernel;
       parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return "it is inside '" + parent->getName().getStringRef().str() + "'";
    for (Value bound :
         {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (std::string reason = checkSlice(bound); !reason.empty())
        return "a loop around it: " + reason;
    repeats = true;
    if (auto pinned =
            loop->getAttrOfType<IntegerAttr>(TileDialect::kStagesAttr))
      stages = std::max(stages, pinned.getInt());
  }
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
  reason = findArgumentTile(copy.getSource(), copy.getIndices(),
                            planned.buffer.getType(), planned);
  if (!reason.empty())
    return reason;
  SmallVector<Value> place = planned.indices;
  if (planned.isRagged())
    place.append({planned.start, planned.length});
  for (Value value : place)
    if (reason = checkSlice(value); !reason.empty())
      return reason;
  bool repeats = false;
  int64_t stages = 0;
  reason = checkLoops(copy, stages, repeats);
  if (!reason.empty())
    return reason;
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

/// Bytes that are worth an instruction of the copy engine.
static constexpr int64_t kWorthwhileBytes = 512;

std::string Specializer::planSum(AtomicRMWOp sum) {
  auto value = cast<RankedTensorType>(sum.getValue().getType());
  BufferType buffer = sum.getBuffer().getType();
  if (sum.getKind() != arith::AtomicRMWKind::addf || sum.getResult() ||
      sum.getOrder() != MemoryOrder::Relaxed ||
      sum.getScope() != MemoryScope::Device)
    return "the copy engine adds floats, relaxed, in the scope of the device, "
           "and returns nothing";
  int64_t stages = 0;
  bool repeats = false;
  if (std::string reason = checkLoops(sum, stages, repeats); !reason.empty())
    return reason;
  if (!repeats)
    return "nothing runs beside it, which is in no loop";
  for (Value place : llvm::concat<Value>(ValueRange(sum.getBuffer()),
                                         ValueRange(sum.getIndices())))
    if (std::string reason = checkSlice(place); !reason.empty())
      return reason;
  // Where elements have one order in both memories, it is that of the buffer.
  LayoutAttrInterface layout = buffer.getLayout();
  if (isa<StridedAttr>(layout)) {
    SmallVector<int64_t> order(
        llvm::reverse(llvm::seq<int64_t>(0, buffer.getRank())));
    layout = PaddedAttr::get(rewriter.getContext(), 0, order);
  }
  auto quiet = [&] {
    InFlightDiagnostic diag = emitError(UnknownLoc::get(kernel.getContext()));
    diag.abandon();
    return diag;
  };
  auto tile = BufferType::getChecked(quiet, rewriter.getContext(),
                                     value.getShape(), value.getElementType(),
                                     layout, MemorySpace::Shared);
  if (!tile)
    return "its tile cannot lie in shared memory as it does in its buffer";
  BulkRuns runs =
      findBulkRuns(tile, {buffer, ValueRange(sum.getIndices()), "its buffer"});
  if (!runs.obstacle.empty())
    return runs.obstacle;
  for (const BulkRun &run : runs.runs)
    if (int64_t bytes = run.count * tile.getElementBits() / 8;
        bytes < kWorthwhileBytes)
      return "only " + std::to_string(bytes) +
             " bytes at a time are neighbours in its buffer";
  auto ring = llvm::find_if(rings, [&](const Ring &ring) {
    return ring.leaves() && ring.tile == tile;
  });
  if (ring == rings.end()) {
    Ring fresh;
    fresh.tile = tile;
    fresh.counted = true;
    rings.push_back(fresh);
    ring = std::prev(rings.end());
  }
  sums[sum] = ring - rings.begin();
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
  if (!reason.empty() || !takesSums)
    return reason;
  kernel.walk([&](AtomicRMWOp sum) {
    if (std::string obstacle = planSum(sum); !obstacle.empty())
      otherSums.push_back({sum, obstacle});
  });
  return "";
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
    // All warps that compute arrive, or the one thread of another role.
    int64_t warps = kernel.getNumWarps();
    InitBarriersOp::create(rewriter, loc, ring.full, ring.leaves() ? warps : 1);
    if (!ring.counted)
      continue;
    ring.empty = alloc(barriers(ring.stages));
    InitBarriersOp::create(rewriter, loc, ring.empty,
                           ring.leaves() ? 1 : warps);
  }
  BarrierOp::create(rewriter, loc);
}

//===----------------------------------------------------------------------===//
// Other roles
//===----------------------------------------------------------------------===//

/// The ring of what goes through one.
std::optional<unsigned> Specializer::ringOf(Operation *op) {
  if (const PlannedCopy *planned = find(op))
    return planned->ring;
  // Others may lie where one lay that has been replaced.
  auto sum = isa<AtomicRMWOp>(op) ? sums.find(op) : sums.end();
  return sum == sums.end() ? std::nullopt : std::optional(sum->second);
}

/// The rings that are counted in the regions of `op`: those that leave or do
/// not, or all.
SmallVector<unsigned> Specializer::countedIn(Operation *op,
                                             std::optional<bool> leaving) {
  llvm::BitVector used(rings.size());
  op->walk([&](Operation *inner) {
    if (std::optional<unsigned> ring = ringOf(inner))
      if (rings[*ring].counted &&
          leaving.value_or(rings[*ring].leaves()) == rings[*ring].leaves())
        used.set(*ring);
  });
  return SmallVector<unsigned>(used.set_bits_begin(), used.set_bits_end());
}

/// `value` in another role.
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

/// Starts a copy once its slot is empty.
void Specializer::fill(const PlannedCopy &planned, IRMapping &mapping,
                       Counts &counts) {
  const Ring &ring = rings[planned.ring];
  Location where = planned.copy->getLoc();
  Value &count = counts[planned.ring];
  auto [slot, phase] = locate(ring, count);
  SmallVector<Value> indices;
  for (Value index : planned.indices)
    indices.push_back(materialize(index, mapping));
  if (ring.counted) {
    // Where the only buffer is in use until then, to the second-level cache.
    if (ring.stages == 1 && !planned.isRagged())
      BulkPrefetchOp::create(rewriter, where, planned.argument, indices,
                             planned.dims, ring.tile);
    Value before = arith::SubIOp::create(rewriter, loc, constant(1), phase);
    WaitBarrierOp::create(rewriter, where, ring.empty, slot, before);
    count = arith::AddIOp::create(rewriter, loc, count, number(1));
  }
  Value start, length;
  if (planned.isRagged()) {
    start = materialize(planned.start, mapping);
    length = materialize(planned.length, mapping);
  }
  BulkCopyOp::create(rewriter, where, planned.argument, indices, planned.dims,
                     start, length, slotOf(ring, slot), ring.full, slot);
}

/// Adds what is in a slot once it is full.
void Specializer::add(AtomicRMWOp sum, IRMapping &mapping, Counts &counts) {
  unsigned number = *ringOf(sum);
  const Ring &ring = rings[number];
  Location where = sum.getLoc();
  Value &count = counts[number];
  auto [slot, phase] = locate(ring, count);
  count = arith::AddIOp::create(rewriter, loc, count, this->number(1));
  Value buffer = materialize(sum.getBuffer(), mapping);
  SmallVector<Value> indices;
  for (Value index : sum.getIndices())
    indices.push_back(materialize(index, mapping));
  WaitBarrierOp::create(rewriter, where, ring.full, slot, phase);
  BulkAddOp::create(rewriter, where, slotOf(ring, slot), buffer, indices);
  BulkWaitOp::create(rewriter, where, /*pending=*/0, /*read=*/true);
  ArriveBarrierOp::create(rewriter, where, ring.empty, slot);
}

/// The loops of `from` with what fills the rings or, `leaving`, empties them.
void Specializer::follow(Block &from, bool leaving, IRMapping &mapping,
                         Counts &counts) {
  auto isMine = [&](Operation *op) {
    std::optional<unsigned> ring = ringOf(op);
    return ring && rings[*ring].leaves() == leaving;
  };
  for (Operation &op : from) {
    if (isMine(&op)) {
      if (const PlannedCopy *planned = find(&op))
        fill(*planned, mapping, counts);
      else
        add(cast<AtomicRMWOp>(op), mapping, counts);
      continue;
    }
    if (isa<WaitPrerequisitesOp>(op)) {
      rewriter.clone(op);
      continue;
    }
    auto loop = dyn_cast<scf::ForOp>(op);
    bool any = false;
    if (loop)
      loop.walk([&](Operation *inner) { any |= isMine(inner); });
    if (!any)
      continue;
    SmallVector<unsigned> used = countedIn(loop, leaving);
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
      follow(*loop.getBody(), leaving, inner, innerCounts);
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
// The role that computes
//===----------------------------------------------------------------------===//

/// Takes a tile out of its ring and gives its slot back.
void Specializer::take(const PlannedCopy &planned, Counts &counts) {
  const Ring &ring = rings[planned.ring];
  CopyOp copy = planned.copy;
  Location where = copy.getLoc();
  Value &count = counts[planned.ring];
  AllocOp buffer = planned.buffer;
  rewriter.setInsertionPoint(buffer);
  auto [slot, phase] = locate(ring, count);
  Value tile = slotOf(ring, slot);
  if (ring.counted)
    count = arith::AddIOp::create(rewriter, loc, count, number(1));
  rewriter.setInsertionPoint(planned.first);
  WaitBarrierOp::create(rewriter, where, ring.full, slot, phase);
  if (ring.counted) {
    rewriter.setInsertionPointAfter(planned.last);
    // What threads have read, the copy engine overwrites by another path.
    if (llvm::any_of(getBufferUsers(buffer),
                     [](Operation *user) { return isa<LoadOp>(user); }))
      FenceAsyncOp::create(rewriter, where);
    ArriveBarrierOp::create(rewriter, where, ring.empty, slot);
  }
  rewriter.eraseOp(copy);
  rewriter.replaceOp(buffer, tile);
}

/// Puts a sum into an empty slot of its ring.
void Specializer::hand(AtomicRMWOp sum, Counts &counts) {
  unsigned number = *ringOf(sum);
  const Ring &ring = rings[number];
  Location where = sum.getLoc();
  Value &count = counts[number];
  rewriter.setInsertionPoint(sum);
  auto [slot, phase] = locate(ring, count);
  Value tile = slotOf(ring, slot);
  count = arith::AddIOp::create(rewriter, loc, count, this->number(1));
  Value before = arith::SubIOp::create(rewriter, loc, constant(1), phase);
  WaitBarrierOp::create(rewriter, where, ring.empty, slot, before);
  SmallVector<Value> origin(ring.tile.getRank(), constant(0));
  StoreOp::create(rewriter, where, sum.getValue(), tile, origin);
  FenceAsyncOp::create(rewriter, where);
  ArriveBarrierOp::create(rewriter, where, ring.full, slot);
  rewriter.eraseOp(sum);
}

void Specializer::consume(Block &block, Counts &counts) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (const PlannedCopy *planned = find(&op)) {
      take(*planned, counts);
      continue;
    }
    if (ringOf(&op)) {
      hand(cast<AtomicRMWOp>(op), counts);
      continue;
    }
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      continue;
    loop->removeAttr(TileDialect::kStagesAttr);
    SmallVector<unsigned> used = countedIn(loop, /*leaving=*/std::nullopt);
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

void Specializer::addRole(Block &consumers, Block &role, bool leaving) {
  OpBuilder::InsertionGuard guard(rewriter);
  IRMapping mapping = copyOutside(role);
  Counts counts(rings.size(), zero);
  rewriter.setInsertionPointToEnd(&role);
  follow(consumers, leaving, mapping, counts);
}

void Specializer::run() {
  Block &body = kernel.getBody().front();
  rewriter.setInsertionPoint(body.getTerminator());
  SmallVector<int32_t> counts{int32_t(kernel.getNumWarps()),
                              int32_t(warps.producers)};
  SmallVector<int32_t> registers;
  if (auto asked =
          kernel->getAttrOfType<DenseI32ArrayAttr>(TileDialect::kRegistersAttr))
    llvm::append_range(registers, asked.asArrayRef());
  kernel->removeAttr(TileDialect::kRegistersAttr);
  kernel->removeAttr(TileDialect::kProducerWarpsAttr);
  kernel->removeAttr(TileDialect::kStoringWarpsAttr);
  if (sums.empty()) {
    counts.back() += warps.storers;
  } else {
    counts.push_back(warps.storers);
    if (!registers.empty())
      registers.push_back(registers.back());
  }
  SmallVector<Operation *> inside;
  for (Operation &op : body.without_terminator())
    if (!outside.contains(&op) && !isa<LaunchDependentsOp>(op))
      inside.push_back(&op);
  makeRings();
  zero = number(0);
  auto roles = WarpRolesOp::create(
      rewriter, loc, rewriter.getDenseI32ArrayAttr(counts),
      registers.empty() ? DenseI32ArrayAttr()
                        : rewriter.getDenseI32ArrayAttr(registers),
      counts.size());
  Block &consumers = roles.getRoles()[0].emplaceBlock();
  for (Operation *op : inside)
    op->moveBefore(&consumers, consumers.end());
  addRole(consumers, roles.getRoles()[1].emplaceBlock(), /*leaving=*/false);
  if (!sums.empty())
    addRole(consumers, roles.getRoles()[2].emplaceBlock(), /*leaving=*/true);
  IRMapping own = copyOutside(consumers);
  for (auto [value, copy] : own.getValueMap())
    rewriter.replaceUsesWithIf(value, copy, [&](OpOperand &use) {
      return roles.getRoles()[0].isAncestor(use.getOwner()->getParentRegion());
    });
  Counts numbers(rings.size(), zero);
  consume(consumers, numbers);
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
    Attribute storing = kernel->getAttr(TileDialect::kStoringWarpsAttr);
    if (!asked && !storing)
      return;
    auto producers = dyn_cast_or_null<IntegerAttr>(asked);
    auto storers = dyn_cast_or_null<IntegerAttr>(storing);
    auto registers = kernel->getAttr(TileDialect::kRegistersAttr);
    if (!producers || producers.getInt() < 1 ||
        (storing && (!storers || storers.getInt() < 0)) ||
        (registers && !isa<DenseI32ArrayAttr>(registers))) {
      kernel.emitOpError() << "needs a positive number as "
                           << TileDialect::kProducerWarpsAttr
                           << ", one that is not negative as "
                           << TileDialect::kStoringWarpsAttr
                           << " and numbers as " << TileDialect::kRegistersAttr;
      return signalPassFailure();
    }
    const Chip *chip = getTargetChip(kernel);
    if (!chip || failed(verifySharedBuffers(kernel)))
      return signalPassFailure();
    Warps warps{producers.getInt(), storers ? storers.getInt() : 0};
    std::string reason = attempt(kernel, warps, *chip);
    if (reason.empty())
      return;
    for (StringRef attribute :
         {TileDialect::kProducerWarpsAttr, TileDialect::kStoringWarpsAttr,
          TileDialect::kRegistersAttr})
      kernel->removeAttr(attribute);
    remark::missed(kernel.getLoc(), remarkName("warps-not-specialized"))
        << remark::reason("{0}", reason);
  }

private:
  /// Specialises the kernel, or says why not.
  static std::string attempt(KernelOp kernel, Warps warps, const Chip &chip) {
    if (!chip.bulkCopy)
      return chip.name.str() + " has no copy engine";
    std::string reason;
    for (bool takesSums : {warps.storers != 0, false}) {
      Specializer specializer(kernel, warps, takesSums);
      reason = specializer.analyse();
      if (!reason.empty())
        return reason;
      int64_t bytes = rehearse(kernel, warps, takesSums);
      if (bytes <= chip.sharedBytes) {
        for (auto [sum, obstacle] : specializer.getOtherSums())
          remarkSum(sum, obstacle);
        finish(kernel, specializer);
        return "";
      }
      reason = "its rings take " + std::to_string(bytes) +
               " bytes of shared memory; " + chip.name.str() + " has " +
               std::to_string(chip.sharedBytes);
      for (auto [sum, ring] : specializer.getSums())
        remarkSum(sum, "with the tiles that it would leave from, " + reason);
    }
    return reason;
  }

  /// The bytes that the specialised kernel takes.
  static int64_t rehearse(KernelOp kernel, Warps warps, bool takesSums) {
    const Chip &chip = *getTargetChip(kernel);
    OwningOpRef<KernelOp> trial = kernel.clone();
    Specializer rehearsal(*trial, warps, takesSums);
    (void)rehearsal.analyse();
    rehearsal.run();
    return planSharedMemoryWithin(*trial, chip.sharedBytes).bytes;
  }

  static void remarkSum(Operation *sum, const std::string &obstacle) {
    remark::missed(sum->getLoc(), remarkName("sum-from-registers"))
        << remark::reason("{0}", obstacle);
  }

  static void finish(KernelOp kernel, Specializer &specializer) {
    specializer.run();
    int64_t stages = 1;
    for (const Ring &ring : specializer.getRings())
      stages = std::max(stages, ring.stages);
    remark::passed(kernel.getLoc(), remarkName("warps-specialized"))
        << remark::metric("rings", int64_t(specializer.getRings().size()))
        << remark::metric("stages", stages);
  }
};
} // namespace
