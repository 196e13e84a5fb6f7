//===- SkipMasks.cpp - Selections by coordinates that decide nothing ------===//
//
// A program on rows of any length selects the elements of a tile in front of
// the end of a row. Most threads have no others: one comparison with their last
// element replaces those with each. The threads of the warp at the end compare
// groups of elements in the same way, because all threads of a warp wait for
// the comparisons of one.
//
//===----------------------------------------------------------------------===//

#include "../Products.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tile/Conversion/TileToGPU/Passes.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILESKIPMASKS
#include "tile/Conversion/TileToGPU/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using Predicate = arith::CmpIPredicate;

/// The fewest elements of a thread that are worth a branch.
static constexpr size_t kLeastElements = 8;
/// The most warps of which the one at the end of a row delays the others enough
/// to be worth branches for groups of elements. Of 16 warps, these branches
/// make softmax of 65536 elements 8 % slower on an H200.
static constexpr int64_t kMostGroupedWarps = 4;

namespace {
/// The comparison of one number with constants.
struct Mask {
  Value number;
  Predicate predicate;
  SmallVector<APInt> constants;

  /// Returns the constant with which the comparison holds only if it holds with
  /// all.
  APInt getLast() const;
  /// Returns the comparison with `count` of the constants from `first`.
  Mask slice(size_t first, size_t count) const {
    return {number, predicate,
            to_vector(ArrayRef(constants).slice(first, count))};
  }
};
} // namespace

APInt Mask::getLast() const {
  bool isAbove = predicate == Predicate::sgt || predicate == Predicate::sge;
  auto less = [](const APInt &a, const APInt &b) { return a.slt(b); };
  return isAbove ? *llvm::max_element(constants, less)
                 : *llvm::min_element(constants, less);
}

/// Returns the mask that is a signed comparison of a number with constants.
static std::optional<Mask> findMask(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return std::nullopt;
  auto splat = compare.getLhs().getDefiningOp<vector::BroadcastOp>();
  DenseIntElementsAttr constants;
  if (!splat || !splat.getSource().getType().isSignlessInteger() ||
      !matchPattern(compare.getRhs(), m_Constant(&constants)))
    return std::nullopt;
  switch (compare.getPredicate()) {
  case Predicate::slt:
  case Predicate::sle:
  case Predicate::sgt:
  case Predicate::sge:
    return Mask{splat.getSource(), compare.getPredicate(),
                llvm::to_vector(constants.getValues<APInt>())};
  default:
    return std::nullopt;
  }
}

/// Returns the elements of `shown` where the comparison holds, and those of
/// `hidden` elsewhere. A branch passes the comparisons of single elements; with
/// `inGroups`, those of a group have one of their own.
static Value selectBehindBranch(ImplicitLocOpBuilder &b, const Mask &mask,
                                Value shown, Value hidden, bool inGroups) {
  Type number = mask.number.getType();
  auto vector = cast<VectorType>(shown.getType());
  Value last =
      arith::ConstantOp::create(b, b.getIntegerAttr(number, mask.getLast()));
  Value isWhole = arith::CmpIOp::create(b, mask.predicate, mask.number, last);
  auto branch = scf::IfOp::create(b, vector, isWhole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, shown);
  b.setInsertionPointToStart(branch.elseBlock());
  size_t count = mask.constants.size();
  Value result;
  if (inGroups && count >= 2 * kLeastElements) {
    result = hidden;
    for (size_t first = 0; first < count; first += kLeastElements) {
      size_t size = std::min(kLeastElements, count - first);
      auto slice = [&](Value value) {
        return b.createOrFold<vector::ExtractStridedSliceOp>(
            value, int64_t(first), int64_t(size), int64_t(1));
      };
      Value part = selectBehindBranch(b, mask.slice(first, size), slice(shown),
                                      slice(hidden), /*inGroups=*/false);
      result = vector::InsertStridedSliceOp::create(b, part, result,
                                                    int64_t(first), int64_t(1));
    }
  } else {
    auto numbers = VectorType::get(vector.getShape(), number);
    Value constants = arith::ConstantOp::create(
        b, DenseElementsAttr::get(numbers, mask.constants));
    Value splat = vector::BroadcastOp::create(b, numbers, mask.number);
    Value isShown = arith::CmpIOp::create(b, mask.predicate, splat, constants);
    result = arith::SelectOp::create(b, isShown, shown, hidden);
  }
  scf::YieldOp::create(b, result);
  return branch.getResult(0);
}

/// Puts a selection behind a branch. Where the number differs between the
/// iterations of a loop, tile-split-masked-loops has left only some of these.
static void skip(arith::SelectOp select, bool inGroups) {
  auto vector = dyn_cast<VectorType>(select.getType());
  std::optional<Mask> mask = findMask(select.getCondition());
  if (!mask || vector.getRank() != 1 || mask->constants.size() < kLeastElements)
    return;
  auto loop = select->getParentOfType<LoopLikeOpInterface>();
  if (loop && !loop.isDefinedOutsideOfLoop(mask->number))
    return;
  ImplicitLocOpBuilder b(select.getLoc(), select);
  Value result = selectBehindBranch(b, *mask, select.getTrueValue(),
                                    select.getFalseValue(), inGroups);
  select.replaceAllUsesWith(result);
  select.erase();
}

namespace {
struct SkipMasks : tile::impl::TileSkipMasksBase<SkipMasks> {
  void runOnOperation() override {
    const Chip *chip = getTargetChip(getOperation());
    if (!chip)
      return signalPassFailure();
    // On AMD, the lanes of a wave execute both sides of a branch.
    if (chip->vendor != Vendor::NVIDIA)
      return;
    for (auto func :
         getOperation()->getRegion(0).getOps<mlir::gpu::GPUFuncOp>()) {
      // Beside products, back ends order the operations of whole blocks.
      if (containsProduct(func))
        continue;
      SmallVector<arith::SelectOp> selects;
      func.walk([&](arith::SelectOp op) {
        if (isa<VectorType>(op.getType()))
          selects.push_back(op);
      });
      DenseI32ArrayAttr threads = func.getKnownBlockSizeAttr();
      bool inGroups =
          threads && threads[0] <= kMostGroupedWarps * int64_t(chip->warpSize);
      for (arith::SelectOp select : selects)
        skip(select, inGroups);
    }
  }
};
} // namespace
