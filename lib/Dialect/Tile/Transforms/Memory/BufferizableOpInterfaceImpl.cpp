//===- BufferizableOpInterfaceImpl.cpp - Bufferization of tiles -----------===//

#include "tile/Dialect/Tile/Transforms/Memory/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "tile/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace tile;

/// Returns the type of the buffer of a tile in shared memory. The encoding of
/// the tile is the layout of the buffer.
static FailureOr<BufferType> sharedBufferType(Operation *op, Type tile) {
  auto type = cast<RankedTensorType>(tile);
  auto buffer = BufferType::getChecked(
      [&] { return op->emitOpError(); }, type.getContext(), type.getShape(),
      type.getElementType(), getLayoutAttr(type), MemorySpace::Shared);
  if (!buffer)
    return failure();
  return buffer;
}

/// Emits the indices of the first element of a buffer: zeros.
static SmallVector<Value> origin(RewriterBase &rewriter, Location loc,
                                 BufferType buffer) {
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  return SmallVector<Value>(buffer.getRank(), zero);
}

namespace {

/// The base class of the models of all operations. No operation writes to its
/// operands, and the buffer type of a result follows from its encoding.
template <typename Model, typename ConcreteOp>
struct TileOpModel : BufferizableOpInterface::ExternalModel<Model, ConcreteOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }
  FailureOr<BufferLikeType> getBufferType(Operation *op, Value value,
                                          const BufferizationOptions &,
                                          const BufferizationState &,
                                          SmallVector<Value> &) const {
    FailureOr<BufferType> type = sharedBufferType(op, value.getType());
    if (failed(type))
      return failure();
    return cast<BufferLikeType>(*type);
  }
};

struct LoadModel : TileOpModel<LoadModel, LoadOp> {
  bool bufferizesToAllocation(Operation *, Value) const { return true; }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &,
                          BufferizationState &) const {
    auto load = cast<LoadOp>(op);
    FailureOr<BufferType> type = sharedBufferType(op, load.getType());
    if (failed(type))
      return failure();
    Value buffer =
        AllocOp::create(rewriter, op->getLoc(), *type, IntegerAttr());
    CopyOp::create(rewriter, op->getLoc(), load.getBuffer(), load.getIndices(),
                   buffer, /*async=*/false);
    replaceOpWithBufferizedValues(rewriter, op, buffer);
    return success();
  }
};

struct TransposeModel : TileOpModel<TransposeModel, TransposeOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &,
                                      const AnalysisState &) const {
    return {{op->getResult(0), BufferRelation::Unknown}};
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto transpose = cast<TransposeOp>(op);
    FailureOr<Value> source =
        getBuffer(rewriter, transpose.getSource(), options, state);
    FailureOr<BufferType> type = sharedBufferType(op, transpose.getType());
    if (failed(source) || failed(type))
      return failure();
    replaceOpWithNewBufferizedOp<TransposeOp>(rewriter, op, *type, *source,
                                              transpose.getOrder());
    return success();
  }
};

/// The model of an operation that reads tiles of shared memory or their
/// buffers.
template <typename OpT>
struct ReaderModel : TileOpModel<ReaderModel<OpT>, OpT> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isSharedTile(operand.get().getType()))
        continue;
      FailureOr<Value> buffer =
          getBuffer(rewriter, operand.get(), options, state);
      if (failed(buffer))
        return failure();
      rewriter.modifyOpInPlace(op, [&] { operand.set(*buffer); });
    }
    return success();
  }
};

struct ConvertLayoutModel : TileOpModel<ConvertLayoutModel, ConvertLayoutOp> {
  bool bufferizesToAllocation(Operation *, Value value) const {
    return isSharedTile(value.getType());
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto convert = cast<ConvertLayoutOp>(op);
    Location loc = op->getLoc();
    if (isSharedTile(convert.getType())) {
      FailureOr<BufferType> type = sharedBufferType(op, convert.getType());
      if (failed(type))
        return failure();
      Value buffer = AllocOp::create(rewriter, loc, *type, IntegerAttr());
      StoreOp::create(rewriter, loc, convert.getSource(), buffer,
                      origin(rewriter, loc, *type));
      replaceOpWithBufferizedValues(rewriter, op, buffer);
      return success();
    }
    FailureOr<Value> source =
        getBuffer(rewriter, convert.getSource(), options, state);
    if (failed(source))
      return failure();
    rewriter.replaceOpWithNewOp<LoadOp>(
        op, convert.getType(), *source,
        origin(rewriter, loc, cast<BufferType>(source->getType())));
    return success();
  }
};

} // namespace

void tile::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TileDialect *) {
    LoadOp::attachInterface<LoadModel>(*context);
    TransposeOp::attachInterface<TransposeModel>(*context);
    DotOp::attachInterface<ReaderModel<DotOp>>(*context);
    ClusterReduceOp::attachInterface<ReaderModel<ClusterReduceOp>>(*context);
    ConvertLayoutOp::attachInterface<ConvertLayoutModel>(*context);
  });
}
