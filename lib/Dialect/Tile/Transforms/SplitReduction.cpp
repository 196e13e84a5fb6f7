//===- SplitReduction.cpp - Blocks that share the iterations of a loop ----===//

#include "tile/Analysis/SplitReduction.h"
#include "LaunchValues.h"
#include "Reduction/Partition.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Analysis/GlobalMemory.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILESPLITREDUCTION
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Bytes by which the sums are aligned: those of the widest access.
static constexpr int64_t kAlignment = 16;

/// Elements of a sum that a block of the second kernel computes, if it may
/// divide a tile, and elements that a thread holds. The reads of many small
/// blocks together are as fast as the second-level cache.
static constexpr int64_t kBlockElements = 2048, kThreadElements = 8;

/// The most warps of a block of the second kernel.
static constexpr int64_t kMostSumWarps = 16;

static LogicalResult checkOpen(KernelOp kernel) {
  if (getParams(kernel).empty())
    return success();
  return kernel.emitOpError("has open extents (tile-close-extents)");
}

namespace {
/// Divides the loop of one kernel.
class Splitter {
public:
  Splitter(KernelOp kernel, scf::ForOp loop, std::unique_ptr<Partition> blocks)
      : kernel(kernel), partition(std::move(blocks)) {
    for (Value result : loop.getResults())
      tiles.push_back(cast<RankedTensorType>(result.getType()));
  }

  void run(SymbolTable &symbols);

private:
  /// One of the kernels.
  struct Copy {
    KernelOp kernel;
    scf::ForOp loop;
    /// The buffers of sums; none if blocks add their sums to memory.
    SmallVector<Value> sums;
    /// The extents of the launch of the original kernel.
    GridValues grid;
  };

  Copy prepare(KernelOp copy);
  void divideIterations(Copy &copy);
  void storeSums(ImplicitLocOpBuilder &b, Copy &copy, Value number);
  int64_t countPieces(const Copy &copy);
  void divideEpilogue(Copy &copy, int64_t pieces, Value offset);
  void addSums(Copy &copy);

  KernelOp kernel;
  std::unique_ptr<Partition> partition;
  SmallVector<RankedTensorType> tiles;
  SmallVector<std::string> names;
  /// The operations after the loop, and those that they need of the others, if
  /// each computes every element of a tile from elements at the same place.
  llvm::SetVector<Operation *> epilogue;
};
} // namespace

/// Returns the names of the arguments of all kernels.
static llvm::StringSet<> collectNames(ModuleOp module) {
  llvm::StringSet<> names;
  for (auto kernel : module.getOps<KernelOp>())
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      if (auto name =
              kernel.getArgAttrOfType<StringAttr>(i, TileDialect::kNameAttr))
        names.insert(name.getValue());
  return names;
}

/// Returns the type of a buffer of any number of tiles.
static BufferType getSumsType(RankedTensorType tile) {
  SmallVector<int64_t> shape(tile.getShape()), strides(shape.size(), 1);
  for (size_t i = shape.size() - 1; i > 0; --i)
    strides[i - 1] = strides[i] * shape[i];
  strides.insert(strides.begin(), strides.front() * shape.front());
  shape.insert(shape.begin(), ShapedType::kDynamic);
  SmallVector<int64_t> divisors(strides.size(), 1);
  auto layout =
      StridedAttr::get(tile.getContext(), strides, divisors, kAlignment);
  return BufferType::get(tile.getContext(), shape, tile.getElementType(),
                         layout, MemorySpace::Global);
}

static scf::ForOp getLoop(KernelOp kernel) {
  return *kernel.getBody().front().getOps<scf::ForOp>().begin();
}

static ImplicitLocOpBuilder buildAtStart(KernelOp kernel) {
  ImplicitLocOpBuilder b(kernel.getGrid().getLoc(), kernel.getContext());
  b.setInsertionPointToStart(&kernel.getBody().front());
  return b;
}

/// Adds the buffers of sums with names to a copy of the kernel.
Splitter::Copy Splitter::prepare(KernelOp copy) {
  Copy result{copy, getLoop(copy), {}, {}};
  MLIRContext *context = copy.getContext();
  for (auto [tile, name] : llvm::zip(tiles, names)) {
    unsigned number = copy.getNumArguments();
    auto attribute =
        NamedAttribute(StringAttr::get(context, TileDialect::kNameAttr),
                       StringAttr::get(context, name));
    (void)copy.insertArgument(number, getSumsType(tile),
                              DictionaryAttr::get(context, attribute),
                              copy.getLoc());
    result.sums.push_back(copy.getArgument(number));
  }
  ImplicitLocOpBuilder b = buildAtStart(copy);
  IRMapping mapping;
  for (auto [extent, operand] :
       llvm::zip_equal(result.grid, copy.getGrid()->getOperands()))
    extent = cloneLaunchValue(b, operand, mapping);
  b.setInsertionPoint(copy.getGrid());
  if (!result.sums.empty()) {
    Value count = partition->countSums(b, result.grid);
    for (Value sums : result.sums)
      RequireOp::create(b, sums, /*dim=*/0, Relation::AtLeast, count,
                        "the parts of all blocks");
  }
  return result;
}

/// Replaces the coordinates of the block in `kernel`, and the extents of its
/// launch, by those that `divide` returns.
template <typename DivideT>
static auto divideLaunch(KernelOp kernel, const GridValues &extents,
                         DivideT divide) {
  SmallVector<ProgramIdOp> ids;
  kernel.walk([&](ProgramIdOp id) { ids.push_back(id); });
  // Behind the extents of the launch.
  ImplicitLocOpBuilder b = buildAtStart(kernel);
  for (Value extent : extents)
    if (Operation *op = extent.getDefiningOp();
        op && (b.getInsertionPoint() == b.getBlock()->begin() ||
               std::prev(b.getInsertionPoint())->isBeforeInBlock(op)))
      b.setInsertionPointAfter(op);
  GridValues grid = extents;
  auto result = divide(b, grid);
  kernel.getGrid()->setOperands(grid);
  for (ProgramIdOp id : ids)
    id.replaceAllUsesWith(result.tile[unsigned(id.getAxis())]);
  return result;
}

Value tile::addTiles(ImplicitLocOpBuilder &b, Value x, Value y) {
  if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
    return arith::AddFOp::create(b, x, y);
  return arith::AddIOp::create(b, x, y);
}

static Value createZero(ImplicitLocOpBuilder &b, RankedTensorType tile) {
  return arith::ConstantOp::create(b, b.getZeroAttr(tile));
}

/// Returns the place of the sum with this number, and the coordinates of its
/// first element.
static Value slicePart(ImplicitLocOpBuilder &b, Value sums, Value number,
                       SmallVectorImpl<Value> &zeros) {
  SmallVector<Value> indices = {number};
  indices.resize(cast<BufferType>(sums.getType()).getShape().size());
  zeros.assign(indices.size() - 1, arith::ConstantIndexOp::create(b, 0));
  return SliceOp::create(b, sums, indices);
}

static bool isLaunchOp(Operation *op) {
  return isa<GridOp, RequireOp, ReturnOp>(op);
}

/// Erases all that comes after the loop.
static void eraseEpilogue(scf::ForOp loop) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(*loop->getBlock()))) {
    if (&op == loop)
      return;
    if (op.use_empty() && !isLaunchOp(&op))
      op.erase();
  }
}

/// Moves all that comes after the loop into the first region of `branch`.
static void moveEpilogue(scf::ForOp loop, scf::IfOp branch) {
  // Operations that compute the extents of the launch stay in front.
  llvm::SetVector<Operation *> launch;
  for (Operation &op : *loop->getBlock())
    if (isLaunchOp(&op))
      launch.insert(&op);
  for (size_t i = 0; i < launch.size(); ++i)
    for (Value operand : launch[i]->getOperands())
      if (Operation *op = operand.getDefiningOp())
        launch.insert(op);
  for (Operation &op : llvm::make_early_inc_range(llvm::make_range(
           std::next(Block::iterator(branch)), loop->getBlock()->end())))
    if (!launch.contains(&op))
      op.moveBefore(branch.thenYield());
}

/// Returns whether a part has units of a tile.
static Value hasIterations(ImplicitLocOpBuilder &b, const Part &part) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, part.begin,
                               part.end);
}

/// Stores the sums of a block.
void Splitter::storeSums(ImplicitLocOpBuilder &b, Copy &copy, Value number) {
  for (auto [sum, sums] : llvm::zip_equal(copy.loop.getResults(), copy.sums)) {
    SmallVector<Value> zeros;
    Value place = slicePart(b, sums, number, zeros);
    StoreOp::create(b, sum, place, zeros);
  }
}

/// Lets a block run the iterations of its part.
void Splitter::divideIterations(Copy &copy) {
  Part part = divideLaunch(copy.kernel, copy.grid,
                           [&](ImplicitLocOpBuilder &b, GridValues &grid) {
                             return partition->dividePart(b, grid);
                           });
  scf::ForOp loop = copy.loop;
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Value first = loop.getLowerBound();
  // A loop that ends before it begins has a count that is not positive, and so
  // have its parts.
  Value length = arith::SubIOp::create(b, loop.getUpperBound(), first);
  Value count = arith::CeilDivSIOp::create(b, length, loop.getStep());
  Value units = arith::ConstantIndexOp::create(b, partition->countUnits());
  auto locate = [&](Value unit) {
    Value iteration =
        arith::DivSIOp::create(b, arith::MulIOp::create(b, unit, count), units);
    return arith::AddIOp::create(
        b, first, arith::MulIOp::create(b, iteration, loop.getStep()));
  };
  Value begin = locate(part.begin);
  Value end = arith::MinSIOp::create(b, loop.getUpperBound(), locate(part.end));
  loop.getLowerBoundMutable().assign(begin);
  loop.getUpperBoundMutable().assign(end);
  SmallVector<Value> starts(loop.getInitArgs());
  for (auto [init, tile] : llvm::zip_equal(loop.getInitArgsMutable(), tiles))
    init.set(createZero(b, tile));

  b.setInsertionPointAfter(loop);
  if (copy.sums.empty()) {
    if (part.isWhole)
      moveEpilogue(loop, scf::IfOp::create(b, hasIterations(b, part)));
  } else if (part.isWhole) {
    for (auto [result, start] : llvm::zip_equal(loop.getResults(), starts)) {
      if (isZeroTile(start))
        continue;
      Value sum = addTiles(b, start, result);
      result.replaceAllUsesExcept(sum, sum.getDefiningOp());
    }
    auto branch = scf::IfOp::create(b, part.isWhole, /*withElseRegion=*/true);
    moveEpilogue(loop, branch);
    b.setInsertionPointToStart(branch.elseBlock());
    auto store = scf::IfOp::create(b, hasIterations(b, part));
    b.setInsertionPointToStart(store.thenBlock());
    storeSums(b, copy, part.number);
  } else {
    eraseEpilogue(loop);
    b.setInsertionPointAfter(loop);
    storeSums(b, copy, part.number);
    b.setInsertionPointToStart(&copy.kernel.getBody().front());
    LaunchDependentsOp::create(b);
  }
}

/// Returns true if `op` computes each element of a tile from elements of tiles
/// at the same place. Operations on scalars change no memory.
static bool isElementwise(Operation *op, ArrayRef<int64_t> shape) {
  auto isOther = [&](Type type) {
    auto tile = dyn_cast<RankedTensorType>(type);
    return tile && (tile.getShape() != shape || tile.getEncoding());
  };
  if (op->getNumRegions() != 0 ||
      llvm::any_of(op->getOperandTypes(), isOther) ||
      llvm::any_of(op->getResultTypes(), isOther))
    return false;
  auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
  if (llvm::none_of(op->getOperandTypes(), isTile) &&
      llvm::none_of(op->getResultTypes(), isTile))
    return isMemoryEffectFree(op) || isa<LoadScalarOp>(op);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  if (auto load = dyn_cast<LoadOp>(op))
    return !load.getBuffer().getType().isShared();
  if (auto store = dyn_cast<StoreOp>(op))
    return !store.getBuffer().getType().isShared();
  return op->hasTrait<OpTrait::Elementwise>() || isa<tensor::SplatOp>(op);
}

/// Returns true if `op` may read elements that `write` writes in another row of
/// the tile.
static bool readsOtherRows(Operation *op, StoreOp write) {
  if (isa<LoadOp>(op) &&
      llvm::equal(op->getOperands(), write->getOperands().drop_front()))
    return false;
  BlockArgument argument = getRootArgument(write.getBuffer());
  return llvm::any_of(getGlobalAccesses(op), [&](const GlobalAccess &access) {
    return !access.isWrite && access.mayOverlap(argument) &&
           !areDisjointSlices(access.buffer, write.getBuffer());
  });
}

/// Finds the operations after the loop, and returns the number of blocks that
/// can divide a tile by its rows there: 1 if a row needs others.
int64_t Splitter::countPieces(const Copy &copy) {
  scf::ForOp loop = copy.loop;
  ArrayRef<int64_t> shape = tiles.front().getShape();
  if (llvm::any_of(tiles, [&](RankedTensorType tile) {
        return tile.getShape() != shape;
      }))
    return 1;
  for (Operation *op = loop->getNextNode(); op; op = op->getNextNode())
    if (!isa<GridOp, RequireOp, ReturnOp>(op))
      epilogue.insert(op);
  for (Value init : loop.getInitArgs())
    if (Operation *op = init.getDefiningOp())
      epilogue.insert(op);
  for (size_t i = 0; i < epilogue.size(); ++i) {
    if (!isElementwise(epilogue[i], shape))
      return 1;
    for (Value operand : epilogue[i]->getOperands())
      if (Operation *op = operand.getDefiningOp(); op && op != loop)
        epilogue.insert(op);
  }
  for (Operation *write : epilogue)
    if (auto store = dyn_cast<StoreOp>(write))
      for (Operation *op : epilogue)
        if (readsOtherRows(op, store))
          return 1;
  int64_t pieces = 1, elements = tiles.front().getNumElements();
  while (shape[0] % (2 * pieces) == 0 &&
         elements / (2 * pieces) >= kBlockElements)
    pieces *= 2;
  return pieces;
}

/// Returns the rows of `tile` that a block of the second kernel computes.
static RankedTensorType getPiece(RankedTensorType tile, int64_t pieces) {
  SmallVector<int64_t> shape(tile.getShape());
  shape[0] /= pieces;
  return RankedTensorType::get(shape, tile.getElementType());
}

/// Lets the operations after the loop compute the rows from `offset` on.
void Splitter::divideEpilogue(Copy &copy, int64_t pieces, Value offset) {
  auto shift = [&](Operation *op, OpOperand &row) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    row.set(arith::AddIOp::create(b, row.get(), offset));
  };
  for (Operation *op : epilogue) {
    for (Value result : op->getResults())
      if (auto tile = dyn_cast<RankedTensorType>(result.getType()))
        result.setType(getPiece(tile, pieces));
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
        constant.setValueAttr(
            splat.resizeSplat(cast<ShapedType>(constant.getType())));
    } else if (auto load = dyn_cast<LoadOp>(op)) {
      if (isa<RankedTensorType>(load.getType()))
        shift(op, load.getIndicesMutable()[0]);
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      shift(op, store.getIndicesMutable()[0]);
    }
  }
}

/// Replaces the results of the loop by the sums of all parts.
void Splitter::addSums(Copy &copy) {
  scf::ForOp loop = copy.loop;
  int64_t pieces = countPieces(copy);
  Piece piece = divideLaunch(copy.kernel, copy.grid,
                             [&](ImplicitLocOpBuilder &b, GridValues &grid) {
                               return partition->dividePiece(b, grid, pieces);
                             });
  ImplicitLocOpBuilder b = buildAtStart(copy.kernel);
  WaitPrerequisitesOp::create(b);
  b.setInsertionPointAfterValue(piece.piece);
  Value offset;
  if (pieces > 1) {
    int64_t rows = tiles.front().getDimSize(0) / pieces;
    offset = arith::MulIOp::create(b, piece.piece,
                                   arith::ConstantIndexOp::create(b, rows));
    divideEpilogue(copy, pieces, offset);
  }
  b.setInsertionPoint(loop);
  int64_t elements = 0;
  for (auto [result, start, tile, sums] : llvm::zip_equal(
           loop.getResults(), loop.getInitArgs(), tiles, copy.sums)) {
    RankedTensorType type = getPiece(tile, pieces);
    elements = std::max(elements, type.getNumElements());
    auto load = [&, sums = sums](Value number) -> Value {
      SmallVector<Value> indices;
      Value place = slicePart(b, sums, number, indices);
      if (offset)
        indices[0] = offset;
      return LoadOp::create(b, type, place, indices);
    };
    Value first = isZeroTile(start) ? Value() : start;
    result.replaceAllUsesWith(
        partition->addParts(b, copy.grid, piece, first, load));
  }
  loop.erase();
  // Tiles that the loop alone read.
  Block &body = copy.kernel.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();

  // The loop and its producers are gone, and with them what the schedule is
  // for.
  setSchedule(copy.kernel, Schedule());
  const Chip *chip = getTargetChip(copy.kernel);
  int64_t warps = elements / (kThreadElements * chip->warpSize);
  copy.kernel.setNumWarps(
      std::clamp<int64_t>(llvm::bit_floor<uint64_t>(warps), 1, kMostSumWarps));
}

void Splitter::run(SymbolTable &symbols) {
  if (addsAtomically(getLoop(kernel))) {
    Copy copy = prepare(kernel);
    divideIterations(copy);
    return;
  }
  llvm::StringSet<> used = collectNames(kernel->getParentOfType<ModuleOp>());
  for (size_t i = 0; i < tiles.size(); ++i) {
    std::string name = (kernel.getName() + "_parts").str();
    if (i > 0)
      name += std::to_string(i);
    while (!used.insert(name).second)
      name += "_";
    names.push_back(name);
  }
  KernelOp second = kernel.clone();
  second.setSymName((kernel.getName() + "_sum").str());
  symbols.insert(second, std::next(Block::iterator(kernel)));
  Copy first = prepare(kernel), last = prepare(second);
  divideIterations(first);
  addSums(last);
}

/// Takes the fields of the pass from `schedule`. Returns how blocks share the
/// iterations of the loop; null if they do not.
static std::unique_ptr<Partition> takePartition(Schedule &schedule) {
  std::optional<int64_t> split = std::exchange(schedule.split, std::nullopt);
  std::optional<int64_t> streamK =
      std::exchange(schedule.streamK, std::nullopt);
  if (streamK)
    return createStreamK(*streamK);
  return split.value_or(1) == 1 ? nullptr : createEqualParts(*split);
}

namespace {
struct SplitReduction : tile::impl::TileSplitReductionBase<SplitReduction> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto kernel : llvm::to_vector(getOperation().getOps<KernelOp>())) {
      Schedule schedule = getSchedule(kernel);
      StringRef field = schedule.streamK ? "stream_k" : "split";
      int64_t parts =
          schedule.streamK ? *schedule.streamK : schedule.split.value_or(1);
      std::unique_ptr<Partition> partition = takePartition(schedule);
      setSchedule(kernel, schedule);
      if (!partition)
        continue;
      scf::ForOp loop;
      if (Refusal refusal = findSplitLoop(kernel, loop)) {
        kernel.emitOpError() << "cannot have '" << field << " = " << parts
                             << "' in its schedule: " << *refusal;
        return signalPassFailure();
      }
      if (failed(checkOpen(kernel)) || !getTargetChip(kernel))
        return signalPassFailure();
      Splitter(kernel, loop, std::move(partition)).run(symbols);
      remark::passed(kernel.getLoc(),
                     remark::RemarkOpts::name("reduction-split")
                         .category("tile-split-reduction"))
          << remark::metric(field == "split" ? "parts" : "blocks", parts);
    }
  }
};
} // namespace
