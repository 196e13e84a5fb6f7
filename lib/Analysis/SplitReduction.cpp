//===- SplitReduction.cpp - Loops whose iterations may be divided ---------===//

#include "tile/Analysis/SplitReduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Analysis/GlobalMemory.h"

using namespace mlir;
using namespace tile;

static std::string quote(Operation *op) {
  return "'" + op->getName().getStringRef().str() + "'";
}

/// Refuses a loop that does more to the tile with this number than add to it.
static Refusal checkSum(scf::ForOp loop, unsigned number) {
  std::string name = "value " + std::to_string(number) + " of the loop";
  Value value = loop.getRegionIterArg(number);
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  if (!tile || !(isTile(tile) || isOpenTile(tile)) ||
      !(tile.getElementType().isF32() || tile.getElementType().isInteger(32)))
    return name + " is no tile of f32 or i32";
  if (getLayoutAttr(tile))
    return name + " has a layout";
  while (value.hasOneUse()) {
    OpOperand &use = *value.use_begin();
    Operation *user = use.getOwner();
    if (user->getBlock() != loop.getBody())
      return name + " is used in a region of the loop";
    auto dot = dyn_cast<DotOp>(user);
    if (isa<scf::YieldOp>(user)) {
      if (use.getOperandNumber() != number)
        return name + " becomes another one in the next iteration";
      return std::nullopt;
    }
    if (!isa<arith::AddFOp, arith::AddIOp>(user) &&
        !(dot && &use == &dot.getAccMutable()))
      return name + " is read by " + quote(user) + ", not only added to";
    value = user->getResult(0);
    if (value.getType() != tile)
      return name + " is added to by " + quote(user) + " of another type";
  }
  return name +
         (value.use_empty() ? " is not used" : " is used several times") +
         " in an iteration";
}

/// Refuses an operation that may write memory. `scope` names where it is.
static Refusal checkReadsOnly(Operation *root, StringRef scope) {
  Refusal refusal;
  root->walk([&](Operation *op) {
    if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        op->hasTrait<OpTrait::IsTerminator>() ||
        isa<ParamOp, GridOp, RequireOp>(op))
      return WalkResult::advance();
    auto effects = getEffectsRecursively(op);
    if (effects && llvm::all_of(*effects, [](auto &effect) {
          return isa<MemoryEffects::Read>(effect.getEffect());
        }))
      return WalkResult::advance();
    refusal = quote(op) + " stands " + scope.str();
    return WalkResult::interrupt();
  });
  return refusal;
}

Refusal tile::findSplitLoop(KernelOp kernel, scf::ForOp &loop) {
  loop = nullptr;
  for (auto other : kernel.getBody().front().getOps<scf::ForOp>()) {
    if (loop)
      return std::string("the kernel has several loops");
    loop = other;
  }
  if (!loop)
    return std::string("the kernel has no loop");
  if (!loop.getInductionVar().getType().isIndex())
    return std::string("the loop does not count in 'index'");
  if (loop.getNumResults() == 0)
    return std::string("the loop has no result");
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    if (Refusal refusal = checkSum(loop, i))
      return refusal;
  for (Operation &op : kernel.getBody().front()) {
    if (&op == loop)
      break;
    if (Refusal refusal = checkReadsOnly(&op, "in front of the loop"))
      return refusal;
  }
  if (Refusal refusal = checkReadsOnly(loop, "in the loop"))
    return refusal;
  // Operations that depend on how many blocks a launch has, or on the order of
  // launches.
  Operation *other = nullptr;
  kernel.walk([&](Operation *op) {
    if (isa<NumProgramsOp, MultiprocessorsOp, WaitPrerequisitesOp,
            LaunchDependentsOp>(op))
      other = op;
  });
  if (other)
    return "the kernel has a " + quote(other);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The epilogue: what a kernel computes from the results of the loop
//===----------------------------------------------------------------------===//

/// Returns the dimension of the operands of `op` that dimension `dim` of its
/// result comes from; nothing if `op` repeats its operand along it.
static std::optional<unsigned> getSourceDim(Operation *op, unsigned dim) {
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return transpose.getOrder()[dim];
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return dim < reduce.getDim() ? dim : dim + 1;
  auto broadcast = dyn_cast<BroadcastOp>(op);
  if (!broadcast || dim < broadcast.getDim())
    return dim;
  if (dim == broadcast.getDim())
    return std::nullopt;
  return dim - 1;
}

/// Returns the dimension of the result of `op` that comes from dimension `dim`
/// of its operands; nothing if there is none.
static std::optional<unsigned> getResultDim(Operation *op, unsigned dim) {
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return llvm::find(transpose.getOrder(), dim) - transpose.getOrder().begin();
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return dim < broadcast.getDim() ? dim : dim + 1;
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce || dim < reduce.getDim())
    return dim;
  if (dim == reduce.getDim())
    return std::nullopt;
  return dim - 1;
}

static bool hasTiles(Operation *op) {
  auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
  return llvm::any_of(op->getOperandTypes(), isTile) ||
         llvm::any_of(op->getResultTypes(), isTile);
}

/// Returns true if `op` computes each of `rows` rows from the same row of its
/// operands. Dimension `dim` of its result, or of the tile that it stores, has
/// the rows. Operations on scalars change no memory.
static bool isRowwise(Operation *op, unsigned dim, const TileExtent &rows) {
  if (op->getNumRegions() != 0)
    return false;
  if (!hasTiles(op))
    return isMemoryEffectFree(op) || isa<LoadScalarOp, ParamOp>(op);
  auto hasRows = [&](Type type, unsigned dim) {
    auto tile = dyn_cast<RankedTensorType>(type);
    return !tile || (!getLayoutAttr(tile) && dim < tile.getRank() &&
                     getExtents(tile)[dim] == rows);
  };
  for (Type type : op->getResultTypes())
    if (!hasRows(type, dim))
      return false;
  if (std::optional<unsigned> source = getSourceDim(op, dim))
    for (Type type : op->getOperandTypes())
      if (!hasRows(type, *source))
        return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  if (auto load = dyn_cast<LoadOp>(op))
    return !load.getBuffer().getType().isShared();
  if (auto store = dyn_cast<StoreOp>(op))
    return !store.getBuffer().getType().isShared();
  return op->hasTrait<OpTrait::Elementwise>() ||
         isa<BroadcastOp, ReduceOp, TransposeOp, tensor::SplatOp, IotaOp>(op);
}

/// Returns true if `op` may read elements that `write` writes.
static bool readsStored(Operation *op, StoreOp write) {
  BlockArgument argument = getRootArgument(write.getBuffer());
  return llvm::any_of(getGlobalAccesses(op), [&](const GlobalAccess &access) {
    return !access.isWrite && access.mayOverlap(argument) &&
           !areDisjointSlices(access.buffer, write.getBuffer());
  });
}

/// Returns the dimension of the result of `op`, or of the tile that it stores,
/// that has the rows of the results of `loop`, as far as operations in
/// `epilogue` compute its operands; nothing if none of them does.
static std::optional<unsigned> findRowDim(Operation *op, scf::ForOp loop,
                                          const RowwiseEpilogue &epilogue) {
  for (Value operand : op->getOperands()) {
    Operation *source = operand.getDefiningOp();
    if (!isa<RankedTensorType>(operand.getType()) || !source)
      continue;
    auto it = epilogue.find(source);
    if (source == loop || it != epilogue.end())
      return getResultDim(op, source == loop ? 0 : it->second);
  }
  return std::nullopt;
}

Refusal tile::findRowwiseEpilogue(scf::ForOp loop, RowwiseEpilogue &epilogue) {
  auto rowsOf = [](Type type) {
    return getExtents(cast<RankedTensorType>(type))[0];
  };
  TileExtent rows = rowsOf(loop.getResult(0).getType());
  for (Type type : loop.getResultTypes())
    if (rowsOf(type) != rows)
      return std::string("the results of the loop differ in their rows");
  // Operations that depend on the results, and those that write memory.
  for (Operation *op = loop->getNextNode(); op; op = op->getNextNode()) {
    bool depends = llvm::any_of(op->getOperands(), [&](Value operand) {
      Operation *other = operand.getDefiningOp();
      return other && (other == loop || epilogue.contains(other));
    });
    bool onlyReads = isMemoryEffectFree(op) || isa<LoadOp, LoadScalarOp>(op);
    if (depends || (!onlyReads && !isa<GridOp, RequireOp, ReturnOp>(op)))
      epilogue.insert({op, findRowDim(op, loop, epilogue).value_or(0)});
  }
  for (Value init : loop.getInitArgs())
    if (Operation *op = init.getDefiningOp())
      epilogue.insert({op, 0});
  // The order of the entries is that of discovery; entries are added.
  for (size_t i = 0; i < epilogue.size(); ++i) {
    auto [op, dim] = *(epilogue.begin() + i);
    if (!isRowwise(op, dim, rows))
      return quote(op) + " behind the loop may need other rows of a tile";
    std::optional<unsigned> sourceDim = getSourceDim(op, dim);
    // Each block repeats all of such a row.
    if (!sourceDim)
      continue;
    for (Value operand : op->getOperands()) {
      Operation *other = operand.getDefiningOp();
      if (!other)
        continue;
      unsigned found = 0;
      if (other != loop)
        found = epilogue.insert({other, *sourceDim}).first->second;
      if (isa<RankedTensorType>(operand.getType()) && found != *sourceDim)
        return quote(op) + " behind the loop may need other rows of a tile";
    }
  }
  Block *body = loop->getBlock();
  for (auto [op, dim] : epilogue) {
    if (!getSourceDim(op, dim))
      if (Operation *source = op->getOperand(0).getDefiningOp();
          source == loop || epilogue.contains(source))
        return quote(source) + " behind the loop is needed with all its rows";
    // The epilogue computes a part of the rows of these tiles, the loop all.
    for (Operation *user : op->getUsers()) {
      Operation *other = body->findAncestorOpInBlock(*user);
      if (isa<RankedTensorType>(op->getResult(0).getType()) && other != loop &&
          !epilogue.contains(other))
        return quote(op) + " behind the loop is needed with all its rows";
    }
  }
  // Another block may write rows that this one reads, unless both are rows of
  // one block.
  Refusal refusal;
  for (auto [write, dim] : epilogue)
    if (auto store = dyn_cast<StoreOp>(write))
      body->walk<WalkOrder::PreOrder>([&, dim = dim](Operation *op) {
        if (op == loop)
          return WalkResult::skip();
        auto it = isa<LoadOp>(op) ? epilogue.find(op) : epilogue.end();
        bool isSamePlace =
            it != epilogue.end() && it->second == dim &&
            llvm::equal(op->getOperands(), store->getOperands().drop_front());
        if (!isSamePlace && readsStored(op, store))
          refusal = quote(op) + " may read rows that another block writes";
        return WalkResult::advance();
      });
  return refusal;
}

Refusal tile::checkClusterSplit(const Chip &chip, int64_t blocks,
                                int64_t rows) {
  if (blocks > chip.clusterBlocks)
    return chip.name.str() + " has clusters of at most " +
           std::to_string(chip.clusterBlocks) + " blocks";
  if (rows % blocks != 0)
    return std::to_string(blocks) + " blocks cannot divide " +
           std::to_string(rows) + " rows";
  return std::nullopt;
}

StreamKPlan::StreamKPlan(int64_t tiles, int64_t blocks) : left(tiles % blocks) {
  if (left == 0)
    return;
  columns = blocks / left;
  rests = blocks % left;
  if (rests == 0 || left <= kMostRests * rests)
    return;
  if (columns == 1) {
    left = columns = rests = 0;
    return;
  }
  // One column less leaves more blocks for the rests.
  --columns;
  rests += left;
}

bool tile::isZeroTile(Value tile) {
  if (auto splat = tile.getDefiningOp<tensor::SplatOp>())
    tile = splat.getInput();
  return matchPattern(tile, m_AnyZeroFloat()) || matchPattern(tile, m_Zero());
}

bool tile::addsAtomically(scf::ForOp loop) {
  for (Value init : loop.getInitArgs())
    if (!isZeroTile(init))
      return false;
  // A product that is computed transposed is added transposed back.
  auto isTransposed = [&](Operation *op) {
    auto transpose = dyn_cast<TransposeOp>(op);
    return transpose && transpose.getSource().getDefiningOp() == loop;
  };
  auto isAddition = [&](Operation *op) {
    auto atomic = dyn_cast<AtomicRMWOp>(op);
    if (!atomic || atomic.getResult() ||
        (atomic.getKind() != arith::AtomicRMWKind::addf &&
         atomic.getKind() != arith::AtomicRMWKind::addi))
      return false;
    Operation *source = atomic.getValue().getDefiningOp();
    return source && (source == loop || isTransposed(source));
  };
  auto isAdded = [&](Operation *op) {
    return isAddition(op) ||
           (isTransposed(op) && llvm::all_of(op->getUsers(), isAddition));
  };
  if (!llvm::all_of(loop->getUsers(), isAdded))
    return false;
  for (Operation *op = loop->getNextNode(); op; op = op->getNextNode()) {
    if (isAddition(op) || op->hasTrait<OpTrait::IsTerminator>() ||
        isa<RequireOp, GridOp>(op))
      continue;
    auto effects = getEffectsRecursively(op);
    if (!effects || llvm::any_of(*effects, [](auto &effect) {
          return !isa<MemoryEffects::Read>(effect.getEffect());
        }))
      return false;
  }
  return true;
}
