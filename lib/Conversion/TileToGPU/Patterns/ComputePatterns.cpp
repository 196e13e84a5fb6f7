//===- ComputePatterns.cpp - Tiles in registers to vectors ----------------===//
//
// A tile is one vector per thread. Element r of the vector is the element that
// register r of the layout holds. Elementwise operations only change their
// types.
//
//===----------------------------------------------------------------------===//

#include "../Access/ThreadAddress.h"
#include "../Lowering.h"
#include "../TileVectors.h"
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

/// Returns the elements of `values`, a row-major tile with the layout `layout`,
/// that each thread holds.
static std::vector<SmallVector<Attribute>>
elementsOfThreads(const Layout &layout, ArrayRef<Attribute> values) {
  std::vector<SmallVector<Attribute>> threads;
  for (int64_t warp = 0; warp < layout.axisSize(kWarp); ++warp)
    for (int64_t lane = 0; lane < layout.axisSize(kLane); ++lane) {
      SmallVector<Attribute> &thread = threads.emplace_back();
      for (int64_t r = 0; r < layout.axisSize(kRegister); ++r) {
        int64_t number = 0;
        for (auto [coordinate, extent] :
             llvm::zip_equal(layout.element(r, lane, warp), layout.shape()))
          number = number * extent + coordinate;
        thread.push_back(values[number]);
      }
    }
  return threads;
}

/// Emits the vector vectors[thread], where `vectors` has a power of two of
/// elements and `thread` is the number of the calling thread, an i32. Bits of
/// the number that change nothing are not tested.
static Value selectByThread(Lowering &b, VectorType type, Value thread,
                            ArrayRef<SmallVector<Attribute>> vectors) {
  if (vectors.size() == 1)
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, vectors.front()));
  auto low = vectors.take_front(vectors.size() / 2);
  auto high = vectors.drop_front(vectors.size() / 2);
  Value whenLow = selectByThread(b, type, thread, low);
  if (low == high)
    return whenLow;
  Value whenHigh = selectByThread(b, type, thread, high);
  Value bit = arith::AndIOp::create(b, thread, b.i32(low.size()));
  return b.select(b.equal(bit, b.i32(0)), whenLow, whenHigh);
}

static LogicalResult convertConstant(arith::ConstantOp op,
                                     arith::ConstantOp::Adaptor, Lowering &b) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  VectorType type = b.vectorOf(op.getType());
  if (!elements || !type)
    return op.emitOpError("a constant tile must have dense elements");
  if (elements.isSplat())
    return b.replace(op,
                     arith::ConstantOp::create(b, elements.resizeSplat(type)));
  auto threads = elementsOfThreads(
      layoutOf(op), llvm::to_vector(elements.getValues<Attribute>()));
  // Numbers of threads that the block does not have.
  for (size_t i = 0; !llvm::isPowerOf2_64(threads.size()); ++i)
    threads.push_back(threads[i]);
  return b.replace(op, selectByThread(b, type, emitThread(b), threads));
}

/// All threads hold the element of a tile of one element in register 0.
static LogicalResult convertElement(tensor::ExtractOp op,
                                    tensor::ExtractOp::Adaptor operands,
                                    Lowering &b) {
  if (op.getTensor().getType().getNumElements() != 1)
    return op.emitOpError() << "reads an element of a tile of "
                            << op.getTensor().getType().getNumElements()
                            << "; only a tile of one element is the same in "
                               "all threads";
  return b.replace(
      op, vector::ExtractOp::create(b, operands.getTensor(), int64_t(0)));
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

/// Repeats elements of a thread: `project` turns coordinates of the result into
/// those of the source.
static Value repeat(Value vector, const Layout &source, const Layout &result,
                    llvm::function_ref<void(Coordinates &)> project,
                    Lowering &b) {
  std::map<Coordinates, int64_t> registers;
  for (auto [r, coordinates] : llvm::enumerate(registerCoordinates(source)))
    registers.try_emplace(coordinates, r);
  SmallVector<int64_t> indices;
  for (Coordinates coordinates : registerCoordinates(result)) {
    project(coordinates);
    indices.push_back(registers.at(coordinates));
  }
  return shuffle(b, vector, indices);
}

static LogicalResult
convertBroadcast(BroadcastOp op, BroadcastOp::Adaptor operands, Lowering &b) {
  return b.replace(
      op, repeat(
              operands.getSource(), layoutOf(op.getSource()),
              layoutOf(op.getResult()),
              [&](Coordinates &c) { c.erase(c.begin() + op.getDim()); }, b));
}

static LogicalResult
convertBroadcastInWarps(BroadcastInWarpsOp op,
                        BroadcastInWarpsOp::Adaptor operands, Lowering &b) {
  // A warp has one element along the dimension.
  return b.replace(op, repeat(
                           operands.getSource(), layoutOf(op.getSource()),
                           layoutOf(op.getResult()),
                           [&](Coordinates &c) { c[op.getDim()] = 0; }, b));
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

/// Only the shape of the layout changes.
static LogicalResult convertReshape(ReshapeOp op, ReshapeOp::Adaptor operands,
                                    Lowering &b) {
  return b.replace(op, operands.getSource());
}

static LogicalResult convertConcatenate(ConcatenateOp op,
                                        ConcatenateOp::Adaptor operands,
                                        Lowering &b) {
  Layout part = layoutOf(op.getSources().front());
  std::map<Coordinates, int64_t> registers;
  for (auto [r, coordinates] : llvm::enumerate(registerCoordinates(part)))
    registers.try_emplace(coordinates, r);
  int64_t extent = part.shape()[op.getDim()];
  int64_t size = part.axisSize(kRegister);
  SmallVector<int64_t> indices;
  for (Coordinates coordinates : registerCoordinates(layoutOf(op))) {
    int64_t source = coordinates[op.getDim()] / extent;
    coordinates[op.getDim()] %= extent;
    indices.push_back(source * size + registers.at(coordinates));
  }
  auto type =
      VectorType::get({size * int64_t(op.getSources().size())},
                      cast<RankedTensorType>(op.getType()).getElementType());
  Value all = b.join(type, llvm::to_vector(operands.getSources()));
  return b.replace(op, shuffle(b, all, indices));
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
  // With fewer sums than independent MMAs, each sum has several parts.
  int64_t count = rows * columns;
  int64_t chains = std::clamp(mma.independent / count, int64_t(1), steps);
  SmallVector<Value> accumulators;
  for (int64_t i = 0; i < count; ++i)
    accumulators.push_back(fragment(operands.getAcc(), i, count));
  for (int64_t i = count; i < chains * count; ++i)
    accumulators.push_back(b.zeros(accumulators[0].getType()));
  for (int64_t k = 0; k < steps; ++k)
    for (int64_t n = 0; n < columns; ++n)
      for (int64_t m = 0; m < rows; ++m) {
        Value a = fragment(operands.getA(), m * steps + k, rows * steps);
        Value factor =
            fragment(operands.getB(), k * columns + n, columns * steps);
        if (layout.getTransposed())
          std::swap(a, factor);
        Value &acc = accumulators[k % chains * count + m * columns + n];
        acc = tile::gpu::MmaOp::create(b, acc.getType(), mma.name, a, factor,
                                       acc);
      }
  for (size_t i = count; i < accumulators.size(); ++i) {
    Value &sum = accumulators[i % count];
    if (isa<FloatType>(type.getElementType()))
      sum = arith::AddFOp::create(b, sum, accumulators[i]);
    else
      sum = b.add(sum, accumulators[i]);
  }
  accumulators.resize(count);
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
  conversions.addAll(convertBroadcast, convertBroadcastInWarps,
                     convertConcatenate, convertConstant, convertConvertLayout,
                     convertDot, convertElement, convertExtract, convertIota,
                     convertNumPrograms, convertProgramId, convertRecompute,
                     convertReshape, convertSplat, convertTranspose);
}

void tile::populateElementwisePattern(const TypeConverter &types,
                                      RewritePatternSet &patterns) {
  patterns.add<ElementwisePattern>(types, patterns.getContext());
}
