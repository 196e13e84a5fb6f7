//===- WgmmaPatterns.cpp - MMAs that read shared memory -------------------===//

#include "../Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
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
  /// Builds operand `index` of `op`. An instruction reads `extent` elements
  /// along the dimension that is not contracted and `depth` along the other.
  static FailureOr<SharedOperand> get(DotOp op, unsigned index, int64_t extent,
                                      int64_t depth) {
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
        if (!descriptor ||
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
  void setAddress(OpBuilder &builder, Location loc, ValueRange parts,
                  Value part, int64_t step) {
    memory = parts[0];
    index = parts[1];
    if (!part)
      return;
    part = arith::MulIOp::create(
        builder, loc, part,
        arith::ConstantOp::create(
            builder, loc, builder.getI32IntegerAttr(step * elementsPerUnit)));
    part = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                        part);
    index = arith::AddIOp::create(builder, loc, index, part);
  }
  /// Emits the matrix descriptor of the elements from (mn, k) on.
  Value emitDescriptor(OpBuilder &builder, Location loc, int64_t mn,
                       int64_t k) const {
    return tile::gpu::MatrixDescriptorOp::create(
        builder, loc, builder.getI64Type(), memory, index,
        builder.getI64IntegerAttr(descriptor->bits()),
        builder.getI32IntegerAttr(units(mn, k)));
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

/// Returns the largest number of columns of one instruction that divides
/// `columns`.
static int64_t chooseColumns(const Mma &mma, int64_t columns) {
  int64_t result = std::min(columns, mma.maxColumns);
  while (columns % result != 0)
    result -= mma.n;
  return result;
}

struct WgmmaPattern : OpConversionPattern<DotOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(DotOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = op.getTile();
    auto layout = dyn_cast_or_null<MmaAttr>(type.getEncoding());
    // Other instructions read operand B from registers.
    if (!layout || layout.getMma().spaces[1].registers)
      return failure();
    if (!isa<BufferType>(op.getB().getType()))
      return op.emitOpError("reads a tile in shared memory that is no buffer; "
                            "run tile-bufferize first");
    Location loc = op.getLoc();
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

    FailureOr<SharedOperand> b = SharedOperand::get(op, 1, columns, mma.k);
    if (failed(b))
      return failure();
    bool sharedA = isa<BufferType>(op.getA().getType());
    Value group, column;
    int64_t columnStep = 0;
    if (columnGroups > 1 || (sharedA && groups > 1))
      group = groupNumber(rewriter, loc, mma);
    if (columnGroups > 1) {
      // The column ranges of the warpgroups must be evenly spaced.
      columnStep = b->units(ownColumns, 0);
      for (int64_t mn = 0; mn < type.getDimSize(1); mn += columns)
        for (int64_t k = 0; k < depth; k += mma.k)
          if (b->units(mn, k) !=
              mn / ownColumns * columnStep + b->units(mn % ownColumns, k))
            return op.emitOpError("operand b has columns at uneven distances");
      column = arith::DivUIOp::create(rewriter, loc, group,
                                      constantI32(rewriter, loc, groups));
    }
    b->setAddress(rewriter, loc, adaptor.getB(), column, columnStep);
    FailureOr<SharedOperand> a;
    if (sharedA) {
      a = SharedOperand::get(op, 0, rows, mma.k);
      if (failed(a))
        return failure();
      Value row;
      int64_t rowStep = 0;
      if (groups > 1) {
        // The blocks of the warpgroups must be evenly spaced.
        rowStep = a->units(rows, 0);
        for (int64_t block = 0; block < blocks * groups; ++block)
          for (int64_t k = 0; k < steps; ++k)
            if (a->units(block * rows, k * mma.k) !=
                block * rowStep + a->units(0, k * mma.k))
              return op.emitOpError("operand a has blocks of ")
                     << rows << " rows at uneven distances";
        row = group;
        if (columnGroups > 1)
          row = arith::RemUIOp::create(rewriter, loc, group,
                                       constantI32(rewriter, loc, groups));
      }
      a->setAddress(rewriter, loc, adaptor.getA(), row, rowStep);
    }

    auto slice = [&](Value tile, int64_t first, int64_t size) -> Value {
      if (cast<VectorType>(tile.getType()).getNumElements() == size)
        return tile;
      return vector::ExtractStridedSliceOp::create(
          rewriter, loc, tile, ArrayRef<int64_t>{first},
          ArrayRef<int64_t>{size}, ArrayRef<int64_t>{1});
    };
    int64_t aRegisters = mma.a.axisSize(kRegister);
    int64_t accRegisters = mma.acc.axisSize(kRegister) * columns / mma.n;
    bool fromZero = isZeroSplat(adaptor.getAcc().front());
    SmallVector<Value> accumulators;
    for (int64_t i = 0; i < blocks * parts; ++i)
      accumulators.push_back(
          slice(adaptor.getAcc().front(), i * accRegisters, accRegisters));

    // The registers that the MMAs read pass through the fence, except for those
    // of an MMA in flight, which nothing else has changed.
    bool passesAccumulators =
        !fromZero && isa<RankedTensorType>(op.getAcc().getType());
    SmallVector<Value> fenced;
    if (passesAccumulators)
      fenced = accumulators;
    if (!sharedA)
      fenced.push_back(adaptor.getA().front());
    auto fence = tile::gpu::WgmmaFenceOp::create(
        rewriter, loc, TypeRange(ValueRange(fenced)), fenced);
    fenced = fence.getResults();
    Value aTile = sharedA ? Value() : fenced.pop_back_val();
    if (passesAccumulators)
      accumulators = fenced;
    for (int64_t k = 0; k < steps; ++k)
      for (int64_t block = 0; block < blocks; ++block)
        for (int64_t part = 0; part < parts; ++part) {
          Value aValue =
              sharedA
                  ? a->emitDescriptor(rewriter, loc, block * groups * rows,
                                      k * mma.k)
                  : slice(aTile, (block * steps + k) * aRegisters, aRegisters);
          Value bValue =
              b->emitDescriptor(rewriter, loc, part * columns, k * mma.k);
          Value &acc = accumulators[block * parts + part];
          acc = tile::gpu::WgmmaOp::create(
              rewriter, loc, acc.getType(), mma.name, aValue, bValue, acc,
              /*zero=*/fromZero && k == 0,
              /*a_mn_major=*/sharedA && a->isMnMajor(), b->isMnMajor());
        }
    NVVM::WgmmaGroupSyncAlignedOp::create(rewriter, loc);
    if (!op.getAsync())
      accumulators = SmallVector<Value>(
          tile::gpu::WgmmaWaitOp::create(
              rewriter, loc, TypeRange(ValueRange(accumulators)),
              rewriter.getI32IntegerAttr(0), accumulators)
              .getResults());

    if (accumulators.size() == 1) {
      rewriter.replaceOp(op, accumulators.front());
      return success();
    }
    auto resultType = getTypeConverter()->convertType<VectorType>(type);
    Value result = arith::ConstantOp::create(rewriter, loc,
                                             rewriter.getZeroAttr(resultType));
    for (auto [i, part] : llvm::enumerate(accumulators))
      result = vector::InsertStridedSliceOp::create(
          rewriter, loc, part, result,
          ArrayRef<int64_t>{int64_t(i) * accRegisters}, ArrayRef<int64_t>{1});
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  static bool isZeroSplat(Value tile) {
    DenseElementsAttr elements;
    return matchPattern(tile, m_Constant(&elements)) && elements.isSplat() &&
           elements.getSplatValue<APFloat>().isPosZero();
  }

  static Value constantI32(OpBuilder &builder, Location loc, int64_t value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  }

  /// Emits the number of this thread's warpgroup, uniform in the warp, because
  /// matrix descriptors must be uniform.
  static Value groupNumber(OpBuilder &builder, Location loc, const Mma &mma) {
    Value thread =
        mlir::gpu::ThreadIdOp::create(builder, loc, mlir::gpu::Dimension::x);
    Value number = arith::IndexCastUIOp::create(builder, loc,
                                                builder.getI32Type(), thread);
    number = arith::ShRUIOp::create(
        builder, loc, number,
        constantI32(builder, loc, llvm::Log2_64(mma.warpSize * mma.warps)));
    return mlir::gpu::ShuffleOp::create(builder, loc, number,
                                        constantI32(builder, loc, 0),
                                        constantI32(builder, loc, mma.warpSize),
                                        mlir::gpu::ShuffleMode::IDX)
        .getShuffleResult();
  }
};

struct FenceAsyncPattern : OpConversionPattern<FenceAsyncOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(FenceAsyncOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::FenceProxyOp>(
        op, NVVM::ProxyKind::async_shared,
        NVVM::SharedSpaceAttr::get(getContext(),
                                   NVVM::SharedSpace::shared_cta));
    return success();
  }
};

} // namespace

void tile::populateWgmmaPatterns(const TypeConverter &converter,
                                 RewritePatternSet &patterns) {
  patterns.add<WgmmaPattern, FenceAsyncPattern>(converter,
                                                patterns.getContext());
}
