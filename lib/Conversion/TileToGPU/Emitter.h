//===- Emitter.h - Operations at one location -------------------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_EMITTER_H
#define TILE_LIB_CONVERSION_TILETOGPU_EMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tile {

/// Emits operations at one location: arithmetic on i32 and index values, parts
/// of vectors, branches, and addresses of shared memory.
class Emitter : public mlir::ImplicitLocOpBuilder {
  using Value = mlir::Value;

public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  Value i32(int64_t value);
  Value index(int64_t value);
  Value zeros(mlir::Type type);

  Value add(Value a, Value b);
  /// Emits a + b; `a` may be null, which stands for zero.
  Value sum(Value a, Value b) { return a ? add(a, b) : b; }
  /// Emits a && b; `a` and `b` may be null, which stands for true.
  Value both(Value a, Value b);
  Value mul(Value a, Value b);
  Value equal(Value a, Value b);
  Value select(Value condition, Value a, Value b);
  /// Emits OpT on `value` and a constant of its type; returns `value` if the
  /// constant is `neutral`.
  template <typename OpT>
  Value combine(Value value, int64_t constant, int64_t neutral) {
    if (constant == neutral)
      return value;
    return OpT::create(*this, value,
                       mlir::arith::ConstantOp::create(
                           *this, getIntegerAttr(value.getType(), constant)));
  }
  Value add(Value value, int64_t constant) {
    return combine<mlir::arith::AddIOp>(value, constant, 0);
  }
  Value mul(Value value, int64_t constant) {
    return combine<mlir::arith::MulIOp>(value, constant, 1);
  }
  /// Casts of unsigned numbers, and of signed indices to i32.
  Value toI32(Value index);
  Value toIndex(Value number);
  Value toSignedI32(Value index);

  /// Emits the number of the calling thread, an i32.
  Value threadNumber();
  /// Emits `value`, which is the same in all lanes of a warp, in a form that
  /// tells so to the back end.
  Value uniform(Value value, int64_t lanes);
  /// Emits thread / count for a power of two, uniform in the warp: the number
  /// of a warp or a warpgroup.
  Value groupOf(Value thread, int64_t count, int64_t lanes);
  /// Emits the election of one lane of the warp, an i1.
  Value elect();

  /// Emits the elements [first, first + size) of `vector`.
  Value slice(Value vector, int64_t first, int64_t size);
  /// Emits the concatenation of `parts`.
  Value join(mlir::VectorType type, llvm::ArrayRef<Value> parts);

  /// Emits a branch for threads with `condition` and moves the insertion point
  /// into it.
  void enterIf(Value condition);
  /// Returns the values that `emit` emits. Threads without `condition`, which
  /// may be null, skip this and have those of `otherwise`, or zeros of the
  /// given types if it is null.
  llvm::SmallVector<Value>
  emitIf(Value condition, llvm::ArrayRef<mlir::Type> types,
         llvm::function_ref<llvm::SmallVector<Value>()> emit,
         llvm::function_ref<llvm::SmallVector<Value>()> otherwise = nullptr);

  /// Emits the address of an element of shared memory in bytes, an i32.
  /// `memory` is a memref and `index` an index, in elements.
  Value sharedAddress(Value memory, Value index);
  /// Emits the same address as a pointer, for operations of nvvm. The addresses
  /// of a block are the same in the space of its cluster.
  Value sharedPointer(
      Value memory, Value index,
      mlir::NVVM::NVVMMemorySpace space = mlir::NVVM::NVVMMemorySpace::Shared);
};

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_EMITTER_H
