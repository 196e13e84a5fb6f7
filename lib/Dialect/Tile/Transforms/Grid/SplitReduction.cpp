//===- SplitReduction.cpp - Blocks that share the iterations of a loop ----===//

#include "tile/Analysis/SplitReduction.h"
#include "LaunchValues.h"
#include "Partition.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Analysis/GlobalMemory.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
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
  /// Lets `blocks` blocks of a cluster share the iterations.
  Refusal runInCluster(int64_t blocks);

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
  SmallVector<Value> setIterations(scf::ForOp loop, Value begin, Value end,
                                   int64_t units);
  void divideIterations(Copy &copy);
  void storeSums(ImplicitLocOpBuilder &b, Copy &copy, Value number);
  void copyEpilogue(scf::ForOp loop, MutableArrayRef<Value> starts);
  int64_t countPieces(const Copy &copy);
  void divideEpilogue(int64_t pieces, Value offset);
  void addSums(Copy &copy);

  KernelOp kernel;
  std::unique_ptr<Partition> partition;
  SmallVector<RankedTensorType> tiles;
  SmallVector<std::string> names;
  /// The operations that compute the rows of results (findRowwiseEpilogue).
  RowwiseEpilogue epilogue;
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

/// Lets `loop` run the iterations from `begin` to `end`, which count in equal
/// parts of all, `units`, and add them to zeros. Returns the previous starts.
SmallVector<Value> Splitter::setIterations(scf::ForOp loop, Value beginUnit,
                                           Value endUnit, int64_t unitCount) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Value first = loop.getLowerBound();
  // A loop that ends before it begins has a count that is not positive, and so
  // have its parts.
  Value length = arith::SubIOp::create(b, loop.getUpperBound(), first);
  Value count = arith::CeilDivSIOp::create(b, length, loop.getStep());
  Value units = arith::ConstantIndexOp::create(b, unitCount);
  auto locate = [&](Value unit) {
    Value iteration =
        arith::DivSIOp::create(b, arith::MulIOp::create(b, unit, count), units);
    return arith::AddIOp::create(
        b, first, arith::MulIOp::create(b, iteration, loop.getStep()));
  };
  Value begin = locate(beginUnit);
  Value end = arith::MinSIOp::create(b, loop.getUpperBound(), locate(endUnit));
  loop.getLowerBoundMutable().assign(begin);
  loop.getUpperBoundMutable().assign(end);
  SmallVector<Value> starts(loop.getInitArgs());
  for (auto [init, tile] : llvm::zip_equal(loop.getInitArgsMutable(), tiles))
    init.set(createZero(b, tile));
  return starts;
}

/// Lets a block run the iterations of its part.
void Splitter::divideIterations(Copy &copy) {
  Part part = divideLaunch(copy.kernel, copy.grid,
                           [&](ImplicitLocOpBuilder &b, GridValues &grid) {
                             return partition->dividePart(b, grid);
                           });
  scf::ForOp loop = copy.loop;
  SmallVector<Value> starts =
      setIterations(loop, part.begin, part.end, partition->countUnits());
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
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

/// Returns the number of blocks that can divide a tile by its rows after the
/// loop: 1 if a row needs others.
int64_t Splitter::countPieces(const Copy &copy) {
  if (findRowwiseEpilogue(copy.loop, epilogue))
    return 1;
  ArrayRef<int64_t> shape = tiles.front().getShape();
  int64_t pieces = 1, elements = tiles.front().getNumElements();
  while (shape[0] % (2 * pieces) == 0 &&
         elements / (2 * pieces) >= kBlockElements)
    pieces *= 2;
  return pieces;
}

/// Replaces operations of the epilogue in front of the loop by copies behind
/// it, if they compute tiles: the loop may need theirs. `starts` are values of
/// the epilogue.
void Splitter::copyEpilogue(scf::ForOp loop, MutableArrayRef<Value> starts) {
  RowwiseEpilogue copies;
  IRMapping mapping;
  OpBuilder builder(loop->getContext());
  builder.setInsertionPointAfter(loop);
  for (Operation &op :
       llvm::make_range(loop->getBlock()->begin(), Block::iterator(loop)))
    if (auto it = epilogue.find(&op);
        it != epilogue.end() &&
        llvm::any_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>))
      copies.insert({builder.clone(op, mapping), it->second});
  for (auto [op, dim] : epilogue)
    if (op->getBlock() == loop->getBlock() && loop->isBeforeInBlock(op))
      copies.insert({op, dim});
  for (auto [op, dim] : copies)
    for (OpOperand &operand : op->getOpOperands())
      operand.set(mapping.lookupOrDefault(operand.get()));
  for (Value &start : starts)
    start = mapping.lookupOrDefault(start);
  epilogue = std::move(copies);
}

/// Returns the part of `tile` that one of `pieces` blocks computes, which
/// divide it along `dim`.
static RankedTensorType getPiece(RankedTensorType tile, int64_t pieces,
                                 unsigned dim = 0) {
  SmallVector<int64_t> shape(tile.getShape());
  shape[dim] /= pieces;
  return RankedTensorType::get(shape, tile.getElementType());
}

/// Lets the operations after the loop compute the rows from `offset` on.
void Splitter::divideEpilogue(int64_t pieces, Value offset) {
  auto shift = [&](Operation *op, OpOperand &row) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    row.set(arith::AddIOp::create(b, row.get(), offset));
  };
  for (auto [op, dim] : epilogue) {
    for (Value result : op->getResults())
      if (auto tile = dyn_cast<RankedTensorType>(result.getType()))
        result.setType(getPiece(tile, pieces, dim));
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
        constant.setValueAttr(
            splat.resizeSplat(cast<ShapedType>(constant.getType())));
    } else if (auto load = dyn_cast<LoadOp>(op)) {
      if (isa<RankedTensorType>(load.getType()))
        shift(op, load.getIndicesMutable()[dim]);
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      shift(op, store.getIndicesMutable()[dim]);
    } else if (auto iota = dyn_cast<IotaOp>(op); iota && iota.getDim() == dim) {
      ImplicitLocOpBuilder b(op->getLoc(), op);
      b.setInsertionPointAfter(op);
      auto tile = cast<RankedTensorType>(iota.getType());
      Value first = offset;
      if (!tile.getElementType().isIndex())
        first = arith::IndexCastOp::create(b, tile.getElementType(), offset);
      Value firsts = tensor::SplatOp::create(b, tile, first);
      Value rows = arith::AddIOp::create(b, iota, firsts);
      iota.getResult().replaceAllUsesExcept(rows, rows.getDefiningOp());
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
    divideEpilogue(pieces, offset);
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

Refusal Splitter::runInCluster(int64_t blocks) {
  scf::ForOp loop = getLoop(kernel);
  if (Refusal refusal = findRowwiseEpilogue(loop, epilogue))
    return refusal;
  int64_t rows = tiles.front().getDimSize(0);
  if (Refusal refusal = checkClusterSplit(*getTargetChip(kernel), blocks, rows))
    return refusal;
  kernel.setClusterBlocks(blocks);
  ImplicitLocOpBuilder b = buildAtStart(kernel);
  Value rank = ClusterRankOp::create(b);
  Value next =
      arith::AddIOp::create(b, rank, arith::ConstantIndexOp::create(b, 1));
  Value offset = arith::MulIOp::create(
      b, rank, arith::ConstantIndexOp::create(b, rows / blocks));
  SmallVector<Value> starts = setIterations(loop, rank, next, blocks);
  copyEpilogue(loop, starts);
  divideEpilogue(blocks, offset);
  for (auto [result, start, tile] :
       llvm::zip_equal(loop.getResults(), starts, tiles)) {
    b.setInsertionPointAfter(loop);
    auto kind = tile.getElementType().isF32() ? arith::AtomicRMWKind::addf
                                              : arith::AtomicRMWKind::addi;
    auto reduce =
        ClusterReduceOp::create(b, getPiece(tile, blocks), kind, result);
    result.replaceAllUsesExcept(reduce, reduce);
    if (isZeroTile(start))
      continue;
    b.setInsertionPointAfterValue(start);
    Value sum = addTiles(b, start, reduce);
    reduce->getResult(0).replaceAllUsesExcept(sum, sum.getDefiningOp());
  }
  return std::nullopt;
}

namespace {
/// How blocks share the iterations of a loop.
struct Sharing {
  StringRef field;
  int64_t count;
};
} // namespace

/// Takes the fields of the pass from `schedule`.
static std::optional<Sharing> takeSharing(Schedule &schedule) {
  std::optional<int64_t> split = std::exchange(schedule.split, std::nullopt);
  std::optional<int64_t> cluster =
      std::exchange(schedule.clusterSplit, std::nullopt);
  std::optional<int64_t> streamK =
      std::exchange(schedule.streamK, std::nullopt);
  if (streamK)
    return Sharing{"stream_k", *streamK};
  if (cluster)
    return Sharing{"cluster_split", *cluster};
  if (split.value_or(1) != 1)
    return Sharing{"split", *split};
  return std::nullopt;
}

/// Carries out `sharing`.
static Refusal share(KernelOp kernel, const Sharing &sharing,
                     SymbolTable &symbols) {
  scf::ForOp loop;
  if (Refusal refusal = findSplitLoop(kernel, loop))
    return refusal;
  if (sharing.field == "cluster_split")
    return Splitter(kernel, loop, nullptr).runInCluster(sharing.count);
  std::unique_ptr<Partition> partition = sharing.field == "split"
                                             ? createEqualParts(sharing.count)
                                             : createStreamK(sharing.count);
  Splitter(kernel, loop, std::move(partition)).run(symbols);
  return std::nullopt;
}

namespace {
struct SplitReduction : tile::impl::TileSplitReductionBase<SplitReduction> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto kernel : llvm::to_vector(getOperation().getOps<KernelOp>())) {
      Schedule schedule = getSchedule(kernel);
      std::optional<Sharing> sharing = takeSharing(schedule);
      setSchedule(kernel, schedule);
      if (!sharing)
        continue;
      if (failed(checkOpen(kernel)) || !getTargetChip(kernel))
        return signalPassFailure();
      if (Refusal refusal = share(kernel, *sharing, symbols)) {
        kernel.emitOpError()
            << "cannot have '" << sharing->field << " = " << sharing->count
            << "' in its schedule: " << *refusal;
        return signalPassFailure();
      }
      remark::passed(kernel.getLoc(),
                     remark::RemarkOpts::name("reduction-split")
                         .category("tile-split-reduction"))
          << remark::metric(sharing->field == "split" ? "parts" : "blocks",
                            sharing->count);
    }
  }
};
} // namespace
