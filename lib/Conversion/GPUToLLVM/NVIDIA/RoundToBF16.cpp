//===- RoundToBF16.cpp - f32 values rounded to bf16 -----------------------===//

#include "RoundToBF16.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace tile;

/// Returns the f32 vector of an even number of elements that `extend` gets back
/// rounded to bf16; null if it does something else.
static Value getRounded(arith::ExtFOp extend) {
  auto type = dyn_cast<VectorType>(extend.getType());
  auto truncate = extend.getIn().getDefiningOp<arith::TruncFOp>();
  if (!type || type.getRank() != 1 || type.isScalable() ||
      type.getDimSize(0) % 2 != 0 || !truncate || truncate.getRoundingmode() ||
      !getElementTypeOrSelf(truncate.getType()).isBF16() ||
      truncate.getIn().getType() != type || !type.getElementType().isF32())
    return {};
  return truncate.getIn();
}

/// Emits the rounded elements of `value`.
static Value round(ImplicitLocOpBuilder &b, Value value) {
  auto type = cast<VectorType>(value.getType());
  auto pair = VectorType::get(2, b.getBF16Type());
  auto word = VectorType::get(1, b.getI32Type());
  Value half = arith::ConstantIntOp::create(b, b.getI32Type(), 16);
  Value upper = arith::ConstantIntOp::create(b, b.getI32Type(), -0x10000);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < type.getDimSize(0); i += 2) {
    Value low = vector::ExtractOp::create(b, value, i);
    Value high = vector::ExtractOp::create(b, value, i + 1);
    Value rounded = NVVM::ConvertF32x2ToBF16x2Op::create(
        b, pair, high, low, /*random_bits=*/Value(), NVVM::FPRoundingMode::RN,
        NVVM::SaturationMode::NONE, /*relu=*/false);
    Value bits = vector::ExtractOp::create(
        b, vector::BitCastOp::create(b, word, rounded), 0);
    for (Value element : {Value(arith::ShLIOp::create(b, bits, half)),
                          Value(arith::AndIOp::create(b, bits, upper))})
      elements.push_back(arith::BitcastOp::create(b, b.getF32Type(), element));
  }
  return vector::FromElementsOp::create(b, type, elements);
}

void tile::roundToBF16(mlir::gpu::GPUModuleOp module) {
  module.walk([](arith::ExtFOp extend) {
    Value value = getRounded(extend);
    if (!value)
      return;
    ImplicitLocOpBuilder b(extend.getLoc(), extend);
    extend.replaceAllUsesWith(round(b, value));
    extend.erase();
  });
}
