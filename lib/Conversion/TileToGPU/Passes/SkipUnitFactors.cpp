//===- SkipUnitFactors.cpp - Multiplications by one -----------------------===//
//
// Online softmax scales its sums where the largest score of a row has grown.
// A program says so by a factor that is selected to be one in other rows. For
// most iterations no row of a warp has a larger score.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Conversion/TileToGPU/Passes.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILESKIPUNITFACTORS
#include "tile/Conversion/TileToGPU/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// The fewest multiplications of a thread that are worth a branch.
static constexpr int64_t kLeastMultiplications = 16;

/// Returns the selection whose elements, each of them once or several times,
/// are those of `factor`, if one of its choices is one; null without one.
static arith::SelectOp findUnitSelect(Value factor) {
  while (Operation *op = factor.getDefiningOp()) {
    if (auto select = dyn_cast<arith::SelectOp>(op))
      return matchPattern(select.getTrueValue(), m_OneFloat()) ||
                     matchPattern(select.getFalseValue(), m_OneFloat())
                 ? select
                 : arith::SelectOp();
    auto shuffle = dyn_cast<vector::ShuffleOp>(op);
    bool repeats = shuffle && shuffle.getV1() == shuffle.getV2();
    if (!repeats && !isa<vector::BroadcastOp, vector::ExtractOp>(op))
      return {};
    factor = op->getOperand(0);
  }
  return {};
}

/// Returns true if a lane of the warp selects the other choice than one.
static Value emitVote(ImplicitLocOpBuilder &b, arith::SelectOp select,
                      const Chip &chip) {
  Value condition = select.getCondition();
  SmallVector<Value> elements;
  if (auto vector = dyn_cast<VectorType>(condition.getType()))
    for (int64_t i = 0; i < vector.getNumElements(); ++i)
      elements.push_back(vector::ExtractOp::create(b, condition, i));
  else
    elements.push_back(condition);
  bool isInverted = matchPattern(select.getTrueValue(), m_OneFloat());
  Value any;
  for (Value element : elements) {
    if (isInverted)
      element = arith::XOrIOp::create(
          b, element, arith::ConstantIntOp::create(b, b.getI1Type(), 1));
    any = any ? arith::OrIOp::create(b, any, element) : element;
  }
  if (chip.vendor == Vendor::NVIDIA)
    return NVVM::VoteSyncOp::create(
        b, b.getI1Type(), arith::ConstantIntOp::create(b, b.getI32Type(), -1),
        any, NVVM::VoteSyncKind::any);
  Type mask = b.getIntegerType(chip.warpSize);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                               ROCDL::BallotOp::create(b, mask, any),
                               arith::ConstantIntOp::create(b, mask, 0));
}

/// Returns true if nothing waits for `op` before the end of its block: an MMA
/// would wait for the branch, beside which back ends do not compute.
static bool isUsedByTerminator(Operation *op) {
  Block *block = op->getBlock();
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    return user == block->getTerminator();
  });
}

/// Returns the operation before which `op` may stand: the first one with side
/// effects. A branch stands as late as possible, because back ends move nothing
/// across it.
static Operation *findLastPlace(Operation *op) {
  Operation *place = op->getNextNode();
  while (!place->hasTrait<OpTrait::IsTerminator>() && isMemoryEffectFree(place))
    place = place->getNextNode();
  return place;
}

/// Keeps what is used behind `branch` in front of it: conversions, and numbers
/// of rows, which have the type of the selected factors. LLVM sinks
/// instructions to the block that uses their results, where MMAs that read
/// these would wait for them, and ptxas waits early for the products in flight
/// if little is left to compute beside them. An empty instruction reads the
/// results.
static void keepBefore(scf::IfOp branch, Type factors,
                       ImplicitLocOpBuilder &b) {
  Block *block = branch->getBlock();
  auto isBehind = [&](Operation *user) {
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    return ancestor && branch->isBeforeInBlock(ancestor);
  };
  SmallVector<Value> registers;
  SmallVector<StringRef> constraints;
  for (Operation &op :
       llvm::make_range(block->begin(), branch->getIterator())) {
    if (op.getNumResults() != 1 || op.hasTrait<OpTrait::ConstantLike>() ||
        !isMemoryEffectFree(&op) || op.use_empty() ||
        !llvm::all_of(op.getUsers(), isBehind))
      continue;
    Value value = op.getResult(0);
    auto vector = dyn_cast<VectorType>(value.getType());
    if (!vector || vector.getRank() != 1 ||
        (!isa<arith::TruncFOp>(op) && vector != factors))
      continue;
    int64_t bits = vector.getNumElements() * vector.getElementTypeBitWidth();
    bool isFloat = vector.getElementType().isF32();
    if (bits % 32 != 0)
      continue;
    if (!isFloat)
      value = vector::BitCastOp::create(
          b, VectorType::get(bits / 32, b.getI32Type()), value);
    for (int64_t i = 0; i < bits / 32; ++i)
      registers.push_back(vector::ExtractOp::create(b, value, i));
    constraints.append(bits / 32, isFloat ? "f" : "r");
  }
  if (registers.empty())
    return;
  LLVM::InlineAsmOp::create(b, TypeRange(), registers, "",
                            llvm::join(constraints, ","),
                            /*has_side_effects=*/true, /*is_align_stack=*/false,
                            LLVM::tailcallkind::TailCallKind::None,
                            LLVM::AsmDialectAttr(), ArrayAttr());
}

static void skip(arith::MulFOp op, const Chip &chip) {
  auto vector = dyn_cast<VectorType>(op.getType());
  if (!vector || vector.getNumElements() < kLeastMultiplications ||
      !isUsedByTerminator(op))
    return;
  Value other = op.getLhs();
  arith::SelectOp select = findUnitSelect(op.getRhs());
  if (!select) {
    other = op.getRhs();
    select = findUnitSelect(op.getLhs());
  }
  if (!select || matchPattern(other, m_Constant()))
    return;
  op->moveBefore(findLastPlace(op));
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value vote = emitVote(b, select, chip);
  auto branch =
      scf::IfOp::create(b, op.getType(), vote, /*withElseRegion=*/true);
  op.replaceAllUsesWith(branch.getResult(0));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, other);
  b.setInsertionPointToStart(branch.thenBlock());
  op->moveBefore(scf::YieldOp::create(b, op.getResult()));
  if (chip.vendor == Vendor::NVIDIA) {
    b.setInsertionPoint(vote.getDefiningOp());
    keepBefore(branch, select.getType(), b);
  }
}

namespace {
struct SkipUnitFactors : tile::impl::TileSkipUnitFactorsBase<SkipUnitFactors> {
  void runOnOperation() override {
    const Chip *chip = getTargetChip(getOperation());
    if (!chip)
      return signalPassFailure();
    SmallVector<arith::MulFOp> products;
    getOperation()->walk([&](arith::MulFOp op) { products.push_back(op); });
    for (arith::MulFOp op : products)
      skip(op, *chip);
  }
};
} // namespace
