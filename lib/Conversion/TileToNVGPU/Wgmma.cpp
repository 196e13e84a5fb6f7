//===- Wgmma.cpp - wgmma to NVVM ------------------------------------------===//
//
// LLVM does not know that wgmma is asynchronous. So an MMA is one inline
// assembly whose accumulators are tied to its results. A wait is an inline
// assembly that takes and returns the accumulators, so that no use of them can
// move above it.
//
//===----------------------------------------------------------------------===//

#include "Wgmma.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tile/Chips/Mma.h"
#include "tile/Conversion/GPUToLLVM/NVIDIA/Assembly.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tile;

/// Returns how many elements of a vector are in a register of 32 bits.
static int64_t elementsPerRegister(VectorType type) {
  return 32 / type.getElementTypeBitWidth();
}

/// Appends the 32-bit registers of a vector: elements of 32 bits, or words of
/// several elements.
static void unpack(ImplicitLocOpBuilder &b, Value vector,
                   SmallVectorImpl<Value> &registers) {
  auto type = cast<VectorType>(vector.getType());
  bool isWhole = type.getElementTypeBitWidth() == 32;
  if (auto elements = vector.getDefiningOp<vector::FromElementsOp>();
      elements && isWhole)
    return registers.append(elements.getElements().begin(),
                            elements.getElements().end());
  int64_t count = type.getNumElements() / elementsPerRegister(type);
  if (!isWhole)
    vector = vector::BitCastOp::create(
        b, VectorType::get(count, b.getI32Type()), vector);
  for (int64_t i = 0; i < count; ++i)
    registers.push_back(vector::ExtractOp::create(b, vector, i));
}

/// Returns vectors of `types` that are built from the fields of `structure`, in
/// order.
static SmallVector<Value> pack(ImplicitLocOpBuilder &b, Value structure,
                               TypeRange types) {
  auto fields = cast<LLVM::LLVMStructType>(structure.getType()).getBody();
  SmallVector<Value> vectors;
  int64_t field = 0;
  for (Type type : types) {
    auto vector = cast<VectorType>(type);
    int64_t count = vector.getNumElements() / elementsPerRegister(vector);
    auto packed = VectorType::get(count, fields[field]);
    SmallVector<Value> elements;
    for (int64_t i = 0; i < count; ++i)
      elements.push_back(LLVM::ExtractValueOp::create(b, structure, field++));
    Value value = vector::FromElementsOp::create(b, packed, elements);
    if (value.getType() != type)
      value = vector::BitCastOp::create(b, type, value);
    vectors.push_back(value);
  }
  return vectors;
}

/// Emits inline assembly that returns a structure of registers of the types
/// `results`. If `tied`, the first operands are in the same registers.
/// `constraints` are those of the other operands.
static Value emitWithResults(ImplicitLocOpBuilder &b, StringRef text,
                             ArrayRef<Type> results, bool tied,
                             StringRef constraints, ValueRange operands) {
  std::string all;
  for (Type type : results)
    all += std::string(tied ? "=" : "=&") + (type.isF32() ? "f," : "r,");
  for (size_t i = 0; tied && i < results.size(); ++i)
    all += std::to_string(i) + ",";
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), results);
  return emitInlineAssembly(b, Type(type), text, all + constraints, operands)
      ->getResult(0);
}

/// Emits an instruction that takes and returns `values`, so that neither their
/// definitions nor their uses can move across it.
static SmallVector<Value> passThrough(ImplicitLocOpBuilder &b, StringRef text,
                                      ValueRange values) {
  SmallVector<Value> registers;
  for (Value value : values)
    unpack(b, value, registers);
  SmallVector<Type> types = llvm::to_vector(ValueRange(registers).getTypes());
  Value result =
      emitWithResults(b, text, types, /*tied=*/true, "~{memory}", registers);
  return pack(b, result, TypeRange(values));
}

namespace {

struct MatrixDescriptorToArith
    : OpConversionPattern<tile::gpu::MatrixDescriptorOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::gpu::MatrixDescriptorOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    int64_t bytes =
        op.getMemory().getType().getElementType().getIntOrFloatBitWidth() / 8;
    // Computes in 32 bits as long as possible; the upper half of the descriptor
    // is a constant then.
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
    };
    auto narrow = [&](Value value) -> Value {
      return arith::IndexCastUIOp::create(b, b.getI32Type(), value);
    };
    Value address = narrow(
        memref::ExtractAlignedPointerAsIndexOp::create(b, adaptor.getMemory()));
    Value offset =
        arith::MulIOp::create(b, narrow(adaptor.getIndex()), constant(bytes));
    address = arith::AddIOp::create(b, address, offset);
    // The address field: 18 bits of address, in units of 16 bytes. Source: PTX
    // ISA, "Matrix Descriptor Format".
    address = arith::AndIOp::create(b, address, constant(0x3ffff));
    address = arith::ShRUIOp::create(b, address, constant(4));
    // Inserts the other fields before adding the distance, so that the
    // descriptors of one buffer differ by an addition.
    uint64_t bits = op.getBits();
    if (int32_t low = int32_t(bits); low != 0)
      address = arith::OrIOp::create(b, address, constant(low));
    // Keeps the address at its use. Otherwise LLVM would compute the addresses
    // of all MMAs before a loop and keep each in a register.
    address = keepHere(b, address);
    if (op.getDistance() != 0)
      address = arith::AddIOp::create(b, address, constant(op.getDistance()));
    address = arith::ExtUIOp::create(b, b.getI64Type(), address);
    Value high = arith::ConstantOp::create(
        b, b.getI64IntegerAttr(int64_t(bits & ~uint64_t(0xffffffff))));
    rewriter.replaceOpWithNewOp<arith::OrIOp>(op, address, high);
    return success();
  }
};

struct WgmmaToNVVM : OpConversionPattern<tile::gpu::WgmmaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::gpu::WgmmaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    const Mma *row = findMma(op.getInstruction());
    VectorType type = op.getD().getType();
    int64_t count = type.getNumElements();
    int64_t columns = count / row->acc.axisSize(kRegister) * row->n;
    StringRef element = getPtxType(row->operand);

    // An MMA with a zero accumulator does not read it. If zeros were written to
    // the accumulator between the fence and the MMA, ptxas would insert waits.
    bool tied = !op.getZero();
    SmallVector<Value> operands;
    if (tied)
      unpack(b, adaptor.getC(), operands);
    std::string text, constraints;
    llvm::raw_string_ostream os(text);
    os << "wgmma.mma_async.sync.aligned.m" << row->m * row->warps << 'n'
       << columns << 'k' << row->k << '.' << getPtxType(row->accumulator) << '.'
       << element << '.' << element << ' ' << assemblyCoordinates(0, count)
       << ", ";
    int64_t next = tied ? 2 * count : count;
    bool inRegisters = isa<VectorType>(adaptor.getA().getType());
    if (inRegisters) {
      int64_t first = operands.size();
      unpack(b, adaptor.getA(), operands);
      int64_t registers = operands.size() - first;
      if (row->operand == MmaElement::TF32)
        for (Value &value : MutableArrayRef(operands).drop_front(first))
          value = arith::BitcastOp::create(b, b.getI32Type(), value);
      os << assemblyCoordinates(next, registers);
      next += registers;
      for (int64_t i = 0; i < registers; ++i)
        constraints += "r,";
    } else {
      operands.push_back(adaptor.getA());
      os << '$' << next++;
      constraints += "l,";
    }
    operands.push_back(adaptor.getB());
    os << ", $" << next++ << ", " << (op.getZero() ? 0 : 1);
    constraints += "l";
    // The signs of the operands, and which of them are not K-major.
    if (!isInteger(row->operand))
      os << ", 1, 1";
    if (!row->needsKMajor) {
      if (!inRegisters)
        os << ", " << (op.getAMnMajor() ? 1 : 0);
      os << ", " << (op.getBMnMajor() ? 1 : 0);
    }
    os << ';';
    SmallVector<Type> results(count, type.getElementType());
    Value result =
        emitWithResults(b, text, results, tied, constraints, operands);
    rewriter.replaceOp(op, pack(b, result, type));
    return success();
  }
};

struct WgmmaWaitToNVVM : OpConversionPattern<tile::gpu::WgmmaWaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::gpu::WgmmaWaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (op.getValues().empty()) {
      NVVM::WgmmaWaitGroupSyncOp::create(b, op.getPending());
      rewriter.eraseOp(op);
      return success();
    }
    std::string text = "wgmma.wait_group.sync.aligned " +
                       std::to_string(op.getPending()) + ";";
    rewriter.replaceOp(op, passThrough(b, text, adaptor.getValues()));
    return success();
  }
};

struct WgmmaFenceToNVVM : OpConversionPattern<tile::gpu::WgmmaFenceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tile::gpu::WgmmaFenceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (!op.getValues().empty()) {
      rewriter.replaceOp(
          op, passThrough(b, "wgmma.fence.sync.aligned;", adaptor.getValues()));
      return success();
    }
    NVVM::WgmmaFenceAlignedOp::create(b);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

/// Returns the first instruction, in the block of `op`, of the matrix product
/// that `op` is part of.
static tile::gpu::WgmmaOp getFirst(tile::gpu::WgmmaOp op) {
  auto before = op.getC().getDefiningOp<tile::gpu::WgmmaOp>();
  while (before && before->getBlock() == op->getBlock()) {
    op = before;
    before = op.getC().getDefiningOp<tile::gpu::WgmmaOp>();
  }
  return op;
}

/// The largest number of instructions of a matrix product whose loop-invariant
/// descriptors stay hoisted. An instruction reads its two descriptors from four
/// adjacent uniform registers, of which there are 63. With more instructions,
/// ptxas keeps invariant descriptors in other registers and copies them. With
/// fewer, recomputing them takes more time. Measured on an H200
/// (docs/notes/hopper-registers.md).
static constexpr size_t kMostInvariantDescriptors = 8;

void tile::placeMatrixDescriptors(Operation *root) {
  // Groups the operands by innermost loop, then by matrix product and operand
  // number.
  using Operands = SmallVector<OpOperand *>;
  using Side = std::pair<Operation *, unsigned>;
  llvm::MapVector<scf::ForOp, llvm::MapVector<Side, Operands>> loops;
  root->walk([&](tile::gpu::WgmmaOp op) {
    auto loop = op->getParentOfType<scf::ForOp>();
    if (!loop || !loop.getBody()->getOps<scf::ForOp>().empty())
      return;
    for (OpOperand &operand : op->getOpOperands())
      if (loop.isDefinedOutsideOfLoop(operand.get()) &&
          operand.get().getDefiningOp<tile::gpu::MatrixDescriptorOp>())
        loops[loop][{getFirst(op), operand.getOperandNumber()}].push_back(
            &operand);
  });
  for (auto &[loop, sides] : loops) {
    auto func = loop->getParentOfType<FunctionOpInterface>();
    bool saves = func && getSchedule(func).savesRegisters();
    if (!saves && llvm::none_of(sides, [](auto &side) {
          return side.second.size() > kMostInvariantDescriptors;
        }))
      continue;
    for (auto &[side, operands] : sides)
      for (OpOperand *operand : operands) {
        Operation *descriptor = operand->get().getDefiningOp();
        OpBuilder builder(operand->getOwner());
        operand->set(builder.clone(*descriptor)->getResult(0));
        if (descriptor->use_empty())
          descriptor->erase();
      }
  }
}

void tile::populateWgmmaToNVVMPatterns(RewritePatternSet &patterns) {
  patterns.add<MatrixDescriptorToArith, WgmmaToNVVM, WgmmaWaitToNVVM,
               WgmmaFenceToNVVM>(patterns.getContext());
}
