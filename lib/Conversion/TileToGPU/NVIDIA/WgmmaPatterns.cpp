//===- WgmmaPatterns.cpp - MMAs that read shared memory -------------------===//

#include "../Lowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "tile/Analysis/RolePlan.h"
#include "tile/Chips/NVIDIA/MatrixDescriptor.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;
using namespace tile;

/// The unit of distances between matrix descriptors, in bytes. Source: PTX ISA,
/// "Matrix Descriptor Format".
static constexpr int64_t kDescriptorUnit = 16;

namespace {
/// An operand in shared memory, divided into the parts that instructions read.
class SharedOperand {
public:
  /// Builds operand `index` of `op`, which `mma` computes. An instruction reads
  /// `extent` elements along the dimension that is not contracted.
  static FailureOr<SharedOperand> get(DotOp op, const Mma &mma, unsigned index,
                                      int64_t extent) {
    int64_t depth = mma.k;
    auto buffer = cast<BufferType>(op->getOperand(index).getType());
    SharedOperand result;
    result.layout = buffer.getCanonicalLayout();
    result.mnDim = index;
    result.elementsPerUnit = kDescriptorUnit * 8 / buffer.getElementBits();
    for (int64_t mn = 0; mn < buffer.getShape()[index]; mn += extent)
      for (int64_t k = 0; k < buffer.getShape()[1 - index]; k += depth) {
        std::optional<MatrixDescriptor> descriptor =
            matchMatrixDescriptor(result.layout, index, result.at(mn, k),
                                  extent, depth, buffer.getElementBits() / 8);
        if (!descriptor || (mma.needsKMajor && descriptor->mnMajor) ||
            (result.descriptor && !(*result.descriptor == *descriptor)))
          return op.emitOpError()
                 << "operand " << (index == 0 ? "a" : "b") << " of type "
                 << buffer << " has no matrix descriptor for " << extent << "x"
                 << depth << " elements";
        result.descriptor = descriptor;
      }
    return result;
  }

  bool isMnMajor() const { return descriptor->mnMajor; }

  /// Sets the address: `parts` are the memref and the offset of the buffer. If
  /// `part` is not null, it is the number of the part of this warpgroup, and
  /// the parts are `step` units apart.
  void setAddress(Emitter &b, ValueRange parts, Value part, int64_t step) {
    memory = parts[0];
    index = parts[1];
    if (part)
      index = b.add(index, b.toIndex(b.mul(part, step * elementsPerUnit)));
  }
  /// Emits the matrix descriptor of the elements from (mn, k) on.
  Value emitDescriptor(Emitter &b, int64_t mn, int64_t k) const {
    return tile::gpu::MatrixDescriptorOp::create(
        b, b.getI64Type(), memory, index,
        b.getI64IntegerAttr(descriptor->bits()),
        b.getI32IntegerAttr(units(mn, k)));
  }
  /// Returns the distance from the first element to (mn, k), in units of 16
  /// bytes.
  int64_t units(int64_t mn, int64_t k) const {
    return layout.offset(at(mn, k)) / elementsPerUnit;
  }

private:
  SmallVector<int64_t, 2> at(int64_t mn, int64_t k) const {
    return mnDim == 0 ? SmallVector<int64_t, 2>{mn, k}
                      : SmallVector<int64_t, 2>{k, mn};
  }

  Layout layout;
  unsigned mnDim = 0;
  int64_t elementsPerUnit = 0;
  std::optional<MatrixDescriptor> descriptor;
  Value memory, index;
};
} // namespace

static bool isZeroSplat(Value tile) {
  return matchPattern(tile, m_PosZeroFloat()) || matchPattern(tile, m_Zero());
}

/// Rounds f32 elements to tf32. wgmma would cut off the low bits.
static Value roundToTF32(Emitter &b, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  SmallVector<Value> words;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    words.push_back(NVVM::ConvertFloatToTF32Op::create(
        b, b.getI32Type(), vector::ExtractOp::create(b, vector, i),
        NVVM::FPRoundingMode::RNA));
  Value rounded = vector::FromElementsOp::create(
      b, VectorType::get(type.getShape(), b.getI32Type()), words);
  return vector::BitCastOp::create(b, type, rounded);
}

static LogicalResult convertWgmma(DotOp op, Parts<DotOp> operands,
                                  Lowering &b) {
  RankedTensorType type = op.getTile();
  auto layout = dyn_cast_or_null<MmaAttr>(type.getEncoding());
  // Other instructions read operand B from registers.
  if (!layout || layout.getMma().spaces[1].registers)
    return failure();
  if (!isa<BufferType>(op.getB().getType()))
    return op.emitOpError("reads a tile in shared memory that is no buffer; "
                          "run tile-bufferize first");
  const Mma &mma = layout.getMma();
  const int64_t rows = mma.m * mma.warps;
  int64_t depth = cast<ShapedType>(op.getA().getType()).getDimSize(1);
  int64_t steps = depth / mma.k;
  int64_t groups = layout.getWarps()[0] / mma.warps;
  int64_t columnGroups = layout.getWarps()[1];
  // Each warpgroup computes every groups-th block of `rows` rows, and a
  // contiguous range of columns.
  int64_t blocks = type.getDimSize(0) / (rows * groups);
  int64_t ownColumns = type.getDimSize(1) / columnGroups;
  int64_t columns = chooseColumns(mma, ownColumns);
  int64_t parts = ownColumns / columns;

  FailureOr<SharedOperand> right = SharedOperand::get(op, mma, 1, columns);
  if (failed(right))
    return failure();
  bool sharedA = isa<BufferType>(op.getA().getType());
  Value group, column;
  int64_t columnStep = 0;
  // Matrix descriptors must be uniform in the warp, and so is the number of the
  // warpgroup.
  if (columnGroups > 1 || (sharedA && groups > 1))
    group = b.groupOf(b.threadNumber(), mma.warpSize * mma.warps, mma.warpSize);
  if (columnGroups > 1) {
    // The column ranges of the warpgroups must be evenly spaced.
    columnStep = right->units(ownColumns, 0);
    for (int64_t mn = 0; mn < type.getDimSize(1); mn += columns)
      for (int64_t k = 0; k < depth; k += mma.k)
        if (right->units(mn, k) !=
            mn / ownColumns * columnStep + right->units(mn % ownColumns, k))
          return op.emitOpError("operand b has columns at uneven distances");
    column = arith::DivUIOp::create(b, group, b.i32(groups));
  }
  right->setAddress(b, operands.getB(), column, columnStep);
  FailureOr<SharedOperand> left;
  if (sharedA) {
    left = SharedOperand::get(op, mma, 0, rows);
    if (failed(left))
      return failure();
    Value row;
    int64_t rowStep = 0;
    if (groups > 1) {
      // The blocks of the warpgroups must be evenly spaced.
      rowStep = left->units(rows, 0);
      for (int64_t block = 0; block < blocks * groups; ++block)
        for (int64_t k = 0; k < steps; ++k)
          if (left->units(block * rows, k * mma.k) !=
              block * rowStep + left->units(0, k * mma.k))
            return op.emitOpError("operand a has blocks of ")
                   << rows << " rows at uneven distances";
      row = group;
      if (columnGroups > 1)
        row = arith::RemUIOp::create(b, group, b.i32(groups));
    }
    left->setAddress(b, operands.getA(), row, rowStep);
  }

  int64_t aRegisters = mma.a.axisSize(kRegister);
  int64_t accRegisters = mma.acc.axisSize(kRegister) * columns / mma.n;
  Value initial = operands.getAcc().front();
  bool fromZero = isZeroSplat(initial);
  SmallVector<Value> accumulators;
  for (int64_t i = 0; i < blocks * parts; ++i)
    accumulators.push_back(b.slice(initial, i * accRegisters, accRegisters));

  // The registers that the MMAs read pass through the fence, except for those
  // of an MMA in flight, which nothing else has changed.
  bool passesAccumulators =
      !fromZero && isa<RankedTensorType>(op.getAcc().getType());
  SmallVector<Value> fenced;
  if (passesAccumulators)
    fenced = accumulators;
  if (!sharedA) {
    Value a = operands.getA().front();
    fenced.push_back(mma.operand == MmaElement::TF32 ? roundToTF32(b, a) : a);
  }
  auto fence =
      tile::gpu::WgmmaFenceOp::create(b, TypeRange(ValueRange(fenced)), fenced);
  fenced = fence.getResults();
  Value aTile = sharedA ? Value() : fenced.pop_back_val();
  if (passesAccumulators)
    accumulators = fenced;
  for (int64_t k = 0; k < steps; ++k)
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t part = 0; part < parts; ++part) {
        Value aValue =
            sharedA
                ? left->emitDescriptor(b, block * groups * rows, k * mma.k)
                : b.slice(aTile, (block * steps + k) * aRegisters, aRegisters);
        Value bValue = right->emitDescriptor(b, part * columns, k * mma.k);
        Value &acc = accumulators[block * parts + part];
        acc = tile::gpu::WgmmaOp::create(
            b, acc.getType(), mma.name, aValue, bValue, acc,
            /*zero=*/fromZero && k == 0,
            /*a_mn_major=*/sharedA && left->isMnMajor(), right->isMnMajor());
      }
  NVVM::WgmmaGroupSyncAlignedOp::create(b);
  if (!op.getAsync())
    accumulators = SmallVector<Value>(
        tile::gpu::WgmmaWaitOp::create(b, TypeRange(ValueRange(accumulators)),
                                       b.getI32IntegerAttr(0), accumulators)
            .getResults());
  return b.replace(op, b.join(b.vectorOf(type), accumulators));
}

static LogicalResult convertFenceAsync(FenceAsyncOp op, Parts<FenceAsyncOp>,
                                       Lowering &b) {
  NVVM::FenceProxyOp::create(
      b, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  return b.erase(op);
}

void tile::addWgmmaConversions(ConversionAdder &conversions) {
  conversions.addAll(convertFenceAsync, convertWgmma);
}
