//===- Wgmma.cpp - wgmma to NVVM ------------------------------------------===//
//
// LLVM does not know that wgmma is asynchronous. So MMAs are inline assembly
// whose accumulators are tied to its results. A wait is an inline assembly that
// takes and returns the accumulators, so that no use of them can move above it.
//
// The MMAs of a product are one inline assembly, which computes their matrix
// descriptors as well. With an inline assembly for each MMA, LLVM would copy
// all accumulators from one to the next.
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
#include "llvm/ADT/StringExtras.h"

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
/// `results`. With `writesEarly`, it writes a result before it has read all
/// operands. `constraints` are those of the operands.
static Value emitWithResults(ImplicitLocOpBuilder &b, StringRef text,
                             ArrayRef<Type> results, bool writesEarly,
                             ArrayRef<std::string> constraints,
                             ValueRange operands) {
  SmallVector<std::string> all;
  for (Type type : results)
    all.push_back(std::string(writesEarly ? "=&" : "=") +
                  (type.isF32() ? "f" : "r"));
  llvm::append_range(all, constraints);
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), results);
  return emitInlineAssembly(b, Type(type), text, llvm::join(all, ","), operands)
      ->getResult(0);
}

/// Appends the constraints of `count` operands in the registers of the results
/// from `first` on.
static void tieToResults(int64_t first, int64_t count,
                         SmallVectorImpl<std::string> &constraints) {
  for (int64_t i = first; i < first + count; ++i)
    constraints.push_back(std::to_string(i));
}

/// Emits an instruction that takes and returns `values`, so that neither their
/// definitions nor their uses can move across it.
static SmallVector<Value> passThrough(ImplicitLocOpBuilder &b, StringRef text,
                                      ValueRange values) {
  SmallVector<Value> registers;
  for (Value value : values)
    unpack(b, value, registers);
  SmallVector<Type> types = llvm::to_vector(ValueRange(registers).getTypes());
  SmallVector<std::string> constraints;
  tieToResults(0, types.size(), constraints);
  constraints.push_back("~{memory}");
  Value result = emitWithResults(b, text, types, /*writesEarly=*/false,
                                 constraints, registers);
  return pack(b, result, TypeRange(values));
}

/// Emits the lower half of a matrix descriptor without its distance, an i32.
/// The descriptors of a buffer differ by an addition to it.
static Value emitLowerHalf(ImplicitLocOpBuilder &b,
                           tile::gpu::MatrixDescriptorOp op) {
  int64_t bytes =
      op.getMemory().getType().getElementType().getIntOrFloatBitWidth() / 8;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  };
  auto narrow = [&](Value value) -> Value {
    return arith::IndexCastUIOp::create(b, b.getI32Type(), value);
  };
  Value address =
      narrow(memref::ExtractAlignedPointerAsIndexOp::create(b, op.getMemory()));
  Value offset =
      arith::MulIOp::create(b, narrow(op.getIndex()), constant(bytes));
  address = arith::AddIOp::create(b, address, offset);
  // The address field: 18 bits of address, in units of 16 bytes. Source: PTX
  // ISA, "Matrix Descriptor Format".
  address = arith::AndIOp::create(b, address, constant(0x3ffff));
  address = arith::ShRUIOp::create(b, address, constant(4));
  if (int32_t low = int32_t(op.getBits()); low != 0)
    address = arith::OrIOp::create(b, address, constant(low));
  return address;
}

/// Returns the bits of the upper half of a matrix descriptor.
static int64_t getUpperHalf(tile::gpu::MatrixDescriptorOp op) {
  return op.getBits() & ~int64_t(0xffffffff);
}

//===----------------------------------------------------------------------===//
// Runs of MMAs
//===----------------------------------------------------------------------===//

/// The end of an instruction of an inline assembly, and the start of the next.
static constexpr StringLiteral kNextLine = ";\n\t";

namespace {
/// MMAs of a block, in order, without operations with effects between them.
class WgmmaRun {
public:
  /// Returns true if `op` belongs to the run, and adds it if it is an MMA. An
  /// operation without effects stays in front of the run, so it must not read a
  /// result of it.
  bool extend(Operation &op);
  /// Replaces the MMAs by one inline assembly, at the last one.
  void emit();

private:
  /// Registers that MMAs add to.
  struct Accumulator {
    Value initial, final;
    bool isZero;
    /// The number of the first register.
    int64_t first = 0;
  };

  std::string addOperand(Value value, StringRef constraint);
  void emitMma(tile::gpu::WgmmaOp op);
  std::string emitDescriptor(Value operand);

  SmallVector<tile::gpu::WgmmaOp> ops;
  SmallVector<Accumulator, 2> accumulators;
  /// The accumulator of each MMA.
  llvm::SmallDenseMap<Operation *, unsigned> numbers;

  // The inline assembly, and its operands behind the results.
  std::string text;
  SmallVector<std::string> constraints;
  SmallVector<Value> operands;
  int64_t nextOperand = 0;
  /// The lower halves of descriptors by memory, index and bits.
  llvm::MapVector<std::tuple<Value, Value, int64_t>, std::string> lowerHalves;
  /// The registers of the inline assembly that hold descriptors.
  llvm::MapVector<Operation *, std::string> descriptors;
};
} // namespace

bool WgmmaRun::extend(Operation &op) {
  auto isResult = [&](Value value) {
    return numbers.contains(value.getDefiningOp());
  };
  auto mma = dyn_cast<tile::gpu::WgmmaOp>(op);
  if (!mma)
    return op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
           llvm::none_of(op.getOperands(), isResult);
  if (!isResult(mma.getC())) {
    numbers[mma] = accumulators.size();
    accumulators.push_back({mma.getC(), mma.getD(), mma.getZero()});
  } else {
    unsigned number = numbers.at(mma.getC().getDefiningOp());
    if (mma.getZero() || !mma.getC().hasOneUse())
      return false;
    numbers[mma] = number;
    accumulators[number].final = mma.getD();
  }
  ops.push_back(mma);
  return true;
}

/// Adds an operand of the inline assembly and returns its placeholder.
std::string WgmmaRun::addOperand(Value value, StringRef constraint) {
  operands.push_back(value);
  constraints.push_back(constraint.str());
  return "$" + std::to_string(nextOperand++);
}

/// Returns the text of a matrix descriptor. The inline assembly computes those
/// of this block that only the run uses, at their first use.
std::string WgmmaRun::emitDescriptor(Value operand) {
  auto op = operand.getDefiningOp<tile::gpu::MatrixDescriptorOp>();
  auto isInRun = [&](Operation *user) { return numbers.contains(user); };
  if (!op || op->getBlock() != ops.front()->getBlock() ||
      !llvm::all_of(op->getUsers(), isInRun))
    return addOperand(operand, "l");
  std::string &name = descriptors[op];
  if (!name.empty())
    return name;
  name = "descriptor" + std::to_string(descriptors.size() - 1);
  std::string &low = lowerHalves[{op.getMemory(), op.getIndex(), op.getBits()}];
  if (low.empty()) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    low = addOperand(emitLowerHalf(b, op), "r");
  }
  llvm::raw_string_ostream os(text);
  if (op.getDistance() != 0)
    os << "add.s32 low, " << low << ", " << op.getDistance() << kNextLine;
  os << "cvt.u64.u32 " << name << ", " << (op.getDistance() ? "low" : low)
     << kNextLine << "or.b64 " << name << ", " << name << ", "
     << getUpperHalf(op) << kNextLine;
  return name;
}

/// Appends an MMA to the inline assembly.
void WgmmaRun::emitMma(tile::gpu::WgmmaOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  const Mma *row = findMma(op.getInstruction());
  int64_t count = op.getD().getType().getNumElements();
  int64_t columns = count / row->acc.axisSize(kRegister) * row->n;
  StringRef element = getPtxType(row->operand);
  bool inRegisters = isa<VectorType>(op.getA().getType());
  std::string left;
  if (inRegisters) {
    SmallVector<Value> registers;
    unpack(b, op.getA(), registers);
    left = assemblyCoordinates(nextOperand, registers.size());
    for (Value value : registers)
      addOperand(row->operand == MmaElement::TF32
                     ? arith::BitcastOp::create(b, b.getI32Type(), value)
                     : value,
                 "r");
  } else {
    left = emitDescriptor(op.getA());
  }
  std::string right = emitDescriptor(op.getB());

  llvm::raw_string_ostream os(text);
  os << "wgmma.mma_async.sync.aligned.m" << row->m * row->warps << 'n'
     << columns << 'k' << row->k << '.' << getPtxType(row->accumulator) << '.'
     << element << '.' << element << ' '
     << assemblyCoordinates(accumulators[numbers.at(op)].first, count) << ", "
     << left << ", " << right << ", " << (op.getZero() ? 0 : 1);
  // The signs of the operands, and which of them are not K-major.
  if (!isInteger(row->operand))
    os << ", 1, 1";
  if (!row->needsKMajor) {
    if (!inRegisters)
      os << ", " << (op.getAMnMajor() ? 1 : 0);
    os << ", " << (op.getBMnMajor() ? 1 : 0);
  }
  os << (op == ops.back() ? ";" : kNextLine);
}

void WgmmaRun::emit() {
  if (ops.empty())
    return;
  ImplicitLocOpBuilder b(ops.front().getLoc(), ops.back());
  // An MMA with a zero accumulator does not read it. If zeros were written to
  // the accumulator between the fence and the MMA, ptxas would insert waits.
  SmallVector<Type> results;
  for (Accumulator &accumulator : accumulators) {
    auto type = cast<VectorType>(accumulator.initial.getType());
    accumulator.first = results.size();
    results.append(type.getNumElements(), type.getElementType());
    if (accumulator.isZero)
      continue;
    unpack(b, accumulator.initial, operands);
    tieToResults(accumulator.first, type.getNumElements(), constraints);
  }
  nextOperand = results.size() + operands.size();
  for (tile::gpu::WgmmaOp op : ops)
    emitMma(op);
  if (!descriptors.empty())
    text = (Twine("{\n\t.reg .b32 low") + kNextLine + ".reg .b64 descriptor<" +
            Twine(descriptors.size()) + ">" + kNextLine + text + "\n\t}")
               .str();
  bool writesEarly = ops.size() > 1 || accumulators.front().isZero;
  Value structure =
      emitWithResults(b, text, results, writesEarly, constraints, operands);
  SmallVector<Value> finals;
  for (Accumulator &accumulator : accumulators)
    finals.push_back(accumulator.final);
  for (auto [old, value] : llvm::zip_equal(
           finals, pack(b, structure, TypeRange(ValueRange(finals)))))
    old.replaceAllUsesWith(value);
  for (tile::gpu::WgmmaOp op : llvm::reverse(ops))
    op.erase();
  for (auto &[descriptor, name] : descriptors)
    if (descriptor->use_empty())
      descriptor->erase();
}

void tile::lowerWgmmas(Operation *root) {
  root->walk([](Block *block) {
    WgmmaRun run;
    for (Operation &op : llvm::make_early_inc_range(*block)) {
      if (run.extend(op))
        continue;
      run.emit();
      run = WgmmaRun();
      (void)run.extend(op);
    }
    run.emit();
  });
}

//===----------------------------------------------------------------------===//
// Other operations
//===----------------------------------------------------------------------===//

namespace {

struct MatrixDescriptorToArith
    : OpConversionPattern<tile::gpu::MatrixDescriptorOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::gpu::MatrixDescriptorOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    // Keeps the address at its use. Otherwise LLVM would compute the addresses
    // of all MMAs before a loop and keep each in a register.
    Value low = keepHere(b, emitLowerHalf(b, op));
    if (op.getDistance() != 0)
      low = arith::AddIOp::create(
          b, low,
          arith::ConstantOp::create(b, b.getI32IntegerAttr(op.getDistance())));
    low = arith::ExtUIOp::create(b, b.getI64Type(), low);
    Value high =
        arith::ConstantOp::create(b, b.getI64IntegerAttr(getUpperHalf(op)));
    rewriter.replaceOpWithNewOp<arith::OrIOp>(op, low, high);
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

/// The most instructions of a matrix product, and of a loop, whose
/// loop-invariant descriptors are computed ahead. An instruction reads its two
/// descriptors from four adjacent uniform registers, of which there are 63.
/// With a larger product, ptxas keeps its descriptors in other registers and
/// copies them. With more in a loop, it keeps scalars of the loop in other
/// registers, such as the counters of rings. Fewer take more time if they are
/// computed again. Measured on an H200 and an H100
/// (docs/notes/hopper-registers.md).
static constexpr size_t kMostOfProduct = 8, kMostOfLoop = 16;

/// Returns true if elements of tiles are selected in the loop. Comparisons of
/// coordinates, which masks have, need scalars as well.
static bool hasMask(scf::ForOp loop) {
  return llvm::any_of(
      loop.getBody()->getOps<arith::SelectOp>(),
      [](arith::SelectOp op) { return isa<VectorType>(op.getType()); });
}

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
    size_t most = 0;
    Operands all;
    for (auto &[side, operands] : sides) {
      most = std::max(most, operands.size());
      llvm::append_range(all, operands);
    }
    bool isAtUse =
        most > kMostOfProduct || (func && getSchedule(func).savesRegisters());
    if (!isAtUse && all.size() <= kMostOfLoop)
      continue;
    // tile-split-masked-loops leaves few iterations to loops with masks.
    isAtUse |= hasMask(loop);
    llvm::SmallDenseMap<Operation *, Value> inFront;
    for (OpOperand *operand : all) {
      Operation *descriptor = operand->get().getDefiningOp();
      OpBuilder builder(isAtUse ? operand->getOwner() : loop);
      Value copy = isAtUse ? Value() : inFront.lookup(descriptor);
      if (!copy)
        copy = builder.clone(*descriptor)->getResult(0);
      inFront[descriptor] = copy;
      operand->set(copy);
      if (descriptor->use_empty())
        descriptor->erase();
    }
  }
}

void tile::populateWgmmaToNVVMPatterns(RewritePatternSet &patterns) {
  patterns.add<MatrixDescriptorToArith, WgmmaWaitToNVVM, WgmmaFenceToNVVM>(
      patterns.getContext());
}
