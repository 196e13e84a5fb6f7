//===- Emitter.cpp - Operations at one location ---------------------------===//

#include "Emitter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tile;

Value Emitter::i32(int64_t value) {
  return arith::ConstantIntOp::create(*this, value, 32);
}

Value Emitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}

Value Emitter::zeros(Type type) {
  return arith::ConstantOp::create(*this, getZeroAttr(type));
}

Value Emitter::add(Value a, Value b) {
  return arith::AddIOp::create(*this, a, b);
}

Value Emitter::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AndIOp::create(*this, a, b);
}

Value Emitter::mul(Value a, Value b) {
  return arith::MulIOp::create(*this, a, b);
}

Value Emitter::equal(Value a, Value b) {
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::eq, a, b);
}

Value Emitter::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(*this, condition, a, b);
}

Value Emitter::toI32(Value index) {
  return arith::IndexCastUIOp::create(*this, getI32Type(), index);
}

Value Emitter::toIndex(Value number) {
  return arith::IndexCastUIOp::create(*this, getIndexType(), number);
}

Value Emitter::toSignedI32(Value index) {
  return arith::IndexCastOp::create(*this, getI32Type(), index);
}

Value Emitter::threadNumber() {
  return toI32(mlir::gpu::ThreadIdOp::create(*this, mlir::gpu::Dimension::x));
}

Value Emitter::uniform(Value value, int64_t lanes) {
  return mlir::gpu::ShuffleOp::create(*this, value, i32(0), i32(lanes),
                                      mlir::gpu::ShuffleMode::IDX)
      .getShuffleResult();
}

Value Emitter::groupOf(Value thread, int64_t count, int64_t lanes) {
  return uniform(
      arith::ShRUIOp::create(*this, thread, i32(llvm::Log2_64(count))), lanes);
}

Value Emitter::elect() {
  return NVVM::ElectSyncOp::create(*this, getI1Type(), Value());
}

Value Emitter::slice(Value vector, int64_t first, int64_t size) {
  if (cast<VectorType>(vector.getType()).getNumElements() == size)
    return vector;
  return vector::ExtractStridedSliceOp::create(
      *this, vector, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{size},
      ArrayRef<int64_t>{1});
}

Value Emitter::join(VectorType type, ArrayRef<Value> parts) {
  if (parts.size() == 1)
    return parts.front();
  Value result = zeros(type);
  int64_t place = 0;
  for (Value part : parts) {
    result = vector::InsertStridedSliceOp::create(
        *this, part, result, ArrayRef<int64_t>{place}, ArrayRef<int64_t>{1});
    place += cast<VectorType>(part.getType()).getNumElements();
  }
  return result;
}

void Emitter::enterIf(Value condition) {
  setInsertionPointToStart(
      scf::IfOp::create(*this, condition, /*withElseRegion=*/false)
          .thenBlock());
}

SmallVector<Value>
Emitter::emitIf(Value condition, ArrayRef<Type> types,
                llvm::function_ref<SmallVector<Value>()> emit,
                llvm::function_ref<SmallVector<Value>()> otherwise) {
  if (!condition)
    return emit();
  InsertionGuard guard(*this);
  bool hasElse = otherwise || !types.empty();
  auto branch = scf::IfOp::create(*this, types, condition, hasElse);
  auto fill = [&](Block *block, llvm::function_ref<SmallVector<Value>()> emit) {
    setInsertionPointToStart(block);
    SmallVector<Value> values = emit();
    if (!types.empty())
      scf::YieldOp::create(*this, values);
  };
  fill(branch.thenBlock(), emit);
  if (otherwise)
    fill(branch.elseBlock(), otherwise);
  else if (hasElse)
    fill(branch.elseBlock(), [&] {
      return llvm::map_to_vector(types, [&](Type type) { return zeros(type); });
    });
  return branch.getResults();
}

Value Emitter::sharedAddress(Value memory, Value index) {
  int64_t bytes =
      cast<MemRefType>(memory.getType()).getElementTypeBitWidth() / 8;
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(*this, memory);
  Value offset = mul(index, this->index(bytes));
  return toI32(add(base, offset));
}

Value Emitter::sharedPointer(Value memory, Value index,
                             NVVM::NVVMMemorySpace space) {
  auto type =
      LLVM::LLVMPointerType::get(getContext(), static_cast<unsigned>(space));
  return LLVM::IntToPtrOp::create(*this, type, sharedAddress(memory, index));
}
