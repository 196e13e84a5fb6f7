//===- BF16Pairs.cpp - bf16 elements as f32, two at a time ----------------===//

#include "BF16Pairs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace tile;

/// Returns true if `extend` makes f32 of a bf16 vector with an even number of
/// elements.
static bool extendsPairs(arith::ExtFOp extend) {
  auto type = dyn_cast<VectorType>(extend.getType());
  return type && type.getRank() == 1 && !type.isScalable() &&
         type.getDimSize(0) % 2 == 0 && type.getElementType().isF32() &&
         getElementTypeOrSelf(extend.getIn().getType()).isBF16();
}

/// Returns the f32 vector that `extend` gets back rounded to bf16; null if
/// there is none.
static Value getRounded(arith::ExtFOp extend) {
  auto truncate = extend.getIn().getDefiningOp<arith::TruncFOp>();
  if (!truncate || truncate.getRoundingmode() ||
      truncate.getIn().getType() != extend.getType())
    return {};
  return truncate.getIn();
}

/// Returns true if the elements of `vector` are in registers of their own, and
/// not in pairs.
static bool isGathered(Value vector) {
  Operation *op = vector.getDefiningOp();
  if (auto insert = dyn_cast_or_null<vector::InsertStridedSliceOp>(op))
    return insert.getSourceVectorType().getNumElements() % 2 != 0;
  return isa_and_nonnull<vector::FromElementsOp, vector::InsertOp,
                         vector::BroadcastOp>(op);
}

/// Emits the elements `first` and `first + 1` of `value`, rounded to bf16.
static Value roundPair(ImplicitLocOpBuilder &b, Value value, int64_t first) {
  Value low = vector::ExtractOp::create(b, value, first);
  Value high = vector::ExtractOp::create(b, value, first + 1);
  return NVVM::ConvertF32x2ToBF16x2Op::create(
      b, VectorType::get(2, b.getBF16Type()), high, low,
      /*random_bits=*/Value(), NVVM::FPRoundingMode::RN,
      NVVM::SaturationMode::NONE, /*relu=*/false);
}

/// Emits the words of `vector`, or those of `rounded`, rounded to bf16.
static SmallVector<Value> getWords(ImplicitLocOpBuilder &b, Value vector,
                                   Value rounded) {
  int64_t count = cast<VectorType>(vector.getType()).getDimSize(0) / 2;
  auto bitcast = [&](Value value, int64_t words) {
    return vector::BitCastOp::create(b, VectorType::get(words, b.getI32Type()),
                                     value);
  };
  Value all = rounded ? Value() : bitcast(vector, count);
  SmallVector<Value> words;
  for (int64_t i = 0; i < count; ++i)
    words.push_back(rounded
                        ? vector::ExtractOp::create(
                              b, bitcast(roundPair(b, rounded, 2 * i), 1), 0)
                        : vector::ExtractOp::create(b, all, i));
  return words;
}

void tile::extendBF16InPairs(gpu::GPUModuleOp module) {
  module.walk([](arith::ExtFOp extend) {
    if (!extendsPairs(extend))
      return;
    Value rounded = getRounded(extend);
    if (!rounded && isGathered(extend.getIn()))
      return;
    ImplicitLocOpBuilder b(extend.getLoc(), extend);
    Type i32 = b.getI32Type();
    Value half = arith::ConstantIntOp::create(b, i32, 16);
    Value upper = arith::ConstantIntOp::create(b, i32, -0x10000);
    SmallVector<Value> elements;
    for (Value word : getWords(b, extend.getIn(), rounded))
      for (Value bits : {Value(arith::ShLIOp::create(b, word, half)),
                         Value(arith::AndIOp::create(b, word, upper))})
        elements.push_back(arith::BitcastOp::create(b, b.getF32Type(), bits));
    extend.replaceAllUsesWith(
        vector::FromElementsOp::create(b, extend.getType(), elements)
            .getResult());
    extend.erase();
  });
}
