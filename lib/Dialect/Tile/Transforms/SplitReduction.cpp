//===- SplitReduction.cpp - Blocks that share the iterations of a loop ----===//

#include "tile/Analysis/SplitReduction.h"
#include "LaunchValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
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
  Splitter(KernelOp kernel, scf::ForOp loop, int64_t parts)
      : kernel(kernel), parts(parts) {
    for (Value result : loop.getResults())
      tiles.push_back(cast<RankedTensorType>(result.getType()));
  }

  void run(SymbolTable &symbols);

private:
  /// A copy of the kernel.
  struct Copy {
    KernelOp kernel;
    scf::ForOp loop;
    /// The buffers of sums.
    SmallVector<Value> sums;
    /// The number of the block in the grid of the original, and its number
    /// among the blocks that share that one's work.
    Value block, share;
  };

  Copy prepare(KernelOp copy);
  void shareIterations(Copy &copy);
  void storeSums(Copy &copy);
  int64_t countPieces(const Copy &copy);
  void divideEpilogue(Copy &copy, int64_t pieces, Value offset);
  void addSums(Copy &copy, int64_t pieces);

  KernelOp kernel;
  int64_t parts;
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

/// Returns the type of a buffer of as many tiles as there are parts.
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

/// Multiplies the blocks of a launch along z.
static void multiplyGrid(KernelOp kernel, int64_t blocks) {
  GridOp grid = kernel.getGrid();
  ImplicitLocOpBuilder b(grid.getLoc(), grid);
  Value factor = arith::ConstantIndexOp::create(b, blocks);
  grid.getZMutable().assign(arith::MulIOp::create(b, grid.getZ(), factor));
}

/// Adds the buffers of sums with names to a copy of the kernel, and numbers the
/// blocks of a launch whose grid is multiplied.
Splitter::Copy Splitter::prepare(KernelOp copy) {
  Copy result{copy, getLoop(copy), {}, Value(), Value()};
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

  GridOp grid = copy.getGrid();
  Value extents[] = {grid.getX(), grid.getY(), grid.getZ()};
  ImplicitLocOpBuilder b(grid.getLoc(), grid);
  auto multiply = [&](Value a, Value other) {
    return arith::MulIOp::create(b, a, other).getResult();
  };
  auto number = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, value).getResult();
  };
  Value count = multiply(multiply(extents[0], extents[1]),
                         multiply(extents[2], number(parts)));
  for (Value sums : result.sums)
    RequireOp::create(b, sums, /*dim=*/0, Relation::AtLeast, count,
                      "the parts of all blocks");

  SmallVector<ProgramIdOp> depths;
  copy.walk([&](ProgramIdOp id) {
    if (id.getAxis() == Dimension::z)
      depths.push_back(id);
  });
  b.setInsertionPointToStart(&copy.getBody().front());
  Value x = ProgramIdOp::create(b, Dimension::x);
  Value y = ProgramIdOp::create(b, Dimension::y);
  Value z = ProgramIdOp::create(b, Dimension::z);
  IRMapping mapping;
  for (Value &extent : extents)
    extent = cloneLaunchValue(b, extent, mapping);
  if (matchPattern(extents[2], m_One())) {
    result.share = z;
    z = number(0);
  } else {
    result.share = arith::DivUIOp::create(b, z, extents[2]);
    z = arith::RemUIOp::create(b, z, extents[2]);
  }
  for (ProgramIdOp id : depths) {
    id.replaceAllUsesWith(z);
    id.erase();
  }
  Value column = arith::AddIOp::create(b, y, multiply(extents[1], z));
  result.block = arith::AddIOp::create(b, x, multiply(extents[0], column));
  return result;
}

/// Returns the place of a part among the sums of a block, and the coordinates
/// of the first element.
static Value slicePart(ImplicitLocOpBuilder &b, Value sums, Value block,
                       int64_t parts, Value part,
                       SmallVectorImpl<Value> &zeros) {
  Value factor = arith::ConstantIndexOp::create(b, parts);
  Value number =
      arith::AddIOp::create(b, arith::MulIOp::create(b, block, factor), part);
  SmallVector<Value> indices = {number};
  indices.resize(cast<BufferType>(sums.getType()).getShape().size());
  zeros.assign(indices.size() - 1, arith::ConstantIndexOp::create(b, 0));
  return SliceOp::create(b, sums, indices);
}

static Value createZero(ImplicitLocOpBuilder &b, RankedTensorType tile) {
  return arith::ConstantOp::create(b, b.getZeroAttr(tile));
}

/// Lets a block run one part of the iterations.
void Splitter::shareIterations(Copy &copy) {
  scf::ForOp loop = copy.loop;
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Value first = loop.getLowerBound(), last = loop.getUpperBound();
  // A loop that ends before it begins has a count that is not positive, and so
  // have its parts.
  Value length = arith::SubIOp::create(b, last, first);
  Value count = arith::CeilDivSIOp::create(b, length, loop.getStep());
  Value each = arith::CeilDivSIOp::create(
      b, count, arith::ConstantIndexOp::create(b, parts));
  Value stride = arith::MulIOp::create(b, each, loop.getStep());
  Value begin = arith::AddIOp::create(
      b, first, arith::MulIOp::create(b, copy.share, stride));
  Value end =
      arith::MinSIOp::create(b, last, arith::AddIOp::create(b, begin, stride));
  loop.getLowerBoundMutable().assign(begin);
  loop.getUpperBoundMutable().assign(end);
  for (auto [init, tile] : llvm::zip_equal(loop.getInitArgsMutable(), tiles))
    init.set(createZero(b, tile));
}

/// Stores the sums of a block in place of all that comes after the loop.
void Splitter::storeSums(Copy &copy) {
  scf::ForOp loop = copy.loop;
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Block &body = copy.kernel.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body))) {
    if (&op == loop)
      break;
    if (op.use_empty() && !isa<GridOp, RequireOp, ReturnOp>(op))
      op.erase();
  }
  b.setInsertionPointToStart(&body);
  LaunchDependentsOp::create(b);
  b.setInsertionPointAfter(loop);
  for (auto [sum, sums] : llvm::zip_equal(loop.getResults(), copy.sums)) {
    SmallVector<Value> zeros;
    Value place = slicePart(b, sums, copy.block, parts, copy.share, zeros);
    StoreOp::create(b, sum, place, zeros);
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
void Splitter::addSums(Copy &copy, int64_t pieces) {
  scf::ForOp loop = copy.loop;
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  b.setInsertionPointToStart(&copy.kernel.getBody().front());
  WaitPrerequisitesOp::create(b);
  b.setInsertionPointAfterValue(copy.share);
  Value offset;
  if (pieces > 1) {
    int64_t rows = tiles.front().getDimSize(0) / pieces;
    offset = arith::MulIOp::create(b, copy.share,
                                   arith::ConstantIndexOp::create(b, rows));
    divideEpilogue(copy, pieces, offset);
  }
  b.setInsertionPoint(loop);
  int64_t elements = 0;
  for (auto [result, init, tile, sums] : llvm::zip_equal(
           loop.getResults(), loop.getInitArgs(), tiles, copy.sums)) {
    RankedTensorType piece = getPiece(tile, pieces);
    elements = std::max(elements, piece.getNumElements());
    Value sum;
    if (!isZeroTile(init))
      sum = init;
    for (int64_t i = 0; i < parts; ++i) {
      SmallVector<Value> indices;
      Value place = slicePart(b, sums, copy.block, parts,
                              arith::ConstantIndexOp::create(b, i), indices);
      if (offset)
        indices[0] = offset;
      Value next = LoadOp::create(b, piece, place, indices);
      if (!sum)
        sum = next;
      else if (isa<FloatType>(tile.getElementType()))
        sum = arith::AddFOp::create(b, sum, next);
      else
        sum = arith::AddIOp::create(b, sum, next);
    }
    result.replaceAllUsesWith(sum);
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
    multiplyGrid(kernel, parts);
    shareIterations(copy);
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
  Copy first = prepare(kernel);
  multiplyGrid(kernel, parts);
  shareIterations(first);
  storeSums(first);
  Copy last = prepare(second);
  int64_t pieces = countPieces(last);
  multiplyGrid(second, pieces);
  addSums(last, pieces);
}

namespace {
struct SplitReduction : tile::impl::TileSplitReductionBase<SplitReduction> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto kernel : llvm::to_vector(getOperation().getOps<KernelOp>())) {
      Schedule schedule = getSchedule(kernel);
      if (!schedule.split)
        continue;
      int64_t parts = *std::exchange(schedule.split, std::nullopt);
      setSchedule(kernel, schedule);
      if (parts == 1)
        continue;
      scf::ForOp loop;
      if (Refusal refusal = findSplitLoop(kernel, loop)) {
        kernel.emitOpError() << "cannot have 'split = " << parts
                             << "' in its schedule: " << *refusal;
        return signalPassFailure();
      }
      if (failed(checkOpen(kernel)) || !getTargetChip(kernel))
        return signalPassFailure();
      Splitter(kernel, loop, parts).run(symbols);
      remark::passed(kernel.getLoc(),
                     remark::RemarkOpts::name("reduction-split")
                         .category("tile-split-reduction"))
          << remark::metric("parts", parts);
    }
  }
};
} // namespace
