//===- AssignLayouts.cpp - A layout for every tile ------------------------===//
//
// Layouts start where they are forced (tiles that the author laid out, matrix
// products) and spread along operations that want one layout for all their
// tiles. What nothing forces gets a coalesced blocked layout. Where two
// layouts meet, tile.convert_layout goes in.
//
//===----------------------------------------------------------------------===//

#include "ArgumentTile.h"
#include "MmaChoice.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/MemoryLayouts.h"
#include "tile/Analysis/RunAhead.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Layout/Queries.h"
#include "llvm/ADT/MapVector.h"
#include <deque>
#include <numeric>

namespace tile {
#define GEN_PASS_DEF_TILEASSIGNLAYOUTS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

static RankedTensorType tileType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

/// An operation that computes every element of its results from the elements
/// of its operands at the same coordinates.
static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>();
}

/// Creates a tile from nothing; cheaper to repeat than to convert.
static bool isRematerializable(Operation *op) {
  return isa<arith::ConstantOp, tensor::SplatOp, IotaOp>(op) &&
         isa<RankedTensorType>(op->getResult(0).getType());
}

namespace {
class LayoutAssigner {
public:
  LayoutAssigner(KernelOp kernel, const Chip &chip, int64_t operandBudget)
      : kernel(kernel), chip(chip), operandBudget(operandBudget),
        builder(kernel.getContext()) {}

  LogicalResult run() {
    if (failed(checkOperations()))
      return failure();
    rematerialize();
    if (failed(chooseInstructions()))
      return failure();
    placeSharedTiles();
    seedPinned();
    for (auto &[dot, mma] : instructions) {
      assign(dot.getResult(), mma);
      assign(dot.getAcc(), mma);
    }
    spread();
    seedDefaults();
    shareRepeatedRows();
    return rewrite();
  }

private:
  LogicalResult checkOperations();
  void rematerialize();
  LogicalResult chooseInstructions();
  void placeSharedTiles();
  void seedPinned();
  void seedDefaults();
  void shareRepeatedRows();
  void spread();
  LogicalResult rewrite();

  void assign(Value value, Attribute layout) {
    if (tileType(value) &&
        !isa_and_nonnull<LayoutAttrInterface>(tileType(value).getEncoding()) &&
        layouts.try_emplace(value, cast<LayoutAttrInterface>(layout)).second)
      worklist.push_back(value);
  }
  LayoutAttrInterface layoutOf(Value value) {
    if (LayoutAttrInterface pinned = getLayoutAttr(value.getType()))
      return pinned;
    return layouts.lookup(value);
  }
  void spreadFrom(Value value, LayoutAttrInterface layout);
  void spreadThrough(Operation *op, Value value, LayoutAttrInterface layout);
  LayoutAttrInterface coalesced(BufferType buffer, RankedTensorType type);
  LayoutAttrInterface defaultLayout(RankedTensorType type, int64_t bits);
  LayoutAttrInterface defaultLayout(RankedTensorType type) {
    return defaultLayout(type, type.getElementTypeBitWidth());
  }
  LayoutAttrInterface permutedLayout(Value value);
  LayoutAttrInterface sharedLayout(RankedTensorType type, int64_t fastDim,
                                   ArrayRef<DotOp> dots);
  /// Whether `layout` is one of the tile: whether it covers every element.
  static bool suits(LayoutAttrInterface layout, RankedTensorType type) {
    return succeeded(verifyTileLayout(layout, type.getShape(),
                                      type.getElementType(), nullptr));
  }
  Value convert(Value value, LayoutAttrInterface layout);
  void require(OpOperand &operand, LayoutAttrInterface layout);
  void requireShared(OpOperand &operand);
  bool crossesThreads(Value value, LayoutAttrInterface layout);
  LogicalResult lowerDotOperands(DotOp dot, MmaAttr mma);
  int64_t fragmentRegisters(RankedTensorType type, int64_t replication);
  int64_t operandRegisters(RankedTensorType type, unsigned index, MmaAttr mma);

  KernelOp kernel;
  const Chip &chip;
  int64_t operandBudget;
  OpBuilder builder;
  llvm::MapVector<DotOp, MmaAttr> instructions;
  llvm::MapVector<Value, LayoutAttrInterface> layouts;
  std::deque<Value> worklist;
};
} // namespace

/// Operations of other dialects take tensors that are no tiles.
static LogicalResult verifyTile(Operation *op, RankedTensorType type) {
  auto emitError = [&] {
    InFlightDiagnostic diag = op->emitOpError();
    diag << "has a tile of type " << type << ": ";
    return diag;
  };
  Type element = type.getElementType();
  if (!element.isIntOrFloat() ||
      !llvm::is_contained({1u, 8u, 16u, 32u, 64u},
                          element.getIntOrFloatBitWidth()))
    return emitError() << "elements must be integers or floats of 1, 8, 16, 32 "
                          "or 64 bits";
  if (type.getEncoding() && !getLayoutAttr(type))
    return emitError() << "its encoding is no layout";
  return verifyTileShape(type.getShape(), emitError);
}

LogicalResult LayoutAssigner::checkOperations() {
  WalkResult result = kernel.walk([&](Operation *op) {
    auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
    if (llvm::none_of(op->getOperandTypes(), isTile) &&
        llvm::none_of(op->getResultTypes(), isTile))
      return WalkResult::advance();
    for (Value result : op->getResults())
      if (RankedTensorType type = tileType(result);
          type && failed(verifyTile(op, type)))
        return WalkResult::interrupt();
    if (op->getDialect() == kernel->getDialect() || isElementwise(op) ||
        isRematerializable(op) || isa<scf::ForOp, scf::IfOp, scf::YieldOp>(op))
      return WalkResult::advance();
    op->emitOpError("is not an operation on tiles that can be laid out");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

void LayoutAssigner::rematerialize() {
  SmallVector<Operation *> cheap;
  kernel.walk([&](Operation *op) {
    if (isRematerializable(op))
      cheap.push_back(op);
  });
  for (Operation *op : cheap) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : op->getResult(0).getUses())
      uses.push_back(&use);
    if (uses.empty())
      continue;
    for (OpOperand *use : llvm::drop_begin(uses)) {
      // Beside the original, so that what is invariant in a loop stays out.
      builder.setInsertionPointAfter(op);
      use->set(builder.clone(*op)->getResult(0));
    }
  }
}

LogicalResult LayoutAssigner::chooseInstructions() {
  WalkResult result = kernel.walk([&](DotOp dot) {
    FailureOr<MmaAttr> mma = chooseMma(dot, kernel.getNumWarps(), chip);
    if (failed(mma))
      return WalkResult::interrupt();
    instructions.insert({dot, *mma});
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Rows padded or swizzled so that fragments are read without bank conflicts.
/// `fastDim` is the dimension that fragments contract; `dots` read the tile as
/// operand b.
LayoutAttrInterface LayoutAssigner::sharedLayout(RankedTensorType type,
                                                 int64_t fastDim,
                                                 ArrayRef<DotOp> dots) {
  MLIRContext *context = type.getContext();
  int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  if (chip.ldmatrix) {
    // ldmatrix transposes on the way, so tiles stay as they are in memory.
    auto suits = [&](int64_t swizzle) {
      return type.getDimSize(1) * bytes % swizzle == 0 &&
             llvm::all_of(dots, [&](DotOp dot) {
               MmaAttr mma = instructions.lookup(dot);
               return mma.getMma().kind != MmaKind::Wgmma ||
                      descriptorBytes(dot, mma) % swizzle == 0;
             });
    };
    for (unsigned swizzle : {128, 64, 32})
      if (suits(swizzle))
        return SwizzleAttr::get(context, swizzle);
    return PaddedAttr::get(context, 16 / bytes, {1, 0});
  }
  return PaddedAttr::get(context, 16 / bytes, {fastDim, 1 - fastDim});
}

/// Tiles that come from global memory and only feed matrix products go through
/// shared memory.
void LayoutAssigner::placeSharedTiles() {
  kernel.walk([&](LoadOp load) {
    auto type = cast<RankedTensorType>(load.getType());
    if (type.getEncoding() || load.getBuffer().getType().isShared() ||
        type.getRank() != 2)
      return;
    // Uses through transposes, with the dimension that each use contracts.
    SmallVector<std::pair<Value, bool>> values{{load.getResult(), false}};
    SmallVector<std::pair<Value, bool>> transposes;
    std::optional<int64_t> contracted;
    SmallVector<DotOp> dots;
    while (!values.empty()) {
      auto [value, swapped] = values.pop_back_val();
      for (OpOperand &use : value.getUses()) {
        if (auto transpose = dyn_cast<TransposeOp>(use.getOwner())) {
          if (getLayoutAttr(transpose.getType()))
            return;
          bool swap = transpose.getOrder()[0] == 1;
          values.push_back({transpose.getResult(), swapped != swap});
          transposes.push_back(values.back());
          continue;
        }
        auto dot = dyn_cast<DotOp>(use.getOwner());
        if (!dot || use.getOperandNumber() > 1)
          return;
        int64_t dim = use.getOperandNumber() == 0 ? 1 : 0;
        contracted = swapped ? 1 - dim : dim;
        if (use.getOperandNumber() == 1)
          dots.push_back(dot);
      }
    }
    if (!contracted)
      return;
    LayoutAttrInterface layout = sharedLayout(type, *contracted, dots);
    layouts.insert({load.getResult(), layout});
    for (auto [value, swapped] : transposes) {
      auto transpose = value.getDefiningOp<TransposeOp>();
      layouts.insert(
          {value, PermuteAttr::get(kernel.getContext(), transpose.getOrder(),
                                   layouts.lookup(transpose.getSource()))});
    }
  });
}

void LayoutAssigner::seedPinned() {
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (LayoutAttrInterface pinned = getLayoutAttr(result.getType()))
        if (pinned.getFamily() == LayoutFamily::Distributed)
          worklist.push_back(result);
  });
  spread();
}

void LayoutAssigner::spread() {
  while (!worklist.empty()) {
    Value value = worklist.front();
    worklist.pop_front();
    spreadFrom(value, layoutOf(value));
  }
}

void LayoutAssigner::spreadFrom(Value value, LayoutAttrInterface layout) {
  if (Operation *producer = value.getDefiningOp())
    spreadThrough(producer, value, layout);
  else if (auto loop = dyn_cast<scf::ForOp>(
               cast<BlockArgument>(value).getOwner()->getParentOp()))
    spreadThrough(loop, value, layout);
  for (Operation *user : value.getUsers())
    spreadThrough(user, value, layout);
}

void LayoutAssigner::spreadThrough(Operation *op, Value value,
                                   LayoutAttrInterface layout) {
  MLIRContext *context = op->getContext();
  if (isElementwise(op)) {
    for (Value other : op->getOperands())
      assign(other, layout);
    for (Value other : op->getResults())
      assign(other, layout);
    return;
  }
  // Old values are where the new ones were.
  if (auto atomic = dyn_cast<AtomicRMWOp>(op)) {
    if (atomic.getResult())
      for (Value other : {atomic.getValue(), atomic.getResult()})
        assign(other, layout);
    return;
  }
  if (auto yield = dyn_cast<scf::YieldOp>(op))
    op = yield->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [init, argument, yielded, result] :
         llvm::zip_equal(loop.getInits(), loop.getRegionIterArgs(),
                         loop.getYieldedValues(), loop.getResults()))
      if (value == init || value == argument || value == yielded ||
          value == result)
        for (Value other :
             {Value(init), Value(argument), Value(yielded), Value(result)})
          assign(other, layout);
    return;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (auto [i, result] : llvm::enumerate(branch.getResults())) {
      Value then = branch.thenYield().getOperand(i);
      Value other = branch.elseYield().getOperand(i);
      if (value == result || value == then || value == other)
        for (Value same : {Value(result), then, other})
          assign(same, layout);
    }
    return;
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    if (value == reduce.getSource())
      assign(reduce.getResult(),
             SliceAttr::get(context, reduce.getDim(), layout));
    else if (auto slice = dyn_cast<SliceAttr>(layout);
             slice && slice.getDim() == reduce.getDim() &&
             suits(slice.getParent(), tileType(reduce.getSource())))
      assign(reduce.getSource(), slice.getParent());
    return;
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    if (value == broadcast.getResult())
      assign(broadcast.getSource(),
             SliceAttr::get(context, broadcast.getDim(), layout));
    else if (auto slice = dyn_cast<SliceAttr>(layout);
             slice && slice.getDim() == broadcast.getDim() &&
             suits(slice.getParent(), tileType(broadcast.getResult())))
      assign(broadcast.getResult(), slice.getParent());
    return;
  }
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    if (value == transpose.getSource())
      assign(transpose.getResult(),
             PermuteAttr::get(context, transpose.getOrder(), layout));
    else if (auto permute = dyn_cast<PermuteAttr>(layout);
             permute && permute.getOrder() == transpose.getOrder())
      assign(transpose.getSource(), permute.getParent());
    return;
  }
}

/// Threads along the offsets of the buffer, 16 bytes each.
LayoutAttrInterface LayoutAssigner::coalesced(BufferType buffer,
                                              RankedTensorType type) {
  LayoutAttrInterface layout = getCoalescedLayout(
      type.getContext(), type.getShape(), buffer.getTileMemory(type.getShape()),
      chip.maxGlobalAccess * 8 / buffer.getElementBits(), chip.warpSize,
      kernel.getNumWarps());
  // A map whose digits do not divide the extents of the tile has no such
  // layout, or one that few threads share.
  auto countRegisters = [&](LayoutAttrInterface layout) {
    return getCanonicalLayout(withLayout(type, layout)).axisSize(kRegister);
  };
  LayoutAttrInterface other = defaultLayout(type);
  return suits(layout, type) &&
                 countRegisters(layout) <= 2 * countRegisters(other)
             ? layout
             : other;
}

/// Threads along the fastest dimension first, 16 bytes of elements of `bits`
/// each.
LayoutAttrInterface LayoutAssigner::defaultLayout(RankedTensorType type,
                                                  int64_t bits) {
  return getDefaultLayout(type.getContext(), type.getShape(), bits,
                          chip.warpSize, kernel.getNumWarps());
}

/// The store that a value reaches through elementwise operations, if any.
static StoreOp findStore(Value value) {
  for (Operation *user : value.getUsers()) {
    if (auto store = dyn_cast<StoreOp>(user))
      return store;
    if (isElementwise(user) && user->getNumResults() == 1)
      if (StoreOp store = findStore(user->getResult(0)))
        return store;
  }
  return {};
}

/// A layout for a tile that is read from or written to a permuted buffer, which
/// has no fast dimension; null for others.
LayoutAttrInterface LayoutAssigner::permutedLayout(Value value) {
  auto isPermuted = [](BufferType buffer) {
    return isa<MapAttr>(buffer.getLayout());
  };
  RankedTensorType type = tileType(value);
  StoreOp store = findStore(value);
  auto load = value.getDefiningOp<LoadOp>();
  if (!load || !isPermuted(load.getBuffer().getType()))
    return store && isPermuted(store.getBuffer().getType())
               ? coalesced(store.getBuffer().getType(), type)
               : LayoutAttrInterface();
  BufferType buffer = load.getBuffer().getType();
  // Rows, if the permutation leaves pieces of 16 bytes of as many elements as
  // the store, or some more, has in a thread.
  if (store && !isPermuted(store.getBuffer().getType())) {
    int64_t bits = store.getBuffer().getType().getElementBits();
    int64_t elements = 128 / buffer.getElementBits();
    Layout memory = buffer.getTileMemory(type.getShape());
    for (int64_t inThread : {bits, bits / 2}) {
      LayoutAttrInterface rows = defaultLayout(type, inThread);
      if (widestAccess(getCanonicalLayout(withLayout(type, rows)), memory,
                       elements)
              .width == elements)
        return rows;
    }
  }
  return coalesced(buffer, type);
}

void LayoutAssigner::seedDefaults() {
  SmallVector<Value> values;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults())
      if (tileType(result))
        values.push_back(result);
  });
  for (Value value : values) {
    if (layoutOf(value))
      continue;
    LayoutAttrInterface permuted = permutedLayout(value);
    assign(value, permuted ? permuted : defaultLayout(tileType(value)));
    spread();
  }
}

/// Whether the copy engine can fetch a tile of one dimension.
static bool canCopyInBulk(LoadOp load, BufferType shared) {
  ArgumentTile tile;
  return !findArgumentTile(load.getBuffer(), load.getIndices(), shared, tile);
}

/// One value per row or column that every warp needs: where copies are
/// asynchronous, each element is read once, an iteration ahead, instead of by
/// many threads when it is needed. Warps that only copy do so by the copy
/// engine.
void LayoutAssigner::shareRepeatedRows() {
  if (!chip.asyncCopy)
    return;
  bool inBulk = getSchedule(kernel).hasRoles();
  RunAhead runAhead(kernel);
  kernel.walk([&](LoadOp load) {
    auto type = cast<RankedTensorType>(load.getType());
    auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
    // An asynchronous copy has at least 4 bytes.
    if (!loop || type.getEncoding() || type.getRank() != 1 ||
        !isa_and_nonnull<SliceAttr>(layouts.lookup(load.getResult())) ||
        load.getBuffer().getType().isShared() ||
        type.getElementTypeBitWidth() < 32 ||
        runAhead.checkLoad(load, inBulk ? kernel : loop))
      return;
    auto layout = cast<LayoutAttrInterface>(
        PaddedAttr::get(kernel.getContext(), /*padding=*/0, {0}));
    if (inBulk && !canCopyInBulk(load, BufferType::get(
                                           kernel.getContext(), type.getShape(),
                                           type.getElementType(), layout,
                                           MemorySpace::Shared)))
      return;
    layouts.insert_or_assign(load.getResult(), layout);
  });
}

Value LayoutAssigner::convert(Value value, LayoutAttrInterface layout) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getEncoding() == Attribute(layout))
    return value;
  return ConvertLayoutOp::create(builder, value.getLoc(),
                                 withLayout(type, layout), value);
}

void LayoutAssigner::require(OpOperand &operand, LayoutAttrInterface layout) {
  if (!tileType(operand.get()))
    return;
  builder.setInsertionPoint(operand.getOwner());
  operand.set(convert(operand.get(), layout));
}

/// Whether elements have to go from one thread to another to have `layout`.
bool LayoutAssigner::crossesThreads(Value value, LayoutAttrInterface layout) {
  auto type = cast<RankedTensorType>(value.getType());
  if (isSharedTile(type))
    return false;
  ConversionKind kind =
      planConversion(getCanonicalLayout(type),
                     getCanonicalLayout(withLayout(type, layout)))
          .kind;
  return kind == ConversionKind::WarpShuffle ||
         kind == ConversionKind::SharedMemory;
}

/// Has a dot read an operand from shared memory, where it is written as soon as
/// it is there: that ends the life of its registers. A transposed tile is
/// written as it was before.
void LayoutAssigner::requireShared(OpOperand &operand) {
  // Other users may want the transposed tile in another layout; the instruction
  // was chosen for the tile before the transposition.
  auto transpose = skipConversions(operand.get()).getDefiningOp<TransposeOp>();
  Value source = transpose ? transpose.getSource() : operand.get();
  auto type = cast<RankedTensorType>(source.getType());
  builder.setInsertionPointAfterValue(source);
  SmallVector<DotOp, 1> dots;
  if (operand.getOperandNumber() == 1)
    dots.push_back(cast<DotOp>(operand.getOwner()));
  Value shared = convert(source, sharedLayout(type, /*fastDim=*/0, dots));
  if (transpose) {
    LayoutAttrInterface layout =
        PermuteAttr::get(builder.getContext(), transpose.getOrder(),
                         getLayoutAttr(shared.getType()));
    shared = TransposeOp::create(
        builder, transpose.getLoc(),
        withLayout(cast<RankedTensorType>(transpose.getType()), layout), shared,
        transpose.getOrder());
  }
  operand.set(shared);
}

/// 32-bit registers that a tile takes in each thread.
int64_t LayoutAssigner::fragmentRegisters(RankedTensorType type,
                                          int64_t replication) {
  return type.getNumElements() * type.getElementTypeBitWidth() * replication /
         32 / (chip.warpSize * kernel.getNumWarps());
}

/// The same of operand `index` of a dot; some instructions hold each element in
/// several lanes.
int64_t LayoutAssigner::operandRegisters(RankedTensorType type, unsigned index,
                                         MmaAttr mma) {
  const Mma &row = mma.getMma();
  int64_t held = row.a.axisSize(kRegister) * row.warpSize;
  return fragmentRegisters(type,
                           mma.getWarps()[1 - index] * held / (row.m * row.k));
}

LogicalResult LayoutAssigner::lowerDotOperands(DotOp dot, MmaAttr mma) {
  for (unsigned index : {0u, 1u}) {
    OpOperand &operand = dot->getOpOperand(index);
    auto layout = DotOperandAttr::get(dot.getContext(), index, mma);
    RankedTensorType type = tileType(operand.get());
    if (!type)
      continue;
    if (mma.getMma().kind == MmaKind::Wgmma) {
      if (isSharedTile(type) && canReadShared(dot, index))
        continue;
      if (index == 1 || (canReadShared(dot, index) &&
                         crossesThreads(operand.get(), layout))) {
        requireShared(operand);
        continue;
      }
    }
    // A tile from outside the loop is read once, if the registers allow.
    auto loop = dot->getParentOfType<LoopLikeOpInterface>();
    builder.setInsertionPoint(dot);
    if (loop && loop.isDefinedOutsideOfLoop(operand.get())) {
      int64_t registers = 0;
      loop->walk([&](DotOp other) {
        registers +=
            fragmentRegisters(cast<RankedTensorType>(other.getType()), 1);
      });
      registers += operandRegisters(tileType(operand.get()), index, mma);
      // Only ldmatrix is scheduled fragment by fragment; other reads put all of
      // the other operand into registers.
      if (!chip.ldmatrix)
        registers += operandRegisters(tileType(dot->getOperand(1 - index)),
                                      1 - index, mma);
      if (registers <= operandBudget * chip.maxRegisters / 100)
        builder.setInsertionPoint(loop);
      else if (isSharedTile(operand.get().getType()))
        remark::missed(dot.getLoc(),
                       remark::RemarkOpts::name("operand-reloaded")
                           .category("tile-assign-layouts"))
            << remark::reason("operand {0} is read from shared memory in every "
                              "iteration: keeping it would take {1} registers "
                              "with the accumulators",
                              index == 0 ? "a" : "b", registers);
    }
    operand.set(convert(operand.get(), layout));
  }
  return success();
}

LogicalResult LayoutAssigner::rewrite() {
  // Types first: every value gets the layout it was assigned.
  for (auto &[value, layout] : layouts) {
    RankedTensorType type = withLayout(tileType(value), layout);
    if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
      auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
      if (!elements || !elements.isSplat())
        return constant.emitOpError(
            "a constant tile must have one value for all elements");
      constant.setValueAttr(elements.resizeSplat(type));
    }
    value.setType(type);
  }
  // Then conversions, wherever an operation wants its operand elsewhere.
  SmallVector<Operation *> operations;
  kernel.walk([&](Operation *op) { operations.push_back(op); });
  for (Operation *op : operations) {
    if (auto dot = dyn_cast<DotOp>(op)) {
      MmaAttr mma = instructions.lookup(dot);
      if (failed(lowerDotOperands(dot, mma)))
        return failure();
      require(dot->getOpOperand(2), mma);
      continue;
    }
    if (isElementwise(op)) {
      RankedTensorType type;
      for (Value result : op->getResults())
        if (tileType(result))
          type = tileType(result);
      if (type)
        for (OpOperand &operand : op->getOpOperands())
          require(operand, getLayoutAttr(type));
      continue;
    }
    if (auto atomic = dyn_cast<AtomicRMWOp>(op)) {
      auto tile = cast<RankedTensorType>(atomic.getValue().getType());
      if (atomic.getResult())
        require(atomic.getValueMutable(),
                getLayoutAttr(atomic.getResult().getType()));
      else if (isSharedTile(tile))
        require(atomic.getValueMutable(),
                coalesced(atomic.getBuffer().getType(), tile));
      continue;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [init, argument] :
           llvm::zip_equal(loop.getInitsMutable(), loop.getRegionIterArgs()))
        if (tileType(argument))
          require(init, getLayoutAttr(argument.getType()));
      continue;
    }
    if (auto yield = dyn_cast<scf::YieldOp>(op)) {
      for (auto [operand, result] : llvm::zip_equal(
               yield->getOpOperands(), yield->getParentOp()->getResults()))
        if (tileType(result))
          require(operand, getLayoutAttr(result.getType()));
      continue;
    }
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      require(broadcast->getOpOperand(0),
              SliceAttr::get(op->getContext(), broadcast.getDim(),
                             getLayoutAttr(broadcast.getType())));
      continue;
    }
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      auto assigned = cast<RankedTensorType>(reduce.getType());
      auto natural = withLayout(
          assigned,
          SliceAttr::get(op->getContext(), reduce.getDim(),
                         getLayoutAttr(reduce.getSource().getType())));
      if (assigned == natural)
        continue;
      reduce.getResult().setType(natural);
      builder.setInsertionPointAfter(reduce);
      Value converted = convert(reduce.getResult(), getLayoutAttr(assigned));
      reduce.getResult().replaceAllUsesExcept(converted,
                                              converted.getDefiningOp());
      continue;
    }
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      auto assigned = dyn_cast<RankedTensorType>(transpose.getType());
      if (!assigned)
        continue;
      auto natural = withLayout(
          assigned,
          PermuteAttr::get(op->getContext(), transpose.getOrder(),
                           getLayoutAttr(transpose.getSource().getType())));
      if (assigned == natural)
        continue;
      transpose.getResult().setType(natural);
      builder.setInsertionPointAfter(transpose);
      Value converted = convert(transpose.getResult(), getLayoutAttr(assigned));
      transpose.getResult().replaceAllUsesExcept(converted,
                                                 converted.getDefiningOp());
    }
  }
  return success();
}

namespace {
struct AssignLayouts : tile::impl::TileAssignLayoutsBase<AssignLayouts> {
  using TileAssignLayoutsBase::TileAssignLayoutsBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    const Chip *chip = getTargetChip(kernel);
    if (!chip)
      return signalPassFailure();
    if (kernel.getNumWarps() * chip->warpSize > 1024) {
      kernel.emitOpError() << "has " << kernel.getNumWarps() << " warps of "
                           << chip->warpSize
                           << " threads; a block has at most 1024 threads";
      return signalPassFailure();
    }
    if (failed(LayoutAssigner(kernel, *chip, operandBudget).run()))
      signalPassFailure();
  }
};
} // namespace
