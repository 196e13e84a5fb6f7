//===- TensorMapPatterns.cpp - TMA copies, stores and reductions ----------===//

#include "../Access/BufferParts.h"
#include "../Access/PageTable.h"
#include "../Access/VectorAccess.h"
#include "../Lowering.h"
#include "../Roles.h"
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

/// Returns true if the map has an offset in place of the dimensions along which
/// the tile does not extend (kOffsetUnit).
static bool hasOffset(BulkOpInterface op) {
  return op.getStart() &&
         (op.getTable() ||
          op.getArgument().getType().getRank() > kMostRaggedRank);
}

/// Returns the dimensions of the argument in the order of the tensor map,
/// innermost first: columns and rows of the tile, then the others.
static SmallVector<int64_t> mapOrder(BulkOpInterface op) {
  SmallVector<int64_t> order(llvm::reverse(op.getDims()));
  if (hasOffset(op))
    return order;
  for (int64_t dim = op.getArgument().getType().getRank(); dim-- > 0;)
    if (!llvm::is_contained(op.getDims(), dim))
      order.push_back(dim);
  return order;
}

/// Returns the boxes of the tile, or of the part of one warp or one page.
static TensorMapBoxes boxesOf(BulkOpInterface op) {
  BufferType tile = op.getTileType();
  TensorMapBoxes boxes =
      *matchTensorMap(tile.getCanonicalLayout(), tile.getElementBits() / 8);
  SmallVector<int64_t, 2> parts = op.getPartCounts();
  boxes.rows /= parts[0];
  boxes.count /= parts[1];
  if (op.getTable())
    boxes.rows =
        getPageRows(op.getArgument().getType().getShape()[op.getDims().front()],
                    boxes.rows);
  return boxes;
}

SmallVector<Attribute> tile::collectTensorMaps(KernelOp kernel,
                                               unsigned firstArgument,
                                               RoleContext &context) {
  Builder builder(kernel.getContext());
  SmallVector<Attribute> maps;
  kernel.walk([&](BulkOpInterface op) {
    TensorMapBoxes boxes = boxesOf(op);
    SmallVector<int64_t> order = mapOrder(op), box(order.size(), 1);
    box[0] = boxes.columns;
    if (op.getDims().size() > 1)
      box[1] = boxes.rows;
    int64_t argument = cast<BlockArgument>(op.getArgument()).getArgNumber();
    SmallVector<NamedAttribute> fields{
        builder.getNamedAttr("kind", builder.getStringAttr("tensor_map")),
        builder.getNamedAttr("argument", builder.getI64IntegerAttr(argument)),
        builder.getNamedAttr("dims", builder.getI64ArrayAttr(order)),
        builder.getNamedAttr("box", builder.getI64ArrayAttr(box)),
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

/// Returns the function argument that is the tensor map of `op`.
static Value mapOf(BulkOpInterface op, const RoleContext &roles) {
  return op->getParentOfType<mlir::gpu::GPUFuncOp>().getArgument(
      roles.tensorMaps.lookup(op));
}

/// The rows that bound a box of a ragged tensor map, in i32: the first one in
/// the argument and their number.
struct RowRange {
  Value start, length;
};

/// Emits the coordinates of a box for the tensor map: `indices` in the order of
/// the map. A ragged map has a range of rows, to which the index of the rows is
/// relative.
static SmallVector<Value> mapCoordinates(Emitter &b, BulkOpInterface op,
                                         const BufferParts &argument,
                                         ArrayRef<Value> indices,
                                         std::optional<RowRange> range) {
  SmallVector<Value> coordinates;
  for (int64_t dim : mapOrder(op))
    coordinates.push_back(b.toSignedI32(indices[dim]));
  if (hasOffset(op)) {
    Value offset;
    for (auto [dim, index] : llvm::enumerate(indices))
      if (!llvm::is_contained(op.getDims(), dim))
        offset = b.sum(offset, argument.scale(b, index, dim));
    int64_t unit = kOffsetUnit * 8 / argument.type.getElementBits();
    offset = b.combine<arith::DivUIOp>(offset ? offset : b.index(0), unit, 1);
    coordinates.push_back(b.toI32(offset));
  }
  if (!range)
    return coordinates;
  // The coordinates of ragged tensor maps are described at kRaggedRows.
  Value all = b.i32(kRaggedRows);
  Value first = arith::SubIOp::create(b, all, range->length);
  coordinates[1] = b.add(first, coordinates[1]);
  coordinates.push_back(b.add(range->start, range->length));
  coordinates.push_back(all);
  return coordinates;
}

/// Emits the range of rows `start` and `length`, each an index or nothing.
static std::optional<RowRange> emitRange(Emitter &b, ValueRange start,
                                         ValueRange length) {
  if (start.empty())
    return std::nullopt;
  return RowRange{b.toSignedI32(start.front()), b.toSignedI32(length.front())};
}

/// Calls `emit` for each box of the tile at `place`, with the offset of its
/// first element from `place`.
static void forEachBox(
    Emitter &b, const TensorMapBoxes &boxes, int64_t distance,
    ArrayRef<Value> place,
    llvm::function_ref<void(ValueRange coordinates, int64_t first)> emit) {
  Value column = place.front();
  SmallVector<Value> coordinates(place);
  for (int64_t i = 0; i < boxes.count; ++i) {
    coordinates[0] = b.add(column, i * boxes.columns);
    emit(coordinates, i * distance);
  }
}

/// Emits the number of this thread's warp. The number of the thread is read
/// again here, because the value that roles use would occupy a register until
/// here.
static Value emitWarp(Lowering &b) {
  return b.groupOf(tile::gpu::ThreadOp::create(b, b.getI32Type()),
                   b.chip.warpSize, b.chip.warpSize);
}

/// Returns the number of boxes of the tile along its rows: one, or one for each
/// page.
static int64_t countRowBoxes(BulkOpInterface op) {
  BufferType tile = op.getTileType();
  return matchTensorMap(tile.getCanonicalLayout(), tile.getElementBits() / 8)
             ->rows /
         boxesOf(op).rows;
}

bool tile::copiesByLanes(BulkCopyOp op) {
  return op.getTable() && countRowBoxes(op) > 1;
}

/// Emits the copies of a tile in pages. If it has several, each lane of the
/// warp copies one. `emitBoxes` emits the copies of the boxes at `place`, whose
/// first row is row `row` of the tile.
static void emitPagedCopy(
    BulkCopyOp op, Parts<BulkCopyOp> operands, Lowering &b,
    llvm::function_ref<void(ArrayRef<Value> place, Value row)> emitBoxes) {
  BufferParts source(op.getSource().getType(), operands.getSource());
  BufferParts table(op.getTable().getType(), operands.getTable());
  PageParts pages{source.extent(b, *op.getPageDim()), table.memory,
                  table.offset, table.scale(b, b.index(1), 0),
                  /*stride=*/Value()};
  SmallVector<Value> indices = single(operands.getIndices());
  RowRange range = *emitRange(b, operands.getStart(), operands.getLength());
  int64_t rowDim = op.getDims().front();
  int64_t pageRows = op.getSource().getType().getShape()[rowDim];
  int64_t boxRows = boxesOf(op).rows, count = countRowBoxes(op);
  Value first = b.add(range.start, b.toSignedI32(indices[rowDim]));
  Value end = b.add(range.start, range.length);
  Value room = b.toSignedI32(b.mul(table.extent(b, 0), pageRows));
  end = arith::MinSIOp::create(b, end, room);
  Value lane = b.i32(0);
  if (count > 1)
    lane =
        arith::AndIOp::create(b, b.threadNumber(), b.i32(b.chip.warpSize - 1));
  for (int64_t box = 0; box < count; box += b.chip.warpSize) {
    OpBuilder::InsertionGuard guard(b);
    Value number = b.add(lane, box);
    Value row = b.mul(number, boxRows), here = b.add(first, row);
    // By all lanes, so that tile-load-before-waits may move the load.
    PagedRow place = findPagedRows(b, pages, here, end, pageRows).front();
    if (count > 1 && count - box < b.chip.warpSize)
      b.enterIf(arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number,
                                      b.i32(count)));
    // A box without rows reads nothing.
    Value length = arith::SubIOp::create(b, end, here);
    length = arith::MinSIOp::create(b, length, b.i32(boxRows));
    length = b.select(place.exists, length, b.i32(0));
    indices[*op.getPageDim()] = b.toIndex(place.page);
    indices[rowDim] = b.index(0);
    emitBoxes(mapCoordinates(b, op, source, indices,
                             RowRange{place.rowInPage, length}),
              row);
  }
}

static LogicalResult convertBulkCopy(BulkCopyOp op, Parts<BulkCopyOp> operands,
                                     Lowering &b) {
  BufferParts barriers(op.getBarriers().getType(), operands.getBarriers());
  BufferParts dest(op.getDest().getType(), operands.getDest());
  Value barrier = b.add(barriers.offset, operands.getIndex().front());
  TensorMapBoxes boxes = boxesOf(op),
                 tileBoxes = *matchTensorMap(dest.type.getCanonicalLayout(),
                                             dest.type.getElementBits() / 8);
  int64_t bytes = dest.type.getElementBits() / 8;
  Value mbarrier = b.sharedPointer(barriers.memory, barrier);
  {
    OpBuilder::InsertionGuard guard(b);
    if (copiesByLanes(op))
      b.enterIf(b.elect());
    NVVM::MBarrierArriveExpectTxOp::create(
        b, TypeRange(), mbarrier,
        b.i32(tileBoxes.count * tileBoxes.distance() * bytes),
        NVVM::MemScopeKind::CTA,
        /*relaxed=*/false, /*predicate=*/Value());
  }
  Value policy = emitPolicy(b, op.getCache());
  auto emitBoxes = [&](ArrayRef<Value> place, Value offset) {
    // The boxes of one page have the same distances as those of the whole tile.
    forEachBox(b, boxes, tileBoxes.distance(), place,
               [&](ValueRange coordinates, int64_t first) {
                 Value to =
                     b.sharedPointer(dest.memory, b.add(offset, first),
                                     NVVM::NVVMMemorySpace::SharedCluster);
                 NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
                     b, to, mapOf(op, b.roles), coordinates, mbarrier,
                     /*im2colOffsets=*/ValueRange(), /*multicastMask=*/Value(),
                     policy, NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
                     NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
               });
  };
  if (op.getTable()) {
    emitPagedCopy(op, operands, b, [&](ArrayRef<Value> place, Value row) {
      emitBoxes(place,
                b.sum(dest.offset, b.toIndex(b.mul(row, boxes.columns))));
    });
    return b.erase(op);
  }
  BufferParts source(op.getSource().getType(), operands.getSource());
  emitBoxes(
      mapCoordinates(b, op, source, single(operands.getIndices()),
                     emitRange(b, operands.getStart(), operands.getLength())),
      dest.offset);
  return b.erase(op);
}

static LogicalResult convertBulkPrefetch(BulkPrefetchOp op,
                                         Parts<BulkPrefetchOp> operands,
                                         Lowering &b) {
  TensorMapBoxes boxes = boxesOf(op);
  BufferParts source(op.getSource().getType(), operands.getSource());
  forEachBox(b, boxes, boxes.distance(),
             mapCoordinates(b, op, source, single(operands.getIndices()),
                            /*range=*/std::nullopt),
             [&](ValueRange coordinates, int64_t) {
               NVVM::CpAsyncBulkTensorPrefetchOp::create(
                   b, mapOf(op, b.roles), coordinates,
                   /*im2colOffsets=*/ValueRange(), NVVM::TMALoadMode::TILE,
                   /*l2CacheHint=*/Value());
             });
  return b.erase(op);
}

/// Starts a TMA store or a reduction of one box from `index` of `memory`, with
/// the tensor map `map`. If `active` is null, all threads that are here start
/// it.
static void emitBulkOut(Emitter &b, BulkOpInterface op, Value map, Value memory,
                        Value index, ValueRange coordinates, Value active,
                        Value policy) {
  bool adds = isa<BulkReduceOp>(op);
  if (!adds && !(active && policy)) {
    NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
        b, map, b.sharedPointer(memory, index), coordinates, policy,
        NVVM::TMAStoreMode::TILE, active);
    return;
  }
  if (!active) {
    NVVM::CpAsyncBulkTensorReduceOp::create(
        b, map, b.sharedPointer(memory, index), NVVM::TMAReduxKind::ADD,
        NVVM::TMAStoreMode::TILE, coordinates, policy);
    return;
  }
  // One predicated instruction, because a branch would be control flow between
  // MMAs in flight. nvvm has no predicated reduction, and no predicated store
  // with a cache policy.
  size_t rank = coordinates.size();
  SmallVector<Value> operands{b.sharedAddress(memory, index), map};
  llvm::append_range(operands, coordinates);
  operands.push_back(active);
  std::string text = llvm::formatv(
      "@${0} cp.{1}async.bulk.tensor.{2}d.global.shared::cta{3}.bulk_group",
      2 + rank, adds ? "reduce." : "", rank, adds ? ".add" : "");
  std::string where =
      llvm::formatv(" [$1, {0}], [$0]", assemblyCoordinates(2, rank));
  emitCached(b, text, where, "r,l" + repeatConstraint("r", rank) + ",b",
             operands, policy);
}

/// Converts tile.bulk_store and tile.bulk_reduce.
template <typename OpT>
static LogicalResult convertBulkOut(OpT op, Parts<OpT> operands, Lowering &b) {
  BufferParts source(op.getSource().getType(), operands.getSource());
  BufferParts dest(op.getDest().getType(), operands.getDest());
  SmallVector<Value> coordinates =
      mapCoordinates(b, op, dest, single(operands.getIndices()),
                     emitRange(b, operands.getStart(), operands.getLength()));
  // The boxes of a part have the same distances as those of the whole tile.
  TensorMapBoxes boxes = boxesOf(op);
  SmallVector<int64_t, 2> parts = op.getPartCounts();
  int64_t distance = boxes.distance() * parts[0];
  Value place = source.offset, active;
  if (b.roles.oneThread.contains(op)) {
    // All threads that are here, one, start the stores.
  } else if (!op.getParts()) {
    active = b.elect();
    active = b.both(active, b.equal(emitWarp(b), b.i32(0)));
  } else {
    // All lanes of the warp must have written before one of them stores.
    NVVM::SyncWarpOp::create(b, b.i32(-1));
    active = b.elect();
    Value warp = emitWarp(b);
    Value count = b.i32(parts[0]);
    Value part[2] = {warp, b.i32(0)};
    if (parts[1] > 1) {
      part[0] = arith::RemUIOp::create(b, warp, count);
      part[1] = arith::DivUIOp::create(b, warp, count);
    }
    auto move = [&](Value part, size_t coordinate, int64_t by,
                    int64_t elements) {
      coordinates[coordinate] = b.add(coordinates[coordinate], b.mul(part, by));
      place = b.add(place, b.toIndex(b.mul(part, elements)));
    };
    move(part[0], 1, boxes.rows, boxes.distance());
    if (parts[1] > 1)
      move(part[1], 0, boxes.count * boxes.columns, boxes.count * distance);
  }
  Value policy = emitPolicy(b, op.getCache());
  forEachBox(b, boxes, distance, coordinates,
             [&](ValueRange coordinates, int64_t first) {
               emitBulkOut(b, op, mapOf(op, b.roles), source.memory,
                           b.add(place, first), coordinates, active, policy);
             });
  NVVM::CpAsyncBulkCommitGroupOp::create(b);
  return b.erase(op);
}

static LogicalResult convertBulkWait(BulkWaitOp op, Parts<BulkWaitOp>,
                                     Lowering &b) {
  NVVM::CpAsyncBulkWaitGroupOp::create(b, op.getPendingAttr(),
                                       op.getReadAttr());
  // One lane has issued the operations, so the other lanes wait for it here.
  if (!b.roles.oneThread.contains(op))
    NVVM::SyncWarpOp::create(b, b.i32(-1));
  return b.erase(op);
}

void tile::addTensorMapConversions(ConversionAdder &conversions) {
  conversions.addAll(convertBulkCopy, convertBulkOut<BulkStoreOp>,
                     convertBulkOut<BulkReduceOp>, convertBulkPrefetch,
                     convertBulkWait);
}
