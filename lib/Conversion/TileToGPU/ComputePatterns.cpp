//===- ComputePatterns.cpp - Tiles in registers to vectors ----------------===//
//
// A tile is one vector per thread. Element r of the vector is the element that
// register r of the layout holds. Elementwise operations only change their
// types.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "ThreadAddress.h"
#include "TileVectors.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include "tile/Layout/Queries.h"
#include <map>

using namespace mlir;
using namespace tile;

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
} // namespace

static LogicalResult convertConstant(arith::ConstantOp op,
                                     arith::ConstantOp::Adaptor, Lowering &b) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  VectorType type = b.vectorOf(op.getType());
  if (!elements || !elements.isSplat() || !type)
    return op.emitOpError(
        "a constant tile must have one value for all elements");
  return b.replace(op,
                   arith::ConstantOp::create(b, elements.resizeSplat(type)));
}

static LogicalResult convertSplat(tensor::SplatOp op,
                                  tensor::SplatOp::Adaptor operands,
                                  Lowering &b) {
  return b.replace(op, vector::BroadcastOp::create(b, b.vectorOf(op.getType()),
                                                   operands.getInput()));
}

static LogicalResult convertIota(IotaOp op, IotaOp::Adaptor, Lowering &b) {
  Layout layout = layoutOf(op);
  VectorType type = b.vectorOf(op.getType());
  Value start = emitThreadCoordinates(b, layout)[op.getDim()];
  if (type.getElementType().isInteger(64))
    start = arith::ExtUIOp::create(b, b.getI64Type(), start);
  SmallVector<Attribute> distances;
  for (const Coordinates &coordinates : registerCoordinates(layout))
    distances.push_back(
        IntegerAttr::get(type.getElementType(), coordinates[op.getDim()]));
  Value starts = vector::BroadcastOp::create(b, type, start);
  return b.replace(
      op, b.add(starts, arith::ConstantOp::create(
                            b, DenseElementsAttr::get(type, distances))));
}

static LogicalResult
convertBroadcast(BroadcastOp op, BroadcastOp::Adaptor operands, Lowering &b) {
  std::map<Coordinates, int64_t> registers;
  for (auto [r, coordinates] :
       llvm::enumerate(registerCoordinates(layoutOf(op.getSource()))))
    registers.try_emplace(coordinates, r);
  SmallVector<int64_t> indices;
  for (Coordinates coordinates :
       registerCoordinates(layoutOf(op.getResult()))) {
    coordinates.erase(coordinates.begin() + op.getDim());
    indices.push_back(registers.at(coordinates));
  }
  return b.replace(op, shuffle(b, operands.getSource(), indices));
}

/// Only the layout changes: the vector, or the parts of a buffer, stay as they
/// are.
static LogicalResult
convertTranspose(TransposeOp op, Parts<TransposeOp> operands, Lowering &b) {
  return b.replaceByParts(op, operands.getSource());
}

static LogicalResult convertConvertLayout(ConvertLayoutOp op,
                                          ConvertLayoutOp::Adaptor operands,
                                          Lowering &b) {
  if (isSharedTile(op.getSource().getType()) || isSharedTile(op.getType()))
    return op.emitOpError("reads or writes a tile in shared memory; run "
                          "tile-bufferize first");
  ConversionPlan plan =
      planConversion(layoutOf(op.getSource()), layoutOf(op.getResult()));
  if (plan.kind != ConversionKind::None &&
      plan.kind != ConversionKind::RegisterPermute)
    return op.emitOpError("moves elements between threads; run "
                          "tile-decompose-conversions first");
  return b.replace(op, shuffle(b, operands.getSource(), plan.source));
}

static LogicalResult convertExtract(ExtractOp op, ExtractOp::Adaptor operands,
                                    Lowering &b) {
  // The verifier of tile.extract ensures that there are registers.
  SmallVector<int64_t> registers = *findRegistersOfPart(
      layoutOf(op.getSource()), layoutOf(op.getResult()), op.getOffsets());
  return b.replace(op, shuffle(b, operands.getSource(), registers));
}

static LogicalResult convertDot(DotOp op, DotOp::Adaptor operands,
                                Lowering &b) {
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
  int64_t steps = cast<ShapedType>(op.getA().getType()).getDimSize(1) / mma.k;

  // Registers repeat along dimension 1, then along dimension 0.
  auto fragment = [&](Value tile, int64_t i, int64_t count) {
    int64_t size = cast<VectorType>(tile.getType()).getNumElements() / count;
    return b.slice(tile, i * size, size);
  };
  SmallVector<Value> accumulators;
  for (int64_t i = 0; i < rows * columns; ++i)
    accumulators.push_back(fragment(operands.getAcc(), i, rows * columns));
  for (int64_t k = 0; k < steps; ++k)
    for (int64_t n = 0; n < columns; ++n)
      for (int64_t m = 0; m < rows; ++m) {
        Value a = fragment(operands.getA(), m * steps + k, rows * steps);
        Value factor =
            fragment(operands.getB(), k * columns + n, columns * steps);
        if (layout.getTransposed())
          std::swap(a, factor);
        Value &acc = accumulators[m * columns + n];
        acc = tile::gpu::MmaOp::create(b, acc.getType(), mma.name, a, factor,
                                       acc);
      }
  return b.replace(op, b.join(b.vectorOf(type), accumulators));
}

static LogicalResult convertProgramId(ProgramIdOp op, ProgramIdOp::Adaptor,
                                      Lowering &b) {
  return b.replace(op, mlir::gpu::BlockIdOp::create(
                           b, static_cast<mlir::gpu::Dimension>(op.getAxis())));
}

static LogicalResult convertNumPrograms(NumProgramsOp op,
                                        NumProgramsOp::Adaptor, Lowering &b) {
  if (b.chip.vendor != Vendor::NVIDIA)
    return op.emitOpError()
           << "has no register on " << b.chip.name
           << "; compute the extent of the grid from arguments";
  return b.replace(op, mlir::gpu::GridDimOp::create(
                           b, static_cast<mlir::gpu::Dimension>(op.getAxis())));
}

static LogicalResult
convertRecompute(RecomputeOp op, RecomputeOp::Adaptor operands, Lowering &b) {
  return b.replace(op, tile::gpu::RecomputeOp::create(b, operands.getValue()));
}

void tile::addComputeConversions(ConversionAdder &conversions) {
  conversions.addAll(convertBroadcast, convertConstant, convertConvertLayout,
                     convertDot, convertExtract, convertIota,
                     convertNumPrograms, convertProgramId, convertRecompute,
                     convertSplat, convertTranspose);
}

void tile::populateElementwisePattern(const TypeConverter &types,
                                      RewritePatternSet &patterns) {
  patterns.add<ElementwisePattern>(types, patterns.getContext());
}
