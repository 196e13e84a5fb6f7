//===- CombineSwaps.cpp - Reductions by swapped lanes ---------------------===//
//
// A swap of rows of lanes gives a lane its own number and that of its partner,
// in an order that depends on the lane. A commutative operation on both needs
// no choice between them. Source: AMD's CDNA4 instruction set architecture
// guide, v_permlane16_swap_b32 and v_permlane32_swap_b32.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/AMDGPU/Utils/Chipset.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "tile/Conversion/TileToAMDGPU/Passes.h"

using namespace mlir;
using namespace tile;

/// Returns the numbers that `value` consists of, if it is built from them.
static SmallVector<Value> getNumbers(Value value) {
  if (auto elements = value.getDefiningOp<vector::FromElementsOp>())
    return llvm::to_vector(elements.getElements());
  if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
    if (broadcast.getResultVectorType().getNumElements() == 1 &&
        !isa<VectorType>(broadcast.getSourceType()))
      return {broadcast.getSource()};
  if (isa<VectorType>(value.getType()))
    return {};
  return {value};
}

/// Returns true if `number` is element `i` of `own`, or `own` itself.
static bool isNumberOf(Value number, int64_t i, Value own) {
  if (number == own)
    return true;
  auto extract = number.getDefiningOp<vector::ExtractOp>();
  return extract && extract.getSource() == own &&
         !extract.hasDynamicPosition() &&
         extract.getStaticPosition() == ArrayRef(i);
}

/// Returns the mask by which `numbers` are those of other lanes for `own`, one
/// that a single swap exchanges; 0 if there is none.
static uint64_t findMask(ArrayRef<Value> numbers, Value own) {
  uint64_t common = 0;
  for (auto [i, number] : llvm::enumerate(numbers)) {
    auto shuffle = number.getDefiningOp<mlir::gpu::ShuffleOp>();
    APInt mask;
    if (!shuffle || number != shuffle.getShuffleResult() ||
        shuffle.getMode() != mlir::gpu::ShuffleMode::XOR ||
        number.getType().getIntOrFloatBitWidth() != 32 ||
        !matchPattern(shuffle.getOffset(), m_ConstantInt(&mask)) ||
        (mask != 16 && mask != 32) || (common && mask != common) ||
        !isNumberOf(shuffle.getValue(), i, own))
      return 0;
    common = mask.getZExtValue();
  }
  return common;
}

/// Emits a swap with a copy of `number`: its two results.
static std::array<Value, 2> emitSwap(OpBuilder &builder, Location loc,
                                     Value number, uint64_t mask) {
  Type i32 = builder.getI32Type(), type = number.getType();
  auto pair =
      LLVM::LLVMStructType::getLiteral(builder.getContext(), {i32, i32});
  Value word =
      type == i32 ? number : LLVM::BitcastOp::create(builder, loc, i32, number);
  Value swapped;
  if (mask == 16)
    swapped = ROCDL::Permlane16SwapOp::create(builder, loc, pair, word, word,
                                              /*fi=*/false,
                                              /*boundControl=*/false);
  else
    swapped = ROCDL::Permlane32SwapOp::create(builder, loc, pair, word, word,
                                              /*fi=*/false,
                                              /*boundControl=*/false);
  std::array<Value, 2> results;
  for (int64_t i : {0, 1}) {
    results[i] = LLVM::ExtractValueOp::create(builder, loc, swapped, i);
    if (type != i32)
      results[i] = LLVM::BitcastOp::create(builder, loc, type, results[i]);
  }
  return results;
}

void tile::combineSwaps(Operation *root, const Chip &chip) {
  FailureOr<amdgpu::Chipset> chipset = amdgpu::Chipset::parse(chip.name);
  if (failed(chipset) || chipset->majorVersion != 9 ||
      chipset->minorVersion < 5)
    return;
  root->walk([](Operation *op) {
    if (op->getNumOperands() != 2 || op->getNumResults() != 1 ||
        !op->hasTrait<OpTrait::IsCommutative>())
      return;
    for (unsigned index : {0, 1}) {
      Value own = op->getOperand(index);
      SmallVector<Value> numbers = getNumbers(op->getOperand(1 - index));
      uint64_t mask = findMask(numbers, own);
      if (mask == 0)
        continue;
      OpBuilder builder(op);
      std::array<SmallVector<Value>, 2> parts;
      for (Value number : numbers) {
        auto shuffle = number.getDefiningOp<mlir::gpu::ShuffleOp>();
        std::array<Value, 2> swapped =
            emitSwap(builder, op->getLoc(), shuffle.getValue(), mask);
        for (int64_t i : {0, 1})
          parts[i].push_back(swapped[i]);
      }
      for (int64_t i : {0, 1}) {
        Value operand = parts[i].front();
        if (auto type = dyn_cast<VectorType>(own.getType()))
          operand = vector::FromElementsOp::create(builder, op->getLoc(), type,
                                                   parts[i]);
        op->setOperand(i, operand);
      }
      return;
    }
  });
}
