//===- SplitElementwiseRuns.cpp - Elementwise operations part by part -----===//
//
// An operation on a vector becomes one instruction for each element, and back
// ends keep the order of the operations to a large extent: all elements of a
// tile are computed by one operation before the next one begins. A value that
// several operations of a run read, like x in x * f(x), is then live beside the
// results in between. Part by part, only the results of one part are. What is
// computed behind a store joins the run before it, if that takes no registers.
//
//===----------------------------------------------------------------------===//

#include "../Products.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Analysis/Registers.h"
#include "tile/Conversion/TileToGPU/Passes.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILESPLITELEMENTWISERUNS
#include "tile/Conversion/TileToGPU/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Elements of a part: instructions that do not wait for each other, and full
/// registers of elements of 8 bits.
static constexpr int64_t kPartElements = 8;

/// Returns the vector of floats that `op` computes elementwise from others;
/// null for other operations, such as those on coordinates and predicates.
static VectorType getVector(Operation &op) {
  auto isFloat = [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  };
  if (op.getNumResults() != 1 || op.getNumRegions() != 0 ||
      !op.hasTrait<OpTrait::Elementwise>() || !isMemoryEffectFree(&op) ||
      !llvm::all_of(op.getOperandTypes(), isFloat))
    return {};
  auto vector = dyn_cast<VectorType>(op.getResult(0).getType());
  return vector && vector.getRank() == 1 && !vector.isScalable() ? vector
                                                                 : VectorType();
}

/// Returns the bits of registers that a value takes: none for constants and
/// predicates, and one of several equal elements.
static int64_t countBits(Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector || vector.getElementType().isInteger(1) ||
      matchPattern(value, m_Constant()))
    return 0;
  if (auto shuffle = value.getDefiningOp<vector::ShuffleOp>();
      shuffle && shuffle.getV1() == shuffle.getV2())
    vector = shuffle.getV1VectorType();
  if (value.getDefiningOp<vector::BroadcastOp>())
    return vector.getElementTypeBitWidth();
  return vector.getNumElements() * vector.getElementTypeBitWidth();
}

/// Returns true if the vectors of `run` take more than `limit` registers
/// between its operations, and more than before and behind it.
static bool needsMoreInside(ArrayRef<Operation *> run, int64_t limit) {
  llvm::SmallDenseSet<Operation *> inside(run.begin(), run.end());
  // Vectors from before the run that are used behind it are live all the time,
  // as those of the run that are used behind it are from their definition on.
  llvm::SetVector<Value> live;
  auto isUsedBehind = [&](Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return !inside.contains(user) &&
             (user->getBlock() != run.back()->getBlock() ||
              run.back()->isBeforeInBlock(user));
    });
  };
  for (Operation *op : run)
    for (Value value :
         llvm::concat<Value>(SmallVector<Value>(op->getOperands()),
                             SmallVector<Value>(op->getResults())))
      if (isUsedBehind(value))
        live.insert(value);
  auto count = [&] {
    int64_t bits = 0;
    for (Value value : live)
      bits += countBits(value);
    return bits;
  };
  int64_t ends = count(), most = 0;
  for (Operation *op : llvm::reverse(run)) {
    most = std::max(most, count());
    live.remove(op->getResult(0));
    live.insert(op->operand_begin(), op->operand_end());
  }
  return most > std::max({ends, count(), 32 * limit});
}

/// Returns the elements of `value` from `first` on; `value` itself if it is a
/// scalar.
static Value slice(ImplicitLocOpBuilder &b, Value value, int64_t first,
                   int64_t size) {
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector)
    return value;
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant.isSplat())
    return arith::ConstantOp::create(b, constant.resizeSplat(VectorType::get(
                                            size, vector.getElementType())));
  return vector::ExtractStridedSliceOp::create(
      b, value, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{size},
      ArrayRef<int64_t>{1});
}

/// Replaces the operations of `run` by operations on parts of their vectors.
/// With `keepsOrder`, a scheduling barrier stands between the parts: LLVM's
/// scheduler for AMD would mix them.
static void split(ArrayRef<Operation *> run, bool keepsOrder) {
  ImplicitLocOpBuilder b(run.back()->getLoc(), run.back());
  llvm::SmallDenseSet<Operation *> inside(run.begin(), run.end());
  auto isUsedOutside = [&](Operation *op) {
    return llvm::any_of(op->getUsers(), [&](Operation *user) {
      return !inside.contains(user);
    });
  };
  llvm::SmallDenseMap<Operation *, Value> results;
  int64_t elements = getVector(*run.front()).getNumElements();
  for (int64_t first = 0; first < elements; first += kPartElements) {
    if (keepsOrder && first > 0)
      amdgpu::SchedBarrierOp::create(b, amdgpu::sched_barrier_opt_enum::none);
    int64_t size = std::min(kPartElements, elements - first);
    IRMapping parts;
    for (Operation *op : run) {
      b.setLoc(op->getLoc());
      for (Value operand : op->getOperands())
        if (!parts.contains(operand))
          parts.map(operand, slice(b, operand, first, size));
      VectorType whole = getVector(*op);
      OperationState state(
          op->getLoc(), op->getName(),
          llvm::map_to_vector(op->getOperands(),
                              [&](Value value) { return parts.lookup(value); }),
          VectorType::get(size, whole.getElementType()), op->getAttrs());
      Value part = b.create(state)->getResult(0);
      parts.map(op->getResult(0), part);
      if (!isUsedOutside(op))
        continue;
      Value &result = results[op];
      if (!result)
        result = arith::ConstantOp::create(b, b.getZeroAttr(whole));
      result = vector::InsertStridedSliceOp::create(
          b, part, result, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{1});
    }
  }
  for (auto [op, result] : results)
    op->getResult(0).replaceUsesWithIf(result, [&](OpOperand &use) {
      return !inside.contains(use.getOwner());
    });
  for (Operation *op : llvm::reverse(run))
    op->erase();
}

/// Returns true if the only effects of `op` are stores of vectors.
static bool isStore(Operation *op) {
  return !isMemoryEffectFree(op) &&
         !op->walk([](Operation *inner) {
              bool stores = isa<vector::StoreOp, scf::IfOp>(inner);
              return WalkResult(success(stores || isMemoryEffectFree(inner)));
            }).wasInterrupted();
}

/// Returns true if the operands of `op` are defined before `place`, an earlier
/// operation of the block.
static bool mayStandBefore(Operation *op, Operation *place) {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *definition = operand.getDefiningOp();
    return !definition || definition->getBlock() != place->getBlock() ||
           definition->isBeforeInBlock(place);
  });
}

/// Returns the bits of registers of operands of `op` that no other operation
/// reads at `place` or behind it.
static int64_t countFreedBits(Operation *op, Operation *place) {
  auto isBehind = [&](Operation *user) {
    Operation *ancestor = place->getBlock()->findAncestorOpInBlock(*user);
    return user != op && (!ancestor || !ancestor->isBeforeInBlock(place));
  };
  int64_t bits = 0;
  llvm::SetVector<Value> operands(op->operand_begin(), op->operand_end());
  for (Value operand : operands)
    // A value from another block, such as one from before a loop, stays live.
    if (operand.getParentBlock() == place->getBlock() &&
        llvm::none_of(operand.getUsers(), isBehind))
      bits += countBits(operand);
  return bits;
}

/// Moves elementwise operations in front of the stores before them if that
/// takes no more registers: the results take the place of operands, which are
/// not live beside what is stored.
static void moveBeforeStores(Block &block) {
  // Those behind which no operation has other effects.
  SmallVector<Operation *> stores;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isStore(&op)) {
      stores.push_back(&op);
    } else if (!isMemoryEffectFree(&op) && !isa<vector::LoadOp>(op)) {
      stores.clear();
    } else if (!stores.empty() && getVector(op)) {
      Operation *place = nullptr;
      for (Operation *store : llvm::reverse(stores)) {
        if (!mayStandBefore(&op, store) ||
            countFreedBits(&op, store) < countBits(op.getResult(0)))
          break;
        place = store;
      }
      if (place)
        op.moveBefore(place);
    }
  }
}

/// Returns true if runs of `function` may stand on both sides of loads and
/// stores. LLVM's scheduler for AMD moves those itself, and ptxas keeps their
/// order. Beside products, registers are planned for the order as written.
static bool mayJoin(Operation *function, const Chip *chip) {
  return (!chip || chip->vendor == Vendor::NVIDIA) &&
         !containsProduct(function);
}

/// Splits the runs of a block that need more than `limit` registers inside.
/// With `joins`, operations of a run may stand on both sides of loads and
/// stores. For `keepsOrder`, see `split`.
static void splitIn(Block &block, int64_t limit, bool joins, bool keepsOrder) {
  // tile-schedule has chosen what runs beside products.
  if (llvm::any_of(block, isProduct))
    return;
  if (joins)
    moveBeforeStores(block);
  SmallVector<SmallVector<Operation *>> runs(1);
  for (Operation &op : block) {
    SmallVector<Operation *> &run = runs.back();
    VectorType vector = getVector(op);
    if (!run.empty() && vector &&
        vector.getNumElements() == getVector(*run.back()).getNumElements()) {
      run.push_back(&op);
      continue;
    }
    // An operation that writes nothing and reads no result of the run may stand
    // before it.
    bool passes =
        !run.empty() && !vector && op.getNumRegions() == 0 &&
        (isMemoryEffectFree(&op) || (joins && isa<vector::LoadOp>(op))) &&
        llvm::none_of(op.getOperands(), [&](Value operand) {
          return llvm::is_contained(run, operand.getDefiningOp());
        });
    if (passes)
      continue;
    if (!run.empty())
      runs.emplace_back();
    if (vector && vector.getNumElements() > kPartElements)
      runs.back().push_back(&op);
  }
  for (ArrayRef<Operation *> run : runs)
    if (run.size() > 1 && needsMoreInside(run, limit))
      split(run, keepsOrder);
}

namespace {
struct SplitElementwiseRuns
    : tile::impl::TileSplitElementwiseRunsBase<SplitElementwiseRuns> {
  void runOnOperation() override {
    auto split = [&](Operation *root, int64_t limit) {
      const Chip *chip = getTargetChip(root);
      bool joins = mayJoin(root, chip);
      bool keepsOrder = chip && chip->vendor == Vendor::AMD;
      root->walk(
          [&](Block *block) { splitIn(*block, limit, joins, keepsOrder); });
    };
    // The threads of large blocks have fewer registers.
    WalkResult result = getOperation()->walk([&](mlir::gpu::GPUFuncOp func) {
      std::optional<ArrayRef<int32_t>> size = func.getKnownBlockSize();
      if (!size)
        return WalkResult::advance();
      const Chip *chip = getTargetChip(func);
      if (!chip)
        return WalkResult::interrupt();
      split(func, std::min(kRunRegisters,
                           chip->throughput.registers / (*size)[0] / 2));
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    getOperation()->walk(
        [&](FunctionOpInterface function) { split(function, kRunRegisters); });
  }
};
} // namespace
