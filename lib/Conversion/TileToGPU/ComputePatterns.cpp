//===- ComputePatterns.cpp - Tiles in registers to vectors ----------------===//
//
// A tile is one vector per thread. Element r of the vector is the element that
// register r of the layout holds. Elementwise operations only change their
// types.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "ThreadAddress.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include "tile/Layout/Queries.h"
#include <map>
#include <set>

using namespace mlir;
using namespace tile;

using Coordinates = SmallVector<int64_t, 4>;

static RankedTensorType tileType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Returns the elements `indices` of `vector`, or `vector` itself if these are
/// all elements in order.
static Value shuffle(OpBuilder &builder, Location loc, Value vector,
                     ArrayRef<int64_t> indices) {
  auto type = cast<VectorType>(vector.getType());
  if (int64_t(indices.size()) == type.getNumElements() &&
      llvm::all_of(llvm::enumerate(indices), [](auto entry) {
        return int64_t(entry.index()) == entry.value();
      }))
    return vector;
  return vector::ShuffleOp::create(builder, loc, vector, vector, indices);
}

/// Returns the coordinates of every register relative to those of register 0.
static SmallVector<Coordinates> registerCoordinates(const Layout &layout) {
  SmallVector<Coordinates> result;
  for (int64_t r = 0; r < layout.axisSize(kRegister); ++r)
    result.push_back(layout.element(r, 0, 0));
  return result;
}

namespace {

/// Converts operations of arith and math on tiles to operations on vectors.
struct ElementwisePattern : ConversionPattern {
  ElementwisePattern(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumRegions() != 0)
      return failure();
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return failure();
    OperationState state(op->getLoc(), op->getName(), operands, types,
                         op->getAttrs());
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

struct ConstantPattern : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
    auto type = getTypeConverter()->convertType<VectorType>(op.getType());
    if (!elements || !elements.isSplat() || !type)
      return op.emitOpError(
          "a constant tile must have one value for all elements");
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op,
                                                   elements.resizeSplat(type));
    return success();
  }
};

struct SplatPattern : OpConversionPattern<tensor::SplatOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tensor::SplatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(
        op, getTypeConverter()->convertType(op.getType()), adaptor.getInput());
    return success();
  }
};

struct IotaPattern : OpConversionPattern<IotaOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(IotaOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Layout layout = getCanonicalLayout(tileType(op.getResult()));
    auto type = getTypeConverter()->convertType<VectorType>(op.getType());
    Value start = emitThreadCoordinates(rewriter, loc, layout)[op.getDim()];
    if (type.getElementType().isInteger(64))
      start =
          arith::ExtUIOp::create(rewriter, loc, rewriter.getI64Type(), start);
    SmallVector<Attribute> distances;
    for (const Coordinates &coordinates : registerCoordinates(layout))
      distances.push_back(
          IntegerAttr::get(type.getElementType(), coordinates[op.getDim()]));
    rewriter.replaceOpWithNewOp<arith::AddIOp>(
        op, vector::BroadcastOp::create(rewriter, loc, type, start),
        arith::ConstantOp::create(rewriter, loc,
                                  DenseElementsAttr::get(type, distances)));
    return success();
  }
};

struct BroadcastPattern : OpConversionPattern<BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(BroadcastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Layout from = getCanonicalLayout(tileType(op.getSource()));
    Layout to = getCanonicalLayout(tileType(op.getResult()));
    std::map<Coordinates, int64_t> registers;
    for (auto [r, coordinates] : llvm::enumerate(registerCoordinates(from)))
      registers.try_emplace(coordinates, r);
    SmallVector<int64_t> indices;
    for (Coordinates coordinates : registerCoordinates(to)) {
      coordinates.erase(coordinates.begin() + op.getDim());
      indices.push_back(registers.at(coordinates));
    }
    rewriter.replaceOp(
        op, shuffle(rewriter, op.getLoc(), adaptor.getSource(), indices));
    return success();
  }
};

struct TransposePattern : OpConversionPattern<TransposeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(TransposeOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    // Only the layout changes: the vector, or the parts of a buffer, stay as
    // they are.
    rewriter.replaceOpWithMultiple(op, {adaptor.getSource()});
    return success();
  }
};

struct ConvertLayoutPattern : OpConversionPattern<ConvertLayoutOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(ConvertLayoutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (isSharedTile(op.getSource().getType()) || isSharedTile(op.getType()))
      return op.emitOpError("reads or writes a tile in shared memory; run "
                            "tile-bufferize first");
    ConversionPlan plan =
        planConversion(getCanonicalLayout(tileType(op.getSource())),
                       getCanonicalLayout(tileType(op.getResult())));
    if (plan.kind != ConversionKind::None &&
        plan.kind != ConversionKind::RegisterPermute)
      return op.emitOpError("moves elements between threads; run "
                            "tile-decompose-conversions first");
    rewriter.replaceOp(
        op, shuffle(rewriter, op.getLoc(), adaptor.getSource(), plan.source));
    return success();
  }
};

/// Converts ReduceInWarpsOp, and ReduceOp along a dimension that no two warps
/// share.
template <typename OpT> struct ReducePattern : OpConversionPattern<OpT> {
  using OpConversionPattern<OpT>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Layout from = getCanonicalLayout(tileType(op.getSource()));
    Layout to = getCanonicalLayout(tileType(op.getResult()));
    unsigned dim = op.getDim();
    constexpr bool inWarps = std::is_same_v<OpT, ReduceInWarpsOp>;
    if (!inWarps && from.reduceInWarps(dim).shape()[dim] != 1)
      return op.emitOpError("reduces along a dimension that is spread over "
                            "warps; run tile-decompose-reductions first");

    // Groups the registers of the source by their register of the result. A
    // tile smaller than the pattern of its layout has copies in registers, of
    // which one is used.
    std::map<Coordinates, SmallVector<int64_t>> members;
    std::set<Coordinates> counted;
    for (auto [r, coordinates] : llvm::enumerate(registerCoordinates(from))) {
      if (!counted.insert(coordinates).second)
        continue;
      Coordinates rest = coordinates;
      if (inWarps)
        rest[dim] = 0;
      else
        rest.erase(rest.begin() + dim);
      members[rest].push_back(r);
    }
    SmallVector<SmallVector<int64_t>> groups;
    for (const Coordinates &coordinates : registerCoordinates(to))
      groups.push_back(members.at(coordinates));
    arith::AtomicRMWKind kind = op.getKind();
    Value result;
    for (size_t i = 0; i < groups.front().size(); ++i) {
      Value part = shuffle(
          rewriter, loc, adaptor.getSource(),
          llvm::map_to_vector(groups, [&](const SmallVector<int64_t> &group) {
            return group[i];
          }));
      result = result ? arith::getReductionOp(kind, rewriter, loc, result, part)
                      : part;
    }

    // Lanes that differ along `dim` exchange values. The extent of every digit
    // of the lane axis is a power of two.
    int64_t position = 1, lanes = from.axisSize(kLane);
    for (const Digit &digit : from.axis(kLane)) {
      if (digit.stride != 0 && digit.dim == dim) {
        for (int64_t mask = position; mask < position * digit.extent; mask *= 2)
          result = arith::getReductionOp(
              kind, rewriter, loc, result,
              exchange(rewriter, loc, result, mask, lanes));
      }
      position *= digit.extent;
    }
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  /// Emits the exchange of every element with lane ^ mask.
  static Value exchange(OpBuilder &builder, Location loc, Value vector,
                        int64_t mask, int64_t lanes) {
    auto type = cast<VectorType>(vector.getType());
    Type element = type.getElementType();
    unsigned bits = element.getIntOrFloatBitWidth();
    SmallVector<Value> parts;
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      Value value = vector::ExtractOp::create(builder, loc, vector, i);
      // Shuffles exchange 32 bits at a time.
      if (bits < 32) {
        if (isa<FloatType>(element))
          value = arith::BitcastOp::create(builder, loc,
                                           builder.getIntegerType(bits), value);
        value =
            arith::ExtUIOp::create(builder, loc, builder.getI32Type(), value);
      }
      value = mlir::gpu::ShuffleOp::create(builder, loc, value, mask, lanes,
                                           mlir::gpu::ShuffleMode::XOR)
                  .getShuffleResult();
      if (bits < 32) {
        value = arith::TruncIOp::create(builder, loc,
                                        builder.getIntegerType(bits), value);
        if (isa<FloatType>(element))
          value = arith::BitcastOp::create(builder, loc, element, value);
      }
      parts.push_back(value);
    }
    return vector::FromElementsOp::create(builder, loc, type, parts);
  }
};

struct DotPattern : OpConversionPattern<DotOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(DotOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = op.getTile();
    // verifyThreads() ensures that there is a layout, and the verifier of
    // tile.dot that it is an MmaAttr.
    auto layout = cast<MmaAttr>(type.getEncoding());
    const Mma &mma = layout.getMma();
    if (!mma.spaces[1].registers)
      return failure();
    SmallVector<int64_t, 2> shape = layout.getInstructionShape();
    // The repetitions of the instruction in one warp.
    int64_t rows = type.getDimSize(0) / (shape[0] * layout.getWarps()[0]);
    int64_t columns = type.getDimSize(1) / (shape[1] * layout.getWarps()[1]);
    int64_t steps = tileType(op.getA()).getDimSize(1) / mma.k;

    // Registers repeat along dimension 1, then along dimension 0.
    auto fragment = [&](Value tile, int64_t i, int64_t count) -> Value {
      int64_t size = cast<VectorType>(tile.getType()).getNumElements() / count;
      return vector::ExtractStridedSliceOp::create(
          rewriter, loc, tile, ArrayRef<int64_t>{i * size},
          ArrayRef<int64_t>{size}, ArrayRef<int64_t>{1});
    };
    SmallVector<Value> accumulators;
    for (int64_t i = 0; i < rows * columns; ++i)
      accumulators.push_back(fragment(adaptor.getAcc(), i, rows * columns));
    for (int64_t k = 0; k < steps; ++k)
      for (int64_t n = 0; n < columns; ++n)
        for (int64_t m = 0; m < rows; ++m) {
          Value a = fragment(adaptor.getA(), m * steps + k, rows * steps);
          Value b = fragment(adaptor.getB(), k * columns + n, columns * steps);
          if (layout.getTransposed())
            std::swap(a, b);
          Value &acc = accumulators[m * columns + n];
          acc = tile::gpu::MmaOp::create(rewriter, loc, acc.getType(), mma.name,
                                         a, b, acc);
        }

    auto resultType = getTypeConverter()->convertType<VectorType>(type);
    Value result = arith::ConstantOp::create(rewriter, loc,
                                             rewriter.getZeroAttr(resultType));
    int64_t size = resultType.getNumElements() / accumulators.size();
    for (auto [i, acc] : llvm::enumerate(accumulators))
      result = vector::InsertStridedSliceOp::create(
          rewriter, loc, acc, result, ArrayRef<int64_t>{int64_t(i) * size},
          ArrayRef<int64_t>{1});
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ProgramIdPattern : OpConversionPattern<ProgramIdOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(ProgramIdOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<mlir::gpu::BlockIdOp>(
        op, static_cast<mlir::gpu::Dimension>(op.getAxis()));
    return success();
  }
};

struct NumProgramsPattern : OpConversionPattern<NumProgramsOp> {
  NumProgramsPattern(const TypeConverter &converter, MLIRContext *context,
                     const Chip &chip)
      : OpConversionPattern(converter, context), chip(chip) {}
  LogicalResult
  matchAndRewrite(NumProgramsOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (chip.vendor != Vendor::NVIDIA)
      return op.emitOpError()
             << "has no register on " << chip.name
             << "; compute the extent of the grid from arguments";
    rewriter.replaceOpWithNewOp<mlir::gpu::GridDimOp>(
        op, static_cast<mlir::gpu::Dimension>(op.getAxis()));
    return success();
  }

private:
  const Chip &chip;
};

struct RecomputePattern : OpConversionPattern<RecomputeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(RecomputeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<tile::gpu::RecomputeOp>(op, adaptor.getValue());
    return success();
  }
};

} // namespace

void tile::populateComputePatterns(const TypeConverter &converter,
                                   RewritePatternSet &patterns,
                                   const Chip &chip) {
  patterns.add<ElementwisePattern, BroadcastPattern, ConstantPattern,
               ConvertLayoutPattern, DotPattern, IotaPattern, ProgramIdPattern,
               RecomputePattern, ReducePattern<ReduceInWarpsOp>,
               ReducePattern<ReduceOp>, SplatPattern, TransposePattern>(
      converter, patterns.getContext());
  patterns.add<NumProgramsPattern>(converter, patterns.getContext(), chip);
}
