//===- LowerMmaSync.cpp - Lowers nvgpu.mma.sync to registers --------------===//

#include "LowerMmaSync.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tile;

/// Returns how many elements of `type` a register has.
static int64_t elementsPerRegister(Type type) {
  return 32 / type.getIntOrFloatBitWidth();
}

/// Returns the type of the operands of the instruction; std::nullopt if MLIR's
/// own lowering converts products of this type.
static std::optional<NVVM::MMATypes> getOperandType(nvgpu::MmaSyncOp op) {
  Type element = op.getMatrixA().getType().getElementType();
  Type acc = op.getMatrixC().getType().getElementType();
  if (element.isInteger(8) && acc.isInteger(32))
    return NVVM::MMATypes::s8;
  if (!acc.isF32())
    return std::nullopt;
  if (element.isF32() && op.getTf32Enabled())
    return NVVM::MMATypes::tf32;
  return element.isF16()    ? std::optional(NVVM::MMATypes::f16)
         : element.isBF16() ? std::optional(NVVM::MMATypes::bf16)
                            : std::nullopt;
}

namespace {
using Registers = SmallVector<Value, 4>;

/// Lowers MMAs in program order and remembers which registers hold which
/// fragment.
class FragmentSplitter {
public:
  explicit FragmentSplitter(MLIRContext *context) : builder(context) {}

  void lower(nvgpu::MmaSyncOp op);
  /// Rebuilds vectors for the users of results that are not MMAs.
  void finish();

private:
  /// One value for each 32 bits of elements: a vector of f16, or i32 for
  /// others. f32 elements are rounded to tf32.
  Registers splitOperand(Value fragment);
  /// The elements of an accumulator.
  Registers splitAccumulator(Value fragment);
  Value toRegister(Value word, Type element);

  OpBuilder builder;
  DenseMap<Value, Registers> operands, accumulators;
  SmallVector<nvgpu::MmaSyncOp> lowered;
};
} // namespace

/// Returns the value that `value` is a reshape of; `value` if it is none.
static Value skipShapeCast(Value value) {
  auto cast = value.getDefiningOp<vector::ShapeCastOp>();
  return cast ? cast.getSource() : value;
}

Value FragmentSplitter::toRegister(Value word, Type element) {
  Type type = builder.getI32Type();
  if (element.isF32()) {
    Location loc = word.getLoc();
    if (isa<VectorType>(word.getType()))
      word = vector::ExtractOp::create(builder, loc, word, int64_t(0));
    // The instruction would cut off the low bits.
    return NVVM::ConvertFloatToTF32Op::create(builder, loc, type, word,
                                              NVVM::FPRoundingMode::RNA);
  }
  if (element.isF16())
    type = VectorType::get(elementsPerRegister(element), element);
  return word.getType() == type
             ? word
             : LLVM::BitcastOp::create(builder, word.getLoc(), type, word);
}

Registers FragmentSplitter::splitOperand(Value fragment) {
  Value source = skipShapeCast(fragment);
  if (auto it = operands.find(source); it != operands.end())
    return it->second;
  auto type = cast<VectorType>(source.getType());
  Type element = type.getElementType();
  int64_t perRegister = elementsPerRegister(element);
  Registers result;
  if (auto slice = source.getDefiningOp<vector::ExtractStridedSliceOp>();
      slice && type.getRank() == 2 && type.getDimSize(1) == perRegister &&
      !slice.hasNonUnitStrides()) {
    auto offset = cast<IntegerAttr>(slice.getOffsets()[0]).getInt();
    Registers all = splitOperand(slice.getSource());
    result.assign(all.begin() + offset,
                  all.begin() + offset + type.getDimSize(0));
    return operands[source] = result;
  }

  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(source);
  Location loc = source.getLoc();
  Value words = source;
  int64_t count = type.getNumElements() / perRegister;
  if (type.getRank() == 1 && !element.isF32())
    words = vector::BitCastOp::create(
        builder, loc, VectorType::get(count, builder.getI32Type()), source);
  for (int64_t i = 0; i < count; ++i) {
    Value word = vector::ExtractOp::create(builder, loc, words, i);
    result.push_back(toRegister(word, element));
  }
  return operands[source] = result;
}

Registers FragmentSplitter::splitAccumulator(Value fragment) {
  Value source = skipShapeCast(fragment);
  if (auto it = accumulators.find(source); it != accumulators.end())
    return it->second;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(source);
  auto type = cast<VectorType>(source.getType());
  SmallVector<int64_t> strides = computeStrides(type.getShape());
  Registers result;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    result.push_back(builder.createOrFold<vector::ExtractOp>(
        source.getLoc(), source, delinearize(i, strides)));
  return accumulators[source] = result;
}

void FragmentSplitter::lower(nvgpu::MmaSyncOp op) {
  NVVM::MMATypes operand = *getOperandType(op);
  Registers a = splitOperand(op.getMatrixA());
  Registers b = splitOperand(op.getMatrixB());
  Registers acc = splitAccumulator(op.getMatrixC());
  builder.setInsertionPoint(op);
  Type element = op.getMatrixC().getType().getElementType();
  Type result = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), SmallVector<Type>(acc.size(), element));
  std::array<int64_t, 3> shape = op.getMmaShapeAsArray();
  Value product = NVVM::MmaOp::create(
      builder, op.getLoc(), result, a, b, acc, shape, /*b1Op=*/std::nullopt,
      element.isInteger() ? std::optional(NVVM::MMAIntOverflow::wrapped)
                          : std::nullopt,
      std::array{operand, operand},
      std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  Registers elements;
  for (int64_t i = 0, e = acc.size(); i < e; ++i)
    elements.push_back(
        LLVM::ExtractValueOp::create(builder, op.getLoc(), product, i));
  accumulators[op.getRes()] = std::move(elements);
  lowered.push_back(op);
}

void FragmentSplitter::finish() {
  for (nvgpu::MmaSyncOp op : llvm::reverse(lowered)) {
    auto type = cast<VectorType>(op.getRes().getType());
    auto flat = VectorType::get(type.getNumElements(), type.getElementType());
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      if (isa<vector::ShapeCastOp>(user) && user->use_empty())
        user->erase();
    if (!op->use_empty()) {
      builder.setInsertionPoint(op);
      Value whole = vector::FromElementsOp::create(builder, op.getLoc(), flat,
                                                   accumulators[op.getRes()]);
      for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
        if (auto cast = dyn_cast<vector::ShapeCastOp>(user);
            cast && cast.getType() == flat) {
          cast.replaceAllUsesWith(whole);
          cast.erase();
        }
      if (!op->use_empty())
        op.replaceAllUsesWith(
            vector::ShapeCastOp::create(builder, op.getLoc(), type, whole)
                .getResult());
    }
    op.erase();
  }
}

void tile::lowerMmaSync(mlir::gpu::GPUModuleOp module) {
  FragmentSplitter splitter(module.getContext());
  module.walk([&](nvgpu::MmaSyncOp op) {
    if (getOperandType(op))
      splitter.lower(op);
  });
  splitter.finish();
}
