//===- TensorMapPatterns.cpp - TMA copies, stores and reductions ----------===//

#include "../BufferParts.h"
#include "../Patterns.h"
#include "../Roles.h"
#include "../SharedAddress.h"
#include "../VectorAccess.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tile/Chips/NVIDIA/TensorMap.h"
#include "tile/Conversion/GPUToLLVM/NVIDIA/Assembly.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

/// Returns the dimensions of the argument in the order of the tensor map,
/// innermost first: columns and rows of the tile, then the others.
static SmallVector<int64_t> mapOrder(BulkOpInterface op) {
  SmallVector<int64_t> order(llvm::reverse(op.getDims()));
  for (int64_t dim = op.getArgument().getType().getRank(); dim-- > 0;)
    if (!llvm::is_contained(op.getDims(), dim))
      order.push_back(dim);
  return order;
}

/// Returns the boxes of the tile, or of the part of one warp.
static TensorMapBoxes boxesOf(BulkOpInterface op) {
  BufferType tile = op.getTileType();
  TensorMapBoxes boxes =
      *matchTensorMap(tile.getCanonicalLayout(), tile.getElementBits() / 8);
  SmallVector<int64_t, 2> parts = op.getPartCounts();
  boxes.rows /= parts[0];
  boxes.count /= parts[1];
  return boxes;
}

SmallVector<Attribute> tile::collectTensorMaps(KernelOp kernel,
                                               unsigned firstArgument,
                                               RoleContext &context) {
  Builder builder(kernel.getContext());
  SmallVector<Attribute> maps;
  kernel.walk([&](BulkOpInterface op) {
    TensorMapBoxes boxes = boxesOf(op);
    SmallVector<int64_t> box(op.getArgument().getType().getRank(), 1);
    box[0] = boxes.columns;
    if (op.getDims().size() > 1)
      box[1] = boxes.rows;
    auto numbers = [&](ArrayRef<int64_t> values) {
      return builder.getArrayAttr(
          llvm::map_to_vector(values, [&](int64_t value) -> Attribute {
            return builder.getI64IntegerAttr(value);
          }));
    };
    int64_t argument = cast<BlockArgument>(op.getArgument()).getArgNumber();
    SmallVector<NamedAttribute> fields{
        builder.getNamedAttr("kind", builder.getStringAttr("tensor_map")),
        builder.getNamedAttr("argument", builder.getI64IntegerAttr(argument)),
        builder.getNamedAttr("dims", numbers(mapOrder(op))),
        builder.getNamedAttr("box", numbers(box)),
        builder.getNamedAttr("swizzle",
                             builder.getI64IntegerAttr(boxes.swizzle))};
    if (op.getStart())
      fields.push_back(builder.getNamedAttr(
          "ragged", builder.getI64IntegerAttr(op.getDims().front())));
    Attribute map = builder.getDictionaryAttr(fields);
    size_t number = llvm::find(maps, map) - maps.begin();
    if (number == maps.size())
      maps.push_back(map);
    context.tensorMaps[op] = firstArgument + number;
  });
  return maps;
}

//===----------------------------------------------------------------------===//
// The conversion
//===----------------------------------------------------------------------===//

namespace {

Value constantI32(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI32IntegerAttr(value));
}

/// A pattern for an operation of TMA.
template <typename OpT> struct TMAPattern : MemoryPattern<OpT> {
  TMAPattern(const TypeConverter &converter, MLIRContext *context,
             const Chip &chip, const RoleContext &roles)
      : MemoryPattern<OpT>(converter, context, chip), roles(roles) {}

protected:
  /// Returns the function argument that is the tensor map of `op`.
  Value mapOf(BulkOpInterface op) const {
    return op->getParentOfType<mlir::gpu::GPUFuncOp>().getArgument(
        roles.tensorMaps.lookup(op));
  }
  bool isOneThread(Operation *op) const { return roles.oneThread.contains(op); }

private:
  const RoleContext &roles;
};

/// Emits the coordinates of a box for the tensor map: `indices` in the order of
/// the map. If the tile is in a range of rows, `start` and `length` give the
/// range; otherwise they are empty.
SmallVector<Value> mapCoordinates(OpBuilder &builder, BulkOpInterface op,
                                  ValueRange indices, ValueRange start = {},
                                  ValueRange length = {}) {
  Location loc = op.getLoc();
  auto narrow = [&](Value index) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                      index);
  };
  SmallVector<Value> coordinates;
  for (int64_t dim : mapOrder(op))
    coordinates.push_back(narrow(indices[dim]));
  if (start.empty())
    return coordinates;
  // The coordinates of ragged tensor maps are described at kRaggedRows.
  Value from = narrow(start.front()), rows = narrow(length.front());
  Value all = constantI32(builder, loc, kRaggedRows);
  Value first = arith::SubIOp::create(builder, loc, all, rows);
  coordinates[1] = arith::AddIOp::create(builder, loc, first, coordinates[1]);
  coordinates.push_back(arith::AddIOp::create(builder, loc, from, rows));
  coordinates.push_back(all);
  return coordinates;
}

/// Calls `emit` for each box of the tile at `place`, with the offset of its
/// first element from `place`.
void forEachBox(
    OpBuilder &builder, Location loc, const TensorMapBoxes &boxes,
    int64_t distance, ArrayRef<Value> place,
    llvm::function_ref<void(ValueRange coordinates, int64_t first)> emit) {
  Value column = place.front();
  SmallVector<Value> coordinates(place);
  for (int64_t i = 0; i < boxes.count; ++i) {
    coordinates[0] = arith::AddIOp::create(
        builder, loc, column, constantI32(builder, loc, i * boxes.columns));
    emit(coordinates, i * distance);
  }
}

Value addConstant(OpBuilder &builder, Location loc, Value index,
                  int64_t distance) {
  return arith::AddIOp::create(
      builder, loc, index,
      arith::ConstantIndexOp::create(builder, loc, distance));
}

/// Emits the number of this thread's warp. The shuffle tells the back end that
/// the number is uniform in the warp. The number of the thread is read again
/// here, because the value that roles use would occupy a register until here.
Value emitWarp(OpBuilder &builder, Location loc, const Chip &chip) {
  Value thread =
      tile::gpu::ThreadOp::create(builder, loc, builder.getI32Type());
  Value warp = arith::ShRUIOp::create(
      builder, loc, thread,
      constantI32(builder, loc, llvm::Log2_64(chip.warpSize)));
  return mlir::gpu::ShuffleOp::create(builder, loc, warp,
                                      constantI32(builder, loc, 0),
                                      constantI32(builder, loc, chip.warpSize),
                                      mlir::gpu::ShuffleMode::IDX)
      .getShuffleResult();
}

struct BulkCopyPattern : TMAPattern<BulkCopyOp> {
  using TMAPattern::TMAPattern;
  LogicalResult
  matchAndRewrite(BulkCopyOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    BufferParts barriers(op.getBarriers().getType(), adaptor.getBarriers());
    BufferParts dest(op.getDest().getType(), adaptor.getDest());
    Value barrier = arith::AddIOp::create(rewriter, loc, barriers.offset,
                                          adaptor.getIndex().front());
    TensorMapBoxes boxes = boxesOf(op);
    int64_t bytes = dest.type.getElementBits() / 8;
    Value mbarrier = sharedPointer(rewriter, loc, barriers.memory, barrier);
    NVVM::MBarrierArriveExpectTxOp::create(
        rewriter, loc, TypeRange(), mbarrier,
        constantI32(rewriter, loc, boxes.count * boxes.distance() * bytes),
        NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/Value());
    Value policy = emitPolicy(rewriter, loc, op.getCache());
    SmallVector<Value> place =
        mapCoordinates(rewriter, op, single(adaptor.getIndices()),
                       adaptor.getStart(), adaptor.getLength());
    forEachBox(rewriter, loc, boxes, boxes.distance(), place,
               [&](ValueRange coordinates, int64_t first) {
                 Value to = sharedPointer(
                     rewriter, loc, dest.memory,
                     addConstant(rewriter, loc, dest.offset, first),
                     NVVM::NVVMMemorySpace::SharedCluster);
                 NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
                     rewriter, loc, to, mapOf(op), coordinates, mbarrier,
                     /*im2colOffsets=*/ValueRange(), /*multicastMask=*/Value(),
                     policy, NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
                     NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
               });
    rewriter.eraseOp(op);
    return success();
  }
};

struct BulkPrefetchPattern : TMAPattern<BulkPrefetchOp> {
  using TMAPattern::TMAPattern;
  LogicalResult
  matchAndRewrite(BulkPrefetchOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    TensorMapBoxes boxes = boxesOf(op);
    forEachBox(rewriter, loc, boxes, boxes.distance(),
               mapCoordinates(rewriter, op, single(adaptor.getIndices())),
               [&](ValueRange coordinates, int64_t) {
                 NVVM::CpAsyncBulkTensorPrefetchOp::create(
                     rewriter, loc, mapOf(op), coordinates,
                     /*im2colOffsets=*/ValueRange(), NVVM::TMALoadMode::TILE,
                     /*l2CacheHint=*/Value());
               });
    rewriter.eraseOp(op);
    return success();
  }
};

/// Starts a TMA store or a reduction of one box from `index` of `memory`, with
/// the tensor map `map`. If `active` is null, all threads that are here start
/// it.
void emitBulkOut(OpBuilder &builder, BulkOpInterface op, Value map,
                 Value memory, Value index, ValueRange coordinates,
                 Value active, Value policy) {
  Location loc = op.getLoc();
  bool adds = isa<BulkReduceOp>(op);
  if (!adds && !(active && policy)) {
    NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
        builder, loc, map, sharedPointer(builder, loc, memory, index),
        coordinates, policy, NVVM::TMAStoreMode::TILE, active);
    return;
  }
  if (!active) {
    NVVM::CpAsyncBulkTensorReduceOp::create(
        builder, loc, map, sharedPointer(builder, loc, memory, index),
        NVVM::TMAReduxKind::ADD, NVVM::TMAStoreMode::TILE, coordinates, policy);
    return;
  }
  // One predicated instruction, because a branch would be control flow between
  // MMAs in flight. nvvm has no predicated reduction, and no predicated store
  // with a cache policy.
  size_t rank = coordinates.size();
  SmallVector<Value> operands{sharedAddress(builder, loc, memory, index), map};
  llvm::append_range(operands, coordinates);
  operands.push_back(active);
  std::string text = llvm::formatv(
      "@${0} cp.{1}async.bulk.tensor.{2}d.global.shared::cta{3}.bulk_group",
      2 + rank, adds ? "reduce." : "", rank, adds ? ".add" : "");
  std::string where =
      llvm::formatv(" [$1, {0}], [$0]", assemblyCoordinates(2, rank));
  emitCached(builder, loc, text, where,
             "r,l" + repeatConstraint("r", rank) + ",b", operands, policy);
}

/// Converts tile.bulk_store and tile.bulk_reduce.
template <typename OpT> struct BulkOutPattern : TMAPattern<OpT> {
  using TMAPattern<OpT>::TMAPattern;
  using typename TMAPattern<OpT>::OneToNOpAdaptor;
  LogicalResult
  matchAndRewrite(OpT op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    const Chip &chip = this->chip;
    BufferParts source(op.getSource().getType(), adaptor.getSource());
    SmallVector<Value> coordinates =
        mapCoordinates(rewriter, op, this->single(adaptor.getIndices()),
                       adaptor.getStart(), adaptor.getLength());
    // The boxes of a part have the same distances as those of the whole tile.
    TensorMapBoxes boxes = boxesOf(op);
    SmallVector<int64_t, 2> parts = op.getPartCounts();
    int64_t distance = boxes.distance() * parts[0];
    Value place = source.offset, active;
    if (this->isOneThread(op)) {
      // All threads that are here, one, start the stores.
    } else if (!op.getParts()) {
      active = NVVM::ElectSyncOp::create(rewriter, loc, rewriter.getI1Type(),
                                         Value());
      Value isFirst = arith::CmpIOp::create(
          rewriter, loc, arith::CmpIPredicate::eq,
          emitWarp(rewriter, loc, chip), constantI32(rewriter, loc, 0));
      active = arith::AndIOp::create(rewriter, loc, active, isFirst);
    } else {
      // All lanes of the warp must have written before one of them stores.
      NVVM::SyncWarpOp::create(rewriter, loc, constantI32(rewriter, loc, -1));
      active = NVVM::ElectSyncOp::create(rewriter, loc, rewriter.getI1Type(),
                                         Value());
      Value warp = emitWarp(rewriter, loc, chip);
      Value count = constantI32(rewriter, loc, parts[0]);
      Value part[2] = {warp, constantI32(rewriter, loc, 0)};
      if (parts[1] > 1) {
        part[0] = arith::RemUIOp::create(rewriter, loc, warp, count);
        part[1] = arith::DivUIOp::create(rewriter, loc, warp, count);
      }
      auto move = [&](Value part, size_t coordinate, int64_t by,
                      int64_t elements) {
        coordinates[coordinate] = arith::AddIOp::create(
            rewriter, loc, coordinates[coordinate],
            arith::MulIOp::create(rewriter, loc, part,
                                  constantI32(rewriter, loc, by)));
        Value offset = arith::MulIOp::create(
            rewriter, loc, part, constantI32(rewriter, loc, elements));
        place = arith::AddIOp::create(
            rewriter, loc, place,
            arith::IndexCastUIOp::create(rewriter, loc, rewriter.getIndexType(),
                                         offset));
      };
      move(part[0], 1, boxes.rows, boxes.distance());
      if (parts[1] > 1)
        move(part[1], 0, boxes.count * boxes.columns, boxes.count * distance);
    }
    Value policy = emitPolicy(rewriter, loc, op.getCache());
    forEachBox(rewriter, loc, boxes, distance, coordinates,
               [&](ValueRange coordinates, int64_t first) {
                 emitBulkOut(rewriter, op, this->mapOf(op), source.memory,
                             addConstant(rewriter, loc, place, first),
                             coordinates, active, policy);
               });
    NVVM::CpAsyncBulkCommitGroupOp::create(rewriter, loc);
    rewriter.eraseOp(op);
    return success();
  }
};

struct BulkWaitPattern : TMAPattern<BulkWaitOp> {
  using TMAPattern::TMAPattern;
  LogicalResult
  matchAndRewrite(BulkWaitOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    NVVM::CpAsyncBulkWaitGroupOp::create(rewriter, op.getLoc(),
                                         op.getPendingAttr(), op.getReadAttr());
    // One lane has issued the operations, so the other lanes wait for it here.
    if (!isOneThread(op))
      NVVM::SyncWarpOp::create(rewriter, op.getLoc(),
                               constantI32(rewriter, op.getLoc(), -1));
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void tile::populateTensorMapPatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns,
                                     const Chip &chip,
                                     const RoleContext &roles) {
  patterns
      .add<BulkCopyPattern, BulkPrefetchPattern, BulkOutPattern<BulkStoreOp>,
           BulkOutPattern<BulkReduceOp>, BulkWaitPattern>(
          converter, patterns.getContext(), chip, roles);
}
