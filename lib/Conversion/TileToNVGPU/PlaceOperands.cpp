//===- PlaceOperands.cpp - Cheap operands at their uses -------------------===//

#include "PlaceOperands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

/// Collects the operations that compute `value` from the start of a buffer in
/// shared memory and an index, the first one first. Sets `isShared` at the
/// start of a buffer. The index is behind the only addition of the address.
static void collectAddress(Value value, bool inSum, bool &isShared,
                           SmallVectorImpl<Operation *> &found) {
  Operation *op = value.getDefiningOp();
  if (auto start =
          dyn_cast_or_null<memref::ExtractAlignedPointerAsIndexOp>(op)) {
    isShared |= gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(
        llvm::cast<MemRefType>(start.getSource().getType()));
  } else if (isa_and_present<LLVM::IntToPtrOp, arith::IndexCastUIOp>(op)) {
    collectAddress(op->getOperand(0), inSum, isShared, found);
  } else if (isa_and_present<arith::AddIOp>(op) && !inSum) {
    collectAddress(op->getOperand(0), /*inSum=*/true, isShared, found);
    collectAddress(op->getOperand(1), /*inSum=*/true, isShared, found);
  } else if (isa_and_present<arith::MulIOp>(op) &&
             matchPattern(op->getOperand(1), m_Constant())) {
    collectAddress(op->getOperand(0), /*inSum=*/true, isShared, found);
  } else {
    return;
  }
  found.push_back(op);
}

/// Returns the operations that compute `address`, if it is the address of an
/// element of a buffer in shared memory; else none.
static SmallVector<Operation *> addressOperations(Value address) {
  SmallVector<Operation *> found;
  bool isShared = false;
  collectAddress(address, /*inSum=*/false, isShared, found);
  return isShared ? found : SmallVector<Operation *>();
}

/// Returns the addition of a constant that computes the number of a barrier.
static SmallVector<Operation *> numberOperations(Value number) {
  auto sum = number.getDefiningOp<arith::AddIOp>();
  if (sum && matchPattern(sum.getRhs(), m_Constant()))
    return {sum};
  return {};
}

void tile::placeOperands(Operation *root) {
  SmallVector<std::pair<OpOperand *, SmallVector<Operation *>>> uses;
  root->walk([&](Operation *op) {
    if (!isa_and_present<NVVM::NVVMDialect>(op->getDialect()) &&
        !isa<LLVM::InlineAsmOp>(op))
      return;
    bool isBarrier = isa<NVVM::BarrierOp, NVVM::BarrierArriveOp>(op);
    for (OpOperand &operand : op->getOpOperands())
      if (SmallVector<Operation *> computation =
              isBarrier ? numberOperations(operand.get())
                        : addressOperations(operand.get());
          !computation.empty())
        uses.push_back({&operand, std::move(computation)});
  });
  SmallVector<Operation *> old;
  for (auto &[operand, computation] : uses) {
    OpBuilder builder(operand->getOwner());
    IRMapping mapping;
    for (Operation *op : computation)
      builder.clone(*op, mapping);
    operand->set(mapping.lookup(operand->get()));
    old.append(computation.rbegin(), computation.rend());
  }
  llvm::SmallPtrSet<Operation *, 16> erased;
  for (Operation *op : old)
    if (!erased.contains(op) && op->use_empty()) {
      erased.insert(op);
      op->erase();
    }
}
