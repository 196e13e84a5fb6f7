//===- CopyAhead.cpp - Loads ahead through shared memory ------------------===//

#include "../Access/VectorAccess.h"
#include "RowCopies.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "tile/Analysis/RolePlan.h"
#include "tile/Analysis/RunAhead.h"
#include "tile/Conversion/TileToGPU/Passes.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace tile {
#define GEN_PASS_DEF_TILECOPYAHEAD
#include "tile/Conversion/TileToGPU/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Bytes of the widest access of a thread to a slot, which are beside those of
/// the next thread.
static constexpr int64_t kAccessBytes = 16;

/// Bytes that all banks of shared memory deliver at a time (NVIDIA, "CUDA C++
/// Programming Guide", "Shared Memory"). A warp whose access crosses such a
/// line takes one pass more.
static constexpr int64_t kBankLineBytes = 128;

/// Bytes of the narrowest asynchronous copy (PTX ISA, "cp.async").
static constexpr int64_t kLeastCopyBytes = 4;

/// The registers that the vectors of an iteration may take as f32 while threads
/// wait for each other.
static constexpr int64_t kKeptRegisters = 16;

/// The registers of a thread for addresses, and for the parts of vectors that
/// elementwise operations compute.
static constexpr int64_t kOtherRegisters = 64;

/// The fewest elements of a vector from before the loop that moves to shared
/// memory.
static constexpr int64_t kLeastInvariant = 8;

namespace {
/// A vector or a number that a loop carries for some iterations: the arguments
/// of the loop, the oldest result first, and the value that becomes the newest
/// one.
struct CarriedVector {
  SmallVector<unsigned> arguments;
  Value next;
  /// The loads of rows that begin anywhere: those of the first iterations, and
  /// that of the newest one. Empty for other vectors.
  SmallVector<BranchedRow> rows;
};

/// The slots of a vector in shared memory. A number is a vector of one element.
struct Slots {
  VectorType type;
  /// Elements of an access, accesses of a vector, and the threads or warps with
  /// slots of their own.
  int64_t width, accesses, owners;
  /// The memory of all owners as elements, and the place of the owner's first
  /// element there.
  Value memory, place;
  /// For a number, which is the same for all threads: whether this is the
  /// thread that fills the slots of its warp.
  Value isFilling;
  /// Set for rows that begin anywhere: their words, the places of a thread's
  /// elements, and the shift of the row in the slot.
  std::optional<RowSlots> row;
  Value rowPlace, shift;
  SmallVector<int64_t> distances;
};

/// Moves the vectors that a loop carries to shared memory.
class CopyAhead {
public:
  CopyAhead(mlir::gpu::GPUFuncOp func, tile::gpu::ManifestOp manifest,
            scf::ForOp loop, int64_t stages, bool hasVectors, const Chip &chip)
      : func(func), manifest(manifest), loop(loop), stages(stages),
        hasVectors(hasVectors), threads((*func.getKnownBlockSize())[0]),
        chip(chip), b(loop.getLoc(), loop.getContext()) {}

  /// Returns the registers that a thread needs at least if it reads vectors
  /// again; 0 if it keeps them.
  int64_t run();

private:
  SmallVector<CarriedVector> findVectors();
  SmallVector<BranchedRow> findRows(const CarriedVector &vector);
  SmallVector<Value> findInvariants();
  int64_t countBytes(VectorType type, int64_t count) const;
  Value allocateMemory(Type element, int64_t elements);
  Slots allocate(VectorType type, int64_t count);
  Slots allocateRows(const CarriedVector &vector);
  Slots allocateNumber(Type type, int64_t count);
  bool hasRoomForNumbers(size_t count);
  Value getAccess(const Slots &slots, Value slot, int64_t element);
  void fill(Value value, const Slots &slots, Value slot, int64_t element,
            bool copies = true);
  Value read(const Slots &slots, Value slot);
  bool isDerived(Value value);
  Value derive(Value value);
  void deriveBehindBarriers();
  int64_t countRegisters();

  mlir::gpu::GPUFuncOp func;
  tile::gpu::ManifestOp manifest;
  scf::ForOp loop;
  int64_t stages;
  /// Whether vectors move to shared memory, too, or numbers alone.
  bool hasVectors;
  int64_t threads;
  const Chip &chip;
  Emitter b;
  /// The slots of the vectors that have been read from there, and what has been
  /// computed again behind the last barrier.
  DenseMap<Value, std::pair<Slots, Value>> reads;
  DenseMap<Value, Value> derived;
  /// Where vectors are read again behind that barrier.
  Operation *place = nullptr;
};
} // namespace

/// Returns the vector type of a vector or a number.
static VectorType toVector(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector : VectorType::get(1, type);
}

/// Returns true if slots can have values of this type.
static bool isCopied(Type type) {
  return isa<VectorType>(type) ||
         (type.isIntOrFloat() &&
          type.getIntOrFloatBitWidth() >= 8 * kLeastCopyBytes);
}

/// Returns the loads of rows that `vector` has in all iterations; none if one
/// of them is another value.
SmallVector<BranchedRow> CopyAhead::findRows(const CarriedVector &vector) {
  SmallVector<Value> values;
  for (unsigned number : vector.arguments)
    values.push_back(loop.getInitArgs()[number]);
  values.push_back(vector.next);
  SmallVector<BranchedRow> rows;
  for (Value value : values) {
    std::optional<BranchedRow> row = matchBranchedRow(value);
    if (!row)
      return {};
    if (!rows.empty() &&
        (row->row.distances != rows.front().row.distances ||
         !isSameComputation(row->row.place, rows.front().row.place)))
      return {};
    rows.push_back(*row);
  }
  return rows;
}

/// Returns the vectors and numbers that the loop carries for `stages`
/// iterations from an scf.if that loads them.
SmallVector<CarriedVector> CopyAhead::findVectors() {
  auto yields = loop.getYieldedValues();
  SmallVector<CarriedVector> found;
  for (BlockArgument first : loop.getRegionIterArgs()) {
    if (!isCopied(first.getType()) ||
        (isa<VectorType>(first.getType()) && !hasVectors))
      continue;
    // Only the uses of the oldest result stay.
    CarriedVector vector;
    BlockArgument argument = first;
    while (argument && int64_t(vector.arguments.size()) < stages) {
      unsigned number = argument.getArgNumber() - 1;
      vector.arguments.push_back(number);
      vector.next = yields[number];
      argument = dyn_cast<BlockArgument>(vector.next);
      if (argument && (argument.getOwner() != loop.getBody() ||
                       argument == loop.getInductionVar()))
        argument = {};
    }
    auto load = vector.next.getDefiningOp<scf::IfOp>();
    bool isCarried = int64_t(vector.arguments.size()) == stages && load &&
                     load->getBlock() == loop.getBody() &&
                     loop.getResult(vector.arguments.front()).use_empty() &&
                     vector.next.hasOneUse();
    for (unsigned number : vector.arguments)
      isCarried &= loop.getInitArgs()[number].getDefiningOp<scf::IfOp>() &&
                   loop.getInitArgs()[number].hasOneUse();
    for (unsigned number : llvm::drop_begin(vector.arguments))
      isCarried &= loop.getRegionIterArg(number).hasOneUse();
    if (!isCarried)
      continue;
    vector.rows = findRows(vector);
    found.push_back(std::move(vector));
  }
  return found;
}

/// Returns the vectors of 16 bits from before the loop that the loop reads.
/// Once they have become f32, they would take twice the registers.
SmallVector<Value> CopyAhead::findInvariants() {
  if (!hasVectors)
    return {};
  llvm::SetVector<Value> found;
  for (Operation &op : *loop.getBody())
    for (Value operand : op.getOperands()) {
      auto type = dyn_cast<VectorType>(operand.getType());
      if (type && type.getElementTypeBitWidth() == 16 &&
          type.getNumElements() >= kLeastInvariant &&
          loop.isDefinedOutsideOfLoop(operand) &&
          !matchPattern(operand, m_Constant()))
        found.insert(operand);
    }
  return found.takeVector();
}

/// Returns the bytes of `count` slots of all threads.
int64_t CopyAhead::countBytes(VectorType type, int64_t count) const {
  return count * threads * type.getNumElements() *
         type.getElementTypeBitWidth() / 8;
}

/// Reserves memory behind the other shared memory of the kernel.
Value CopyAhead::allocateMemory(Type element, int64_t elements) {
  int64_t begin = llvm::alignTo(manifest.getSharedBytes(), kBankLineBytes);
  manifest.setSharedBytes(begin +
                          elements * element.getIntOrFloatBitWidth() / 8);
  b.setInsertionPointToStart(&func.getBody().front());
  auto space = mlir::gpu::AddressSpaceAttr::get(
      b.getContext(), mlir::gpu::AddressSpace::Workgroup);
  auto bytes = MemRefType::get({ShapedType::kDynamic}, b.getI8Type(),
                               MemRefLayoutAttrInterface(), space);
  return memref::ViewOp::create(
      b,
      MemRefType::get({ShapedType::kDynamic}, element,
                      MemRefLayoutAttrInterface(), space),
      mlir::gpu::DynamicSharedMemoryOp::create(b, bytes), b.index(begin),
      ValueRange{b.index(elements)});
}

/// Reserves slots for the rows of `vector`, which the threads of a block share.
Slots CopyAhead::allocateRows(const CarriedVector &vector) {
  Slots slots;
  slots.type = cast<VectorType>(vector.next.getType());
  Type element = slots.type.getElementType();
  slots.row =
      RowSlots{{},
               element,
               countRowWords(threads * slots.type.getNumElements(), element),
               threads};
  slots.memory =
      allocateMemory(element, (stages + 1) * slots.row->slotElements());
  slots.row->memory = slots.memory;
  slots.distances = vector.rows.front().row.distances;
  slots.rowPlace = vector.rows.front().row.place;
  return slots;
}

/// Reserves memory for `count` slots.
Slots CopyAhead::allocate(VectorType type, int64_t count) {
  int64_t bits = type.getElementTypeBitWidth();
  Slots slots;
  slots.type = type;
  slots.width = std::gcd(type.getNumElements(), kAccessBytes * 8 / bits);
  slots.accesses = type.getNumElements() / slots.width;
  slots.owners = threads;
  slots.memory = allocateMemory(type.getElementType(),
                                count * type.getNumElements() * threads);
  Value thread = mlir::gpu::ThreadIdOp::create(b, mlir::gpu::Dimension::x);
  slots.place = b.mul(thread, slots.width);
  return slots;
}

/// Reserves memory for `count` slots of a number for each warp.
Slots CopyAhead::allocateNumber(Type type, int64_t count) {
  Slots slots;
  slots.type = toVector(type);
  slots.width = slots.accesses = 1;
  slots.owners = threads / chip.warpSize;
  slots.memory = allocateMemory(type, count * slots.owners);
  Value thread = mlir::gpu::ThreadIdOp::create(b, mlir::gpu::Dimension::x);
  Value lanes = b.index(chip.warpSize);
  slots.place = arith::DivUIOp::create(b, thread, lanes);
  slots.isFilling =
      b.equal(arith::RemUIOp::create(b, thread, lanes), b.index(0));
  return slots;
}

/// Returns true if `count` numbers fit beside the other shared memory.
bool CopyAhead::hasRoomForNumbers(size_t count) {
  constexpr int64_t kMostBytes = 8;
  int64_t slots = (stages + 1) * threads / chip.warpSize;
  return int64_t(manifest.getSharedBytes()) +
             int64_t(count) * (kBankLineBytes + slots * kMostBytes) <=
         chip.sharedBytes;
}

/// Emits the place of the access with `element` in the slot with the number
/// `slot`.
Value CopyAhead::getAccess(const Slots &slots, Value slot, int64_t element) {
  int64_t distance = slots.width * slots.owners;
  Value begin = b.add(slots.place, b.mul(slot, slots.accesses * distance));
  return b.add(begin, element / slots.width * distance + element % slots.width);
}

namespace {
/// The source of a load: the memref, the indices, and the number of elements if
/// it loads the first ones only, else null.
struct Source {
  Value base;
  ValueRange indices;
  Value count = {};
};
} // namespace

/// Returns what `op` loads, if it is a load.
static Source getSource(Operation *op) {
  if (auto load = dyn_cast_or_null<vector::LoadOp>(op))
    return {load.getBase(), load.getIndices()};
  if (auto load = dyn_cast_or_null<memref::LoadOp>(op))
    return {load.getMemref(), load.getIndices()};
  if (auto load = dyn_cast_or_null<vector::MaskedLoadOp>(op))
    if (Value count = getLoadedCount(load))
      return {load.getBase(), load.getIndices(), count};
  return {};
}

/// Fills a slot with `value`, from `element` on. With `copies`, loads become
/// asynchronous copies, in the branches that contain them; then `value` has no
/// other uses.
void CopyAhead::fill(Value value, const Slots &slots, Value slot,
                     int64_t element, bool copies) {
  OpBuilder::InsertionGuard guard(b);
  VectorType type = toVector(value.getType());
  Operation *op = copies ? value.getDefiningOp() : nullptr;
  if (auto branch = dyn_cast_or_null<scf::IfOp>(op);
      branch && value.hasOneUse()) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
      Operation *yield = block->getTerminator();
      b.setInsertionPoint(yield);
      fill(yield->getOperand(number), slots, slot, element);
      b.setInsertionPoint(yield);
      yield->setOperand(number, b.zeros(value.getType()));
    }
    return;
  }
  if (auto insert = dyn_cast_or_null<vector::InsertStridedSliceOp>(op)) {
    // Parts that cover a vector of zeros.
    SmallVector<vector::InsertStridedSliceOp> parts;
    int64_t covered = 0;
    for (; insert;
         insert =
             insert.getDest().getDefiningOp<vector::InsertStridedSliceOp>()) {
      parts.push_back(insert);
      covered += insert.getSourceVectorType().getNumElements();
    }
    if (covered == type.getNumElements()) {
      for (vector::InsertStridedSliceOp part : llvm::reverse(parts))
        fill(part.getValueToStore(), slots, slot,
             element + cast<IntegerAttr>(part.getOffsets()[0]).getInt());
      return;
    }
  }
  if (slots.isFilling)
    b.enterIf(slots.isFilling);
  // An access of the slot at a time.
  int64_t count = type.getNumElements();
  for (int64_t i = 0; i < count;) {
    int64_t width =
        std::min(count - i, slots.width - (element + i) % slots.width);
    Value place = getAccess(slots, slot, element + i);
    int64_t elementBytes = type.getElementTypeBitWidth() / 8;
    int64_t bytes = width * elementBytes;
    int64_t first = (element + i) % slots.width * elementBytes;
    int64_t alignment = std::gcd(kAccessBytes, std::gcd(bytes, first));
    Source source = getSource(op);
    if (source.base && width == count && bytes >= kLeastCopyBytes &&
        alignment == bytes) {
      nvgpu::DeviceAsyncCopyOp::create(
          b, nvgpu::DeviceAsyncTokenType::get(b.getContext()), slots.memory,
          place, source.base, source.indices, b.getIndexAttr(width),
          /*srcElements=*/source.count,
          /*bypassL1=*/bytes == kAccessBytes ? b.getUnitAttr() : UnitAttr());
    } else {
      Value part = isa<VectorType>(value.getType())
                       ? b.slice(value, i, width)
                       : vector::BroadcastOp::create(b, type, value);
      vector::StoreOp::create(b, part, slots.memory, place,
                              /*nontemporal=*/false,
                              llvm::MaybeAlign(alignment));
    }
    i += width;
  }
}

Value CopyAhead::read(const Slots &slots, Value slot) {
  if (slots.row)
    return readRow(b, *slots.row, slot, slots.shift, slots.rowPlace,
                   slots.distances);
  auto part = VectorType::get({slots.width}, slots.type.getElementType());
  SmallVector<Value> parts;
  for (int64_t i = 0; i < slots.accesses; ++i)
    parts.push_back(vector::LoadOp::create(
        b, part, slots.memory, getAccess(slots, slot, i * slots.width),
        /*nontemporal=*/false,
        llvm::MaybeAlign(slots.width * part.getElementTypeBitWidth() / 8)));
  return b.join(slots.type, parts);
}

/// Returns true if `value` is computed, element by element, from vectors in
/// slots and from values that are live in all of an iteration.
bool CopyAhead::isDerived(Value value) {
  if (reads.contains(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody() || !isPure(op) ||
      !(op->hasTrait<OpTrait::Elementwise>() || isa<vector::BroadcastOp>(op)))
    return false;
  bool hasRead = false;
  for (Value operand : op->getOperands()) {
    bool isLive = loop.isDefinedOutsideOfLoop(operand) ||
                  !isa<VectorType>(operand.getType());
    if (isLive)
      continue;
    Operation *splat = operand.getDefiningOp();
    if (isa_and_nonnull<vector::BroadcastOp>(splat) &&
        !isa<VectorType>(splat->getOperand(0).getType()))
      continue;
    if (!isDerived(operand))
      return false;
    hasRead = true;
  }
  return hasRead;
}

/// Emits the computation of `value`, which is derived, again.
Value CopyAhead::derive(Value value) {
  if (Value known = derived.lookup(value))
    return known;
  Value result;
  if (auto it = reads.find(value); it != reads.end()) {
    // Together, so that they interrupt no run of elementwise operations.
    OpBuilder::InsertionGuard guard(b);
    if (!place)
      place = &*b.getInsertionPoint();
    b.setInsertionPoint(place);
    auto [slots, slot] = it->second;
    result = read(slots, slot);
  } else {
    IRMapping mapping;
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      if (isDerived(operand))
        mapping.map(operand, derive(operand));
    result = b.clone(*op, mapping)->getResult(0);
  }
  return derived[value] = result;
}

/// Computes derived vectors again behind each barrier, so that they take no
/// registers while threads wait there.
void CopyAhead::deriveBehindBarriers() {
  DenseSet<Operation *> before;
  DenseSet<Operation *> current;
  for (Operation &op : llvm::make_early_inc_range(*loop.getBody())) {
    if (isa<mlir::gpu::BarrierOp, NVVM::ClusterWaitOp>(op)) {
      before.insert(current.begin(), current.end());
      current.clear();
      derived.clear();
      place = nullptr;
    }
    b.setInsertionPoint(&op);
    for (OpOperand &operand : op.getOpOperands())
      if (Operation *definition = operand.get().getDefiningOp();
          definition && before.contains(definition) &&
          isa<VectorType>(operand.get().getType()) && isDerived(operand.get()))
        operand.set(derive(operand.get()));
    current.insert(&op);
  }
}

/// Returns the registers of a thread for the vectors that the loop carries, and
/// for other things.
int64_t CopyAhead::countRegisters() {
  int64_t bits = 0;
  for (auto [argument, yielded] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()))
    if (auto type = dyn_cast<VectorType>(argument.getType());
        type && !matchPattern(yielded, m_Constant()))
      bits += type.getNumElements() * type.getElementTypeBitWidth();
  return bits / 32 + kOtherRegisters;
}

int64_t CopyAhead::run() {
  SmallVector<CarriedVector> vectors = findVectors();
  if (vectors.empty() || (!hasVectors && !hasRoomForNumbers(vectors.size())))
    return 0;
  SmallVector<Slots> slots;
  for (const CarriedVector &vector : vectors)
    slots.push_back(
        !vector.rows.empty() ? allocateRows(vector)
        : isa<VectorType>(vector.next.getType())
            ? allocate(cast<VectorType>(vector.next.getType()), stages + 1)
            : allocateNumber(vector.next.getType(), stages + 1));
  bool hasRows = llvm::any_of(vectors, [](const CarriedVector &vector) {
    return !vector.rows.empty();
  });
  bool hasNumbers = llvm::any_of(
      slots, [](const Slots &memory) { return memory.isFilling != nullptr; });
  // All threads of a block copy rows, one lane of a warp its numbers.
  auto waitForOthers = [&] {
    if (hasRows)
      mlir::gpu::BarrierOp::create(b);
    else if (hasNumbers)
      NVVM::SyncWarpOp::create(b, b.i32(-1));
  };
  SmallVector<std::pair<Value, Slots>> invariants;
  for (Value value : findInvariants()) {
    auto type = cast<VectorType>(value.getType());
    if (int64_t(manifest.getSharedBytes()) + kBankLineBytes +
            countBytes(type, 1) >
        chip.sharedBytes)
      continue;
    invariants.push_back({value, allocate(type, 1)});
    b.setInsertionPoint(loop);
    fill(value, invariants.back().second, b.index(0), 0, /*copies=*/false);
  }

  // Threads may still read slots that others fill from an earlier run of the
  // loop.
  if ((hasRows || hasNumbers) && loop->getParentOfType<LoopLikeOpInterface>()) {
    Operation *first = nullptr;
    for (const CarriedVector &vector : vectors)
      for (unsigned number : vector.arguments) {
        Operation *op = loop.getInitArgs()[number].getDefiningOp();
        if (!first || op->isBeforeInBlock(first))
          first = op;
      }
    b.setInsertionPoint(first);
    waitForOthers();
  }
  // The first iterations: a group of copies for each.
  SmallVector<SmallVector<Value>> shifts(vectors.size());
  for (int64_t i = 0; i < stages; ++i) {
    Operation *last = nullptr;
    for (auto [vector, memory, shift] :
         llvm::zip_equal(vectors, slots, shifts)) {
      Value first = loop.getInitArgs()[vector.arguments[i]];
      b.setInsertionPoint(first.getDefiningOp());
      last = first.getDefiningOp();
      if (vector.rows.empty()) {
        fill(first, memory, b.index(i), 0);
        continue;
      }
      shift.push_back(emitRowShift(b, vector.rows[i], *memory.row));
      emitRowCopies(b, vector.rows[i], *memory.row, b.index(i), shift.back());
    }
    b.setInsertionPointAfter(last);
    NVVM::CpAsyncCommitGroupOp::create(b);
  }

  for (auto [vector, memory, shift] : llvm::zip_equal(vectors, slots, shifts))
    if (!vector.rows.empty())
      shift.push_back(emitRowShift(b, vector.rows.back(), *memory.row));

  // The slot of an iteration, and the shifts of the rows in this one and in
  // those ahead. The slot before it is free.
  b.setInsertionPoint(loop);
  Value zero = b.index(0);
  SmallVector<Value> carried{zero};
  for (ArrayRef<Value> shift : shifts)
    if (!shift.empty())
      llvm::append_range(carried, shift.drop_back());
  size_t before = loop.getRegionIterArgs().size();
  IRRewriter rewriter(b.getContext());
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, carried, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &nested, Location, ArrayRef<BlockArgument> arguments) {
        b.restoreInsertionPoint(nested.saveInsertionPoint());
        Value isLast = b.equal(arguments.front(), b.index(stages));
        SmallVector<Value> yielded{
            b.select(isLast, zero, b.add(arguments.front(), 1))};
        arguments = arguments.drop_front();
        for (ArrayRef<Value> shift : shifts)
          if (!shift.empty()) {
            llvm::append_range(yielded, arguments.slice(1, stages - 1));
            yielded.push_back(shift.back());
            arguments = arguments.drop_front(stages);
          }
        return yielded;
      }));
  auto added = loop.getRegionIterArgs().drop_front(before);
  Value slot = added.front();
  added = added.drop_front();
  for (Slots &memory : slots)
    if (memory.row) {
      memory.shift = added.front();
      added = added.drop_front(stages);
    }
  b.setInsertionPointToStart(loop.getBody());
  for (auto &[value, memory] : invariants) {
    Value result = read(memory, zero);
    value.replaceUsesWithIf(result, [&](OpOperand &use) {
      return use.getOwner()->getBlock() == loop.getBody();
    });
    reads[result] = {memory, zero};
  }
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  Operation *last = nullptr;
  for (const CarriedVector &vector : vectors) {
    Operation *load = vector.next.getDefiningOp();
    if (!last || last->isBeforeInBlock(load))
      last = load;
  }
  for (auto [vector, memory, shift] : llvm::zip_equal(vectors, slots, shifts)) {
    b.setInsertionPoint(vector.next.getDefiningOp());
    Value isFirst = b.equal(slot, zero);
    Value free = b.select(isFirst, b.index(stages), b.add(slot, -1));
    if (vector.rows.empty()) {
      fill(vector.next, memory, free, 0);
      continue;
    }
    // The place may be an argument of the loop, which is another one now.
    BranchedRow row = *matchBranchedRow(vector.next);
    emitRowCopies(b, row, *memory.row, free, shift.back());
  }
  b.setInsertionPointAfter(last);
  NVVM::CpAsyncCommitGroupOp::create(b);
  b.setInsertionPointToStart(loop.getBody());
  NVVM::CpAsyncWaitGroupOp::create(b, stages - 1);
  // Others have filled these slots, and have read the free ones.
  waitForOthers();
  for (auto [vector, memory] : llvm::zip_equal(vectors, slots)) {
    Value oldest = loop.getRegionIterArg(vector.arguments.front());
    Value result = read(memory, slot);
    if (isa<VectorType>(oldest.getType()))
      reads[result] = {memory, slot};
    else
      result = vector::ExtractOp::create(b, result, 0);
    oldest.replaceAllUsesWith(result);
  }
  // The loop carries zeros, which are not used.
  int64_t registers = 0;
  for (auto [vector, memory] : llvm::zip_equal(vectors, slots)) {
    if (isa<VectorType>(vector.next.getType()))
      registers += memory.type.getNumElements();
    for (unsigned number : vector.arguments) {
      b.setInsertionPoint(loop);
      Value zeros = b.zeros(vector.next.getType());
      loop.getInitArgsMutable()[number].assign(zeros);
      yield->setOperand(number, zeros);
    }
  }
  // Registers are worth the reads if they are those of a second block: of two
  // blocks, one loads while the other one computes.
  int64_t kept = countRegisters() + registers;
  if (registers <= kKeptRegisters ||
      countResidentBlocks(chip, threads / chip.warpSize, kept) > 1)
    return 0;
  deriveBehindBarriers();
  return countRegisters();
}

/// Sets how many blocks run on a multiprocessor if a thread has these
/// registers. The back end would take all that a block may have, and read all
/// of a vector at once.
static void setResidentBlocks(mlir::gpu::GPUFuncOp func, const Chip &chip,
                              int64_t sharedBytes, int64_t registers) {
  int64_t warps = (*func.getKnownBlockSize())[0] / chip.warpSize;
  int64_t blocks = countResidentBlocks(chip, warps, registers);
  while (blocks > 1 && sharedBytes > getSharedLimit(chip, blocks))
    --blocks;
  auto name = NVVM::NVVMDialect::getMinctasmAttrName();
  if (blocks > 1 && !func->hasAttr(name))
    func->setAttr(name, Builder(func).getI32IntegerAttr(blocks));
}

/// Returns the iterations for which `loop` carries numbers beside vectors that
/// stay in registers.
static std::optional<int64_t> getNumbersAhead(scf::ForOp loop) {
  for (auto load : loop.getBody()->getOps<scf::IfOp>())
    if (auto distance = load->getAttrOfType<IntegerAttr>(kNumbersAheadAttr))
      return distance.getInt();
  return std::nullopt;
}

namespace {
struct CopyAheadPass : tile::impl::TileCopyAheadBase<CopyAheadPass> {
  using TileCopyAheadBase::TileCopyAheadBase;

  void runOnOperation() override {
    const Chip *chip = getTargetChip(getOperation());
    if (!chip)
      return signalPassFailure();
    for (auto func : getOperation().getOps<mlir::gpu::GPUFuncOp>()) {
      tile::gpu::ManifestOp manifest = tile::gpu::findManifest(func);
      SmallVector<scf::ForOp> loops;
      func.walk([&](scf::ForOp loop) {
        if (getSchedule(loop).stages || getNumbersAhead(loop))
          loops.push_back(loop);
      });
      if (!manifest || !func.getKnownBlockSize() ||
          chip->asyncCopy.mechanism != AsyncCopy::CpAsync)
        continue;
      int64_t registers = 0;
      for (scf::ForOp loop : loops) {
        std::optional<int64_t> stages = getSchedule(loop).stages;
        CopyAhead copies(func, manifest, loop,
                         stages ? *stages : *getNumbersAhead(loop),
                         stages.has_value(), *chip);
        registers = std::max(registers, copies.run());
      }
      if (registers != 0)
        setResidentBlocks(func, *chip, manifest.getSharedBytes(), registers);
    }
  }
};
} // namespace
