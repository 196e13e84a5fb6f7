//===- AssignLayouts.cpp - A layout for every tile ------------------------===//
//
// Layouts start at the tiles whose layout is known (tiles that the author laid
// out, matrix products, operands in shared memory) and spread through the
// operations, which say which layouts they prefer (TileLayoutOpInterface).
// Tiles that no layout has reached get a coalesced or blocked one, and spread
// it. In the end each operation states which layouts it needs, and a
// tile.convert_layout goes wherever a tile has another one.
//
//===----------------------------------------------------------------------===//

#include "AccessLayouts.h"
#include "DecomposeShapes.h"
#include "DotOperands.h"
#include "MmaChoice.h"
#include "OldValues.h"
#include "RemoveExchanges.h"
#include "SharedPlacement.h"
#include "TransposedCopies.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/Registers.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Layout/Queries.h"
#include <deque>
#include <map>

namespace tile {
#define GEN_PASS_DEF_TILEASSIGNLAYOUTS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// The registers of an operand of coordinates that a loop may keep.
static constexpr int64_t kKeptOperand = 32;

/// Returns the type of a tile, null for a value of another type.
static RankedTensorType tileType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

namespace {
class LayoutAssigner : public LayoutRequirements {
public:
  LayoutAssigner(KernelOp kernel, const Chip &chip, int64_t operandBudget)
      : kernel(kernel), chip(chip), placement(kernel, chip, products),
        operands(kernel, chip, products, placement, operandBudget),
        access(kernel, chip), builder(kernel.getContext()) {}

  /// Gives every tile of the kernel a layout.
  LogicalResult run();

  void requireOperand(OpOperand &operand, LayoutAttrInterface layout) override;
  void requireFactor(OpOperand &operand) override;
  void requireRegisters(OpOperand &operand, BufferType memory) override;
  void provideResult(OpResult result, LayoutAttrInterface layout) override;

private:
  LogicalResult checkOperations();
  void rematerialize();
  LogicalResult chooseInstructions();
  void seedPinned();
  void seedProducts();
  void seedFactors();
  void seedCoordinateOperands();
  Value cloneSlice(Value value);
  void seedDefaults();
  void keepOldValuesInOneWarp();
  void assign(Value value, LayoutAttrInterface layout);
  void propose(Value value, LayoutAttrInterface layout);
  LayoutAttrInterface layoutOf(Value value);
  void spread();
  void spreadThrough(Operation *op, Value value, LayoutAttrInterface layout);
  LogicalResult setLayouts();
  void insertConversions();

  KernelOp kernel;
  const Chip &chip;
  ProductLayouts products;
  SharedPlacement placement;
  DotOperands operands;
  AccessLayouts access;
  OpBuilder builder;
  TileLayouts layouts;
  /// Loads that the layouts of fragments have spread to.
  DenseSet<LoadOp> sources;
  /// Tiles whose layout has not spread yet.
  std::deque<Value> worklist;
  /// Layouts that have been proposed for tiles, by the threads and registers
  /// that would hold an element.
  std::map<int64_t, std::deque<std::pair<Value, LayoutAttrInterface>>>
      proposals;
};
} // namespace

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

/// Verifies that `type`, of a result of `op`, is a tile. Operations of other
/// dialects allow other tensors, too.
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

/// Verifies that every operation on tiles is of the tile dialect or implements
/// TileLayoutOpInterface.
LogicalResult LayoutAssigner::checkOperations() {
  WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
    auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
    if (llvm::none_of(op->getOperandTypes(), isTile) &&
        llvm::none_of(op->getResultTypes(), isTile))
      return WalkResult::advance();
    for (Value result : op->getResults())
      if (RankedTensorType type = tileType(result);
          type && failed(verifyTile(op, type)))
        return WalkResult::interrupt();
    if (op->getDialect() == kernel->getDialect() ||
        isa<TileLayoutOpInterface>(op))
      return WalkResult::advance();
    return op->emitOpError("is not an operation on tiles that can be laid out");
  });
  return failure(result.wasInterrupted());
}

/// Repeats rematerializable operations for each of their uses.
void LayoutAssigner::rematerialize() {
  SmallVector<Operation *> cheap;
  kernel.walk([&](TileLayoutOpInterface op) {
    if (op.isRematerializable())
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

/// Reports an asynchronous instruction that `dot` cannot have because of the
/// order of its operand b in memory.
static void remarkOrder(DotOp dot, const Mma &chosen, const Chip &chip) {
  if (chosen.isAsync || dot.getInstruction() || isKMajor(dot, 1))
    return;
  for (StringRef name : chip.mma)
    if (const Mma *mma = findMma(name);
        mma->isAsync && mma->needsKMajor && dot.isComputedBy(*mma))
      remark::missed(dot.getLoc(),
                     remark::RemarkOpts::name("operand-not-k-major")
                         .category("tile-assign-layouts"))
          << remark::reason("{0} needs an operand b whose columns are "
                            "contiguous in memory, and its rows are: {1} is "
                            "used instead",
                            name, StringRef(chosen.name));
}

/// Chooses the instruction of every product.
LogicalResult LayoutAssigner::chooseInstructions() {
  WalkResult result = kernel.walk([&](DotOp dot) {
    FailureOr<MmaAttr> mma = chooseMma(dot, kernel.getNumWarps(), chip);
    if (failed(mma))
      return WalkResult::interrupt();
    products.insert({dot, *mma});
    remarkOrder(dot, mma->getMma(), chip);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Propagation
//===----------------------------------------------------------------------===//

/// Returns the layout of `value`, null if it has none yet.
LayoutAttrInterface LayoutAssigner::layoutOf(Value value) {
  if (LayoutAttrInterface pinned = getLayoutAttr(value.getType()))
    return pinned;
  return layouts.lookup(value);
}

/// Returns the result of a loop for an argument of its body, and the argument
/// for a result: both have one type. Null for other values.
static Value findCarriedTile(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop ? Value(loop.getTiedLoopResult(argument)) : Value();
  }
  auto loop = value.getDefiningOp<scf::ForOp>();
  return loop ? Value(loop.getTiedLoopRegionIterArg(cast<OpResult>(value)))
              : Value();
}

/// Gives `value` a layout that spreads, unless it is no tile or has one. An
/// argument of a loop and its result get the layout together, so that no other
/// layout reaches one of them first.
void LayoutAssigner::assign(Value value, LayoutAttrInterface layout) {
  if (!tileType(value) || getLayoutAttr(value.getType()) ||
      !layouts.try_emplace(value, layout).second)
    return;
  worklist.push_back(value);
  if (Value carried = findCarriedTile(value))
    assign(carried, layout);
}

/// Remembers a layout that reaches `value`.
void LayoutAssigner::propose(Value value, LayoutAttrInterface layout) {
  RankedTensorType type = tileType(value);
  if (!type || getLayoutAttr(type) || layouts.contains(value))
    return;
  int64_t copies = getCanonicalLayout(withLayout(type, layout)).inputSize() /
                   type.getNumElements();
  proposals[copies].emplace_back(value, layout);
}

/// Spreads the layouts of the tiles in the worklist, and of those that they
/// reach. Of several layouts that reach a tile, the one with the fewest copies
/// of its elements wins: a row of a product's columns, for example, is in all
/// rows of threads, and what is computed from it would be computed there.
void LayoutAssigner::spread() {
  while (true) {
    while (!worklist.empty()) {
      Value value = worklist.front();
      worklist.pop_front();
      LayoutAttrInterface layout = layoutOf(value);
      Operation *owner = value.getDefiningOp();
      if (!owner)
        owner = cast<BlockArgument>(value).getOwner()->getParentOp();
      spreadThrough(owner, value, layout);
      for (Operation *user : value.getUsers())
        spreadThrough(user, value, layout);
    }
    if (proposals.empty())
      return;
    auto &fewest = proposals.begin()->second;
    auto [value, layout] = fewest.front();
    fewest.pop_front();
    if (fewest.empty())
      proposals.erase(proposals.begin());
    assign(value, layout);
  }
}

/// Spreads the layout of `value` to the other tiles of `op`.
void LayoutAssigner::spreadThrough(Operation *op, Value value,
                                   LayoutAttrInterface layout) {
  if (auto tiles = dyn_cast<TileLayoutOpInterface>(op))
    tiles.inferLayouts(value, layout,
                       [&](Value other, LayoutAttrInterface proposed) {
                         propose(other, proposed);
                       });
}

/// Spreads the layouts that the author wrote.
void LayoutAssigner::seedPinned() {
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (LayoutAttrInterface pinned = getLayoutAttr(result.getType()))
        if (pinned.getFamily() == LayoutFamily::Distributed)
          worklist.push_back(result);
  });
  spread();
}

/// Spreads the layouts of the accumulators of products.
void LayoutAssigner::seedProducts() {
  for (auto &[product, mma] : products) {
    DotOp dot = product;
    assign(dot.getResult(), mma);
    assign(dot.getAcc(), mma);
  }
  spread();
}

/// Returns the tiles that the operand `value` is computed from if they are read
/// from global memory and together take fewer bits than it; none otherwise.
static SmallVector<LoadOp> findSmallerSources(Value value) {
  SetVector<Value> tiles;
  tiles.insert(value);
  SmallVector<LoadOp> loads;
  int64_t loaded = 0;
  for (size_t i = 0; i < tiles.size(); ++i) {
    Operation *op = tiles[i].getDefiningOp();
    auto bits = [](Value tile) {
      auto type = cast<RankedTensorType>(tile.getType());
      return type.getNumElements() * type.getElementTypeBitWidth();
    };
    if (auto load = dyn_cast_or_null<LoadOp>(op)) {
      if (load.getBuffer().getType().isShared())
        return {};
      loads.push_back(load);
      loaded += bits(tiles[i]);
      continue;
    }
    if (!op || op->getNumRegions() != 0 || !isMemoryEffectFree(op) ||
        isa<AssociativeScanOp, DotOp, ReduceOp, ScanOp>(op))
      return {};
    for (Value operand : op->getOperands())
      if (tileType(operand))
        tiles.insert(operand);
  }
  auto type = cast<RankedTensorType>(value.getType());
  if (loaded >= type.getNumElements() * type.getElementTypeBitWidth())
    loads.clear();
  return loads;
}

/// Spreads the layouts of fragments to what operands are computed from, such as
/// weights of few bits: threads then exchange these tiles, which are smaller
/// than the operands. A layout with copies would repeat the computation.
void LayoutAssigner::seedFactors() {
  for (auto &[product, mma] : products) {
    DotOp dot = product;
    for (unsigned index : {0, 1}) {
      Value operand = dot->getOperand(index);
      RankedTensorType type = tileType(operand);
      if (!type || layoutOf(operand) || !mma.getMma().spaces[index].registers)
        continue;
      auto fragment = DotOperandAttr::get(dot.getContext(), index, mma);
      SmallVector<LoadOp> loads = findSmallerSources(operand);
      if (loads.empty() ||
          getCanonicalLayout(withLayout(type, fragment)).inputSize() !=
              type.getNumElements())
        continue;
      assign(operand, fragment);
      sources.insert(loads.begin(), loads.end());
    }
  }
  spread();
}

/// Returns true if threads compute the elements of `value` from constants and
/// coordinates in few operations, whatever its layout is, which is open.
static bool isCheapFunctionOfCoordinates(Value value) {
  if (!isFunctionOfCoordinates(value))
    return false;
  SetVector<Value> tiles;
  tiles.insert(value);
  for (size_t i = 0; i < tiles.size(); ++i) {
    Operation *op = tiles[i].getDefiningOp();
    bool isCheap = op->hasTrait<OpTrait::ConstantLike>() ||
                   isa<IotaOp, tensor::SplatOp>(op) ||
                   (op->hasTrait<OpTrait::Elementwise>() &&
                    isa<arith::ArithDialect>(op->getDialect()) &&
                    !isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp,
                         arith::RemFOp, arith::RemSIOp, arith::RemUIOp>(op));
    if (!isCheap || getLayoutAttr(tiles[i].getType()))
      return false;
    for (Value operand : op->getOperands())
      if (tileType(operand))
        tiles.insert(operand);
  }
  return true;
}

/// Clones the operations on tiles that compute `value`, each beside the
/// original, so that what is invariant in a loop stays out.
Value LayoutAssigner::cloneSlice(Value value) {
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (tileType(operand) && !mapping.contains(operand))
      mapping.map(operand, cloneSlice(operand));
  builder.setInsertionPointAfter(op);
  return builder.clone(*op, mapping)
      ->getResult(cast<OpResult>(value).getResultNumber());
}

/// Gives operands that depend on coordinates and constants only, such as masked
/// constants, the layouts of fragments: threads compute them where they need
/// them, and nothing goes through shared memory.
void LayoutAssigner::seedCoordinateOperands() {
  for (auto &[product, mma] : products) {
    DotOp dot = product;
    for (unsigned index : {0, 1}) {
      OpOperand &operand = dot->getOpOperand(index);
      RankedTensorType type = tileType(operand.get());
      OperandSpaces spaces = mma.getMma().spaces[index];
      if (!type || !spaces.registers || spaces.shared ||
          operand.get().getDefiningOp<arith::ConstantOp>() ||
          !isCheapFunctionOfCoordinates(operand.get()))
        continue;
      auto fragment = DotOperandAttr::get(dot.getContext(), index, mma);
      if (dot->getParentOfType<LoopLikeOpInterface>() &&
          countRegisters(withLayout(type, fragment)) > kKeptOperand)
        continue;
      operand.set(cloneSlice(operand.get()));
      assign(operand.get(), fragment);
    }
  }
  spread();
}

//===----------------------------------------------------------------------===//
// Tiles that no layout has reached
//===----------------------------------------------------------------------===//

/// Gives the remaining tiles a layout and spreads it: first those that are read
/// from global memory, since their layouts decide how wide accesses are, and
/// then all others, both in program order.
void LayoutAssigner::seedDefaults() {
  SmallVector<Value> values;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults())
      if (tileType(result))
        values.push_back(result);
  });
  auto seed = [&](Value value) {
    if (layoutOf(value))
      return;
    assign(value, access.getLayout(value));
    spread();
  };
  for (Value value : values) {
    auto load = value.getDefiningOp<LoadOp>();
    if (value.getDefiningOp<GatherOp>() ||
        (load && !load.getBuffer().getType().isShared()))
      seed(value);
  }
  llvm::for_each(values, seed);
}

/// Gives the old values of atomic operations a layout without copies in several
/// warps, since only the warp that combines an element gets its old value.
void LayoutAssigner::keepOldValuesInOneWarp() {
  kernel.walk([&](AtomicRMWOp atomic) {
    Value old = atomic.getResult();
    LayoutAttrInterface layout = old ? layouts.lookup(old) : nullptr;
    if (layout && isSharedByWarps(withLayout(tileType(old), layout)))
      layouts.insert_or_assign(old,
                               getOldValueLayout(tileType(old), chip.warpSize,
                                                 kernel.getNumWarps()));
  });
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

void LayoutAssigner::requireOperand(OpOperand &operand,
                                    LayoutAttrInterface layout) {
  if (!tileType(operand.get()))
    return;
  builder.setInsertionPoint(operand.getOwner());
  operand.set(convertTile(builder, operand.get(), layout));
}

void LayoutAssigner::requireFactor(OpOperand &operand) {
  operands.convert(operand);
}

void LayoutAssigner::requireRegisters(OpOperand &operand, BufferType memory) {
  RankedTensorType type = tileType(operand.get());
  if (isSharedTile(type))
    requireOperand(operand, access.getCoalesced(memory, type));
}

void LayoutAssigner::provideResult(OpResult result,
                                   LayoutAttrInterface layout) {
  RankedTensorType assigned = tileType(result);
  RankedTensorType provided = withLayout(assigned, layout);
  if (assigned == provided)
    return;
  result.setType(provided);
  builder.setInsertionPointAfter(result.getOwner());
  Value converted = convertTile(builder, result, getLayoutAttr(assigned));
  result.replaceAllUsesExcept(converted, converted.getDefiningOp());
}

/// Gives every tile the layout that was assigned to it.
LogicalResult LayoutAssigner::setLayouts() {
  for (auto &[value, layout] : layouts) {
    auto op = value.getDefiningOp<TileLayoutOpInterface>();
    if (!op)
      Value(value).setType(withLayout(tileType(value), layout));
    else if (failed(op.setLayout(cast<OpResult>(value), layout)))
      return failure();
  }
  return success();
}

/// Converts tiles wherever an operation needs them in another layout.
void LayoutAssigner::insertConversions() {
  SmallVector<TileLayoutOpInterface> operations;
  kernel.walk([&](TileLayoutOpInterface op) { operations.push_back(op); });
  for (TileLayoutOpInterface op : operations)
    op.requireLayouts(*this);
  kernel.walk([&](StoreOp store) {
    if (!layouts.contains(store.getValue()))
      return;
    if (LayoutAttrInterface layout =
            access.getExchanged(store, /*hasProducts=*/!products.empty()))
      requireOperand(store.getValueMutable(), layout);
  });
  // Threads check and print what is in their registers.
  SmallVector<Operation *> reports;
  kernel.walk([&](Operation *op) {
    if (isa<AssertOp, PrintOp>(op) && isSharedTile(op->getOperand(0).getType()))
      reports.push_back(op);
  });
  for (Operation *op : reports)
    requireOperand(op->getOpOperand(0),
                   access.getDefault(tileType(op->getOperand(0))));
}

LogicalResult LayoutAssigner::run() {
  if (failed(checkOperations()))
    return failure();
  growOldValues(kernel, chip);
  decomposeShapes(kernel, chip);
  rematerialize();
  if (failed(chooseInstructions()))
    return failure();
  placement.placeOperands(layouts);
  seedPinned();
  seedProducts();
  seedCoordinateOperands();
  seedFactors();
  seedDefaults();
  keepOldValuesInOneWarp();
  placement.placeRepeated(layouts, sources);
  if (failed(setLayouts()))
    return failure();
  insertConversions();
  removeExchanges(kernel);
  if (!chip.ldmatrix)
    addTransposedCopies(kernel, chip);
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
    if (kernel.getClusterBlocks() > chip->clusterBlocks) {
      kernel.emitOpError() << "has clusters of " << kernel.getClusterBlocks()
                           << " blocks; " << chip->name << " has at most "
                           << chip->clusterBlocks;
      return signalPassFailure();
    }
    int64_t warps = kernel.getNumWarps();
    int64_t blocks = countClusterBlocks(*chip, warps);
    if (warps % blocks != 0 || warps * chip->warpSize > blocks * kMostThreads) {
      InFlightDiagnostic diag = kernel.emitOpError();
      diag << "has " << warps << " warps of " << chip->warpSize << " threads; ";
      if (chip->clusterBlocks == 1)
        diag << "a block has at most " << kMostThreads << " threads";
      else
        diag << "the " << blocks
             << " blocks of its cluster must have equally many, at most "
             << kMostThreads << " threads each";
      return signalPassFailure();
    }
    if (failed(LayoutAssigner(kernel, *chip, operandBudget).run()))
      signalPassFailure();
  }
};
} // namespace
