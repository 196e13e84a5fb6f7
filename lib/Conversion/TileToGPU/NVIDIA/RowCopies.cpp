//===- RowCopies.cpp - Copies of rows that begin anywhere -----------------===//

#include "RowCopies.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

/// Returns true if the operations of `block` that compute `value` can move in
/// front of the branch that contains it.
static bool canHoist(Value value, Block *block) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != block)
    return true;
  return isPure(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return canHoist(operand, block); });
}

static void hoist(Value value, scf::IfOp branch) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != branch.thenBlock())
    return;
  for (Value operand : op->getOperands())
    hoist(operand, branch);
  op->moveBefore(branch);
}

std::optional<BranchedRow> tile::matchBranchedRow(Value value) {
  auto branch = value.getDefiningOp<scf::IfOp>();
  if (!branch || !branch.elseBlock())
    return std::nullopt;
  unsigned number = cast<OpResult>(value).getResultNumber();
  auto gather =
      branch.thenYield().getOperand(number).getDefiningOp<vector::GatherOp>();
  Value other = branch.elseYield().getOperand(number);
  if (!gather || gather->getBlock() != branch.thenBlock() ||
      !gather->hasOneUse() ||
      !(matchPattern(other, m_Zero()) || matchPattern(other, m_PosZeroFloat())))
    return std::nullopt;
  std::optional<RowLoad> row = matchRowLoad(gather);
  int64_t bits = gather.getVectorType().getElementTypeBitWidth();
  if (!row || bits % 8 != 0 || !llvm::isPowerOf2_64(bits) || bits > 64 ||
      !llvm::all_of(
          ValueRange{row->offset, row->place, row->memory},
          [&](Value part) { return canHoist(part, branch.thenBlock()); }))
    return std::nullopt;
  return BranchedRow{branch, number, gather, *row};
}

bool tile::isSameComputation(Value a, Value b) {
  if (a == b)
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  return x && y && isPure(x) &&
         cast<OpResult>(a).getResultNumber() ==
             cast<OpResult>(b).getResultNumber() &&
         OperationEquivalence::isEquivalentTo(
             x, y,
             [](Value from, Value to) {
               return success(isSameComputation(from, to));
             },
             /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

int64_t tile::countRowWords(int64_t elements, Type element) {
  int64_t each = RowSlots{{}, element, 0, 0}.wordElements();
  return llvm::divideCeil(elements, each) + 1;
}

Value tile::emitRowShift(Emitter &b, BranchedRow &load, const RowSlots &slots) {
  const RowLoad &row = load.row;
  for (Value part : {row.memory, row.offset, row.place})
    hoist(part, load.branch);
  b.setInsertionPoint(load.branch);
  int64_t bytes = slots.element.getIntOrFloatBitWidth() / 8;
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, row.memory);
  Value first =
      arith::ShRUIOp::create(b, address, b.index(llvm::Log2_64(bytes)));
  return arith::AndIOp::create(b, b.add(first, row.offset),
                               b.index(slots.wordElements() - 1));
}

/// Calls `emit` with the number of each word that the thread copies, an index,
/// and whether it may be the first one of the slot.
static void forEachWord(Emitter &b, const RowSlots &slots,
                        llvm::function_ref<void(Value, bool)> emit) {
  Value thread = mlir::gpu::ThreadIdOp::create(b, mlir::gpu::Dimension::x);
  for (int64_t first = 0; first < slots.words; first += slots.threads) {
    Value word = b.add(thread, first);
    Value exists;
    if (first + slots.threads > slots.words)
      exists = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, word,
                                     b.index(slots.words));
    b.emitIf(exists, {}, [&] {
      emit(word, first == 0);
      return SmallVector<Value>();
    });
  }
}

static void storeZeros(Emitter &b, const RowSlots &slots, Value place) {
  auto word = VectorType::get({slots.wordElements()}, slots.element);
  vector::StoreOp::create(b, b.zeros(word), slots.memory, place,
                          /*nontemporal=*/false, llvm::MaybeAlign(16));
}

void tile::emitRowCopies(Emitter &b, BranchedRow &load, const RowSlots &slots,
                         Value slot, Value shift) {
  OpBuilder::InsertionGuard guard(b);
  const RowLoad &row = load.row;
  Value start = b.mul(slot, slots.slotElements());
  int64_t width = slots.wordElements();
  scf::YieldOp yields[] = {load.branch.thenYield(), load.branch.elseYield()};

  b.setInsertionPoint(yields[0]);
  Value begin = arith::SubIOp::create(b, row.offset, shift);
  // Nothing is read for a row without elements.
  Value count = b.toIndex(row.count);
  Value end =
      b.select(b.equal(count, b.index(0)), b.index(0), b.add(count, shift));
  Value isInside =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sge, begin, b.index(0));
  forEachWord(b, slots, [&](Value word, bool mayBeFirst) {
    Value first = b.mul(word, width);
    Value place = b.add(start, first);
    Value left = arith::SubIOp::create(b, end, first);
    left = arith::MaxSIOp::create(b, left, b.index(0));
    left = arith::MinSIOp::create(b, left, b.index(width));
    auto copy = [&] {
      nvgpu::DeviceAsyncCopyOp::create(
          b, nvgpu::DeviceAsyncTokenType::get(b.getContext()), slots.memory,
          place, row.memory, b.add(begin, first), b.getIndexAttr(width), left,
          b.getUnitAttr());
      return SmallVector<Value>();
    };
    auto copyElements = [&] {
      storeZeros(b, slots, place);
      auto loop = scf::ForOp::create(b, shift, left, b.index(1));
      OpBuilder::InsertionGuard inner(b);
      b.setInsertionPointToStart(loop.getBody());
      Value element = loop.getInductionVar();
      Value value =
          memref::LoadOp::create(b, row.memory, b.add(begin, element));
      memref::StoreOp::create(b, value, slots.memory, b.add(place, element));
      return SmallVector<Value>();
    };
    if (!mayBeFirst) {
      copy();
      return;
    }
    Value isLater =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, word, b.index(0));
    b.emitIf(arith::OrIOp::create(b, isLater, isInside), {}, copy,
             copyElements);
  });

  b.setInsertionPoint(yields[1]);
  forEachWord(b, slots, [&](Value word, bool) {
    storeZeros(b, slots, b.add(start, b.mul(word, width)));
  });
  for (scf::YieldOp yield : yields) {
    b.setInsertionPoint(yield);
    yield->setOperand(load.result, b.zeros(load.gather.getType()));
  }
  load.gather.erase();
}

Value tile::readRow(Emitter &b, const RowSlots &slots, Value slot, Value shift,
                    Value place, ArrayRef<int64_t> distances) {
  auto type = VectorType::get(distances.size(), slots.element);
  auto single = VectorType::get({1}, slots.element);
  Value start = b.add(b.mul(slot, slots.slotElements()), shift);
  start = b.add(start, b.toIndex(place));
  SmallVector<Value> parts;
  for (int64_t distance : distances)
    parts.push_back(
        loadVector(b, slots.memory, b.add(start, distance), single));
  return b.join(type, parts);
}
