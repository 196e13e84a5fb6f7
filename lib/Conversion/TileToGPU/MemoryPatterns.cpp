//===- MemoryPatterns.cpp - Buffers to memrefs, accesses to vectors -------===//

#include "Kernel.h"
#include "LoadMatrix.h"
#include "Patterns.h"
#include "ThreadAddress.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/AccessWidth.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include <numeric>

using namespace mlir;
using namespace tile;

namespace {

/// The parts of a buffer (see flattenBuffer), by name.
struct BufferParts {
  BufferParts(BufferType type, ValueRange parts)
      : type(type), memory(parts[0]), offset(parts[1]) {
    parts = parts.drop_front(2);
    auto take = [&](ArrayRef<int64_t> numbers, SmallVectorImpl<Value> &values) {
      for (int64_t number : numbers) {
        bool dynamic = number == kDynamic;
        values.push_back(dynamic ? parts.front() : Value());
        if (dynamic)
          parts = parts.drop_front();
      }
    };
    take(type.getShape(), extents);
    if (auto strided = dyn_cast<StridedAttr>(type.getLayout()))
      take(strided.getStrides(), strides);
  }

  /// The parts again, with another offset, keeping the dimensions in `kept`.
  SmallVector<Value> slice(Value newOffset, ArrayRef<bool> kept) const {
    SmallVector<Value> parts{memory, newOffset};
    for (const SmallVector<Value> *values : {&extents, &strides})
      for (auto [dim, value] : llvm::enumerate(*values))
        if (kept[dim] && value)
          parts.push_back(value);
    return parts;
  }

  Value extent(OpBuilder &builder, Location loc, unsigned dim) const {
    return extents[dim] ? extents[dim]
                        : arith::ConstantIndexOp::create(builder, loc,
                                                         type.getShape()[dim]);
  }
  /// index * stride of dimension `dim`.
  Value scale(OpBuilder &builder, Location loc, Value index,
              unsigned dim) const {
    Value stride = strides.empty() ? Value() : strides[dim];
    if (!stride) {
      int64_t number = type.getCanonicalLayout().axis(dim)[0].stride;
      if (number == 1)
        return index;
      stride = arith::ConstantIndexOp::create(builder, loc, number);
    }
    return arith::MulIOp::create(builder, loc, index, stride);
  }

  BufferType type;
  Value memory, offset;
  SmallVector<Value> extents, strides;
};

/// Offsets into, and bounds of, a global buffer for each register of a tile.
class GlobalAccess {
public:
  GlobalAccess(OpBuilder &builder, Location loc, const Layout &dist,
               const BufferParts &buffer, ValueRange indices)
      : builder(builder), loc(loc), dist(dist), buffer(buffer),
        lastOffset(buffer.offset) {
    SmallVector<Value> thread = emitThreadCoordinates(builder, loc, dist);
    for (auto [dim, index] : llvm::enumerate(indices)) {
      Value position = arith::AddIOp::create(
          builder, loc, index,
          arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                       thread[dim]));
      lastOffset = arith::AddIOp::create(
          builder, loc, lastOffset, buffer.scale(builder, loc, position, dim));
      bounds.push_back(
          isInBounds(buffer.type, index, dim, dist.shape()[dim])
              ? Bounds()
              : emitBounds(position, dim, isKnownNonNegative(index)));
    }
    last = dist.element(0, 0, 0);
  }

  /// The offset of register r. Each is reached from the one before, so that
  /// one distance, not one per register, stays alive in a loop.
  Value offset(int64_t r) {
    SmallVector<int64_t, 4> next = dist.element(r, 0, 0);
    for (auto [dim, from, to] : llvm::enumerate(last, next))
      if (from != to)
        lastOffset = arith::AddIOp::create(
            builder, loc, lastOffset,
            buffer.scale(
                builder, loc,
                arith::ConstantIndexOp::create(builder, loc, to - from), dim));
    last = next;
    return lastOffset;
  }

  /// The distances that decide whether register r is in bounds.
  SmallVector<int64_t> boundsKey(int64_t r) {
    SmallVector<int64_t> key;
    for (auto [dim, distance] : llvm::enumerate(dist.element(r, 0, 0)))
      if (bounds[dim].count)
        key.push_back(distance);
    return key;
  }

  /// Whether register r is in bounds; null if it always is. In 32 bits: the
  /// manifest bounds extents by 2^31.
  Value inBounds(int64_t r) {
    Value result;
    for (auto [dim, distance] : llvm::enumerate(dist.element(r, 0, 0))) {
      auto [position, count] = bounds[dim];
      if (!count)
        continue;
      Value place = arith::ConstantIntOp::create(builder, loc, distance, 32);
      // Unsigned, so that what lies before the buffer is out of bounds too.
      if (position)
        place = arith::AddIOp::create(builder, loc, position, place);
      Value inside = arith::CmpIOp::create(builder, loc,
                                           position ? arith::CmpIPredicate::ult
                                                    : arith::CmpIPredicate::slt,
                                           place, count);
      result =
          result ? arith::AndIOp::create(builder, loc, result, inside) : inside;
    }
    return result;
  }

private:
  /// In bounds is (i32) position + distance < count, unsigned; or, with no
  /// position, distance < count, signed. No count: always in bounds.
  struct Bounds {
    Value position, count;
  };

  Bounds emitBounds(Value position, unsigned dim, bool nonNegative) {
    auto narrow = [&](Value value) -> Value {
      return arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                        value);
    };
    position = narrow(position);
    Value extent = narrow(buffer.extent(builder, loc, dim));
    if (!nonNegative)
      return {position, extent};
    return {Value(), arith::SubIOp::create(builder, loc, extent, position)};
  }

  OpBuilder &builder;
  Location loc;
  const Layout &dist;
  const BufferParts &buffer;
  SmallVector<Bounds> bounds;
  Value lastOffset;
  SmallVector<int64_t, 4> last;
};

/// Accesses to the same side of the bounds, in order.
struct Run {
  int64_t begin, end; // of AccessGroups, in accesses
};

SmallVector<Run> runsOfEqualBounds(GlobalAccess &access,
                                   const AccessGroups &groups) {
  SmallVector<Run> runs;
  int64_t count = groups.order.size() / groups.width;
  for (int64_t i = 0; i < count; ++i) {
    auto key = [&](int64_t j) {
      return access.boundsKey(groups.order[j * groups.width]);
    };
    if (runs.empty() || key(runs.back().begin) != key(i))
      runs.push_back({i, i});
    runs.back().end = i + 1;
  }
  return runs;
}

Value loadVector(OpBuilder &builder, Location loc, Value memory, Value offset,
                 VectorType type) {
  return vector::LoadOp::create(
      builder, loc, type, memory, ValueRange{offset}, /*nontemporal=*/false,
      llvm::MaybeAlign(type.getNumElements() * type.getElementTypeBitWidth() /
                       8));
}

void storeVector(OpBuilder &builder, Location loc, Value value, Value memory,
                 Value offset) {
  auto type = cast<VectorType>(value.getType());
  vector::StoreOp::create(builder, loc, value, memory, ValueRange{offset},
                          /*nontemporal=*/false,
                          llvm::MaybeAlign(type.getNumElements() *
                                           type.getElementTypeBitWidth() / 8));
}

/// The vector of a tile from its accesses, and back.
Value fromAccesses(OpBuilder &builder, Location loc, VectorType type,
                   const Layout &dist, const AccessGroups &groups,
                   ArrayRef<Value> parts) {
  auto ordered =
      VectorType::get({int64_t(groups.order.size())}, type.getElementType());
  Value result =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(ordered));
  for (auto [i, part] : llvm::enumerate(parts))
    result = vector::InsertStridedSliceOp::create(
        builder, loc, part, result,
        ArrayRef<int64_t>{int64_t(i) * groups.width}, ArrayRef<int64_t>{1});
  // Access order to register order; copies share their element's place.
  std::map<SmallVector<int64_t, 4>, int64_t> places;
  for (auto [place, r] : llvm::enumerate(groups.order))
    places[dist.element(r, 0, 0)] = place;
  SmallVector<int64_t> indices;
  bool identity = type == ordered;
  for (int64_t r = 0; r < type.getNumElements(); ++r) {
    indices.push_back(places.at(dist.element(r, 0, 0)));
    identity &= indices.back() == r;
  }
  return identity ? result
                  : Value(vector::ShuffleOp::create(builder, loc, result,
                                                    result, indices));
}

SmallVector<Value> toAccesses(OpBuilder &builder, Location loc, Value vector,
                              const AccessGroups &groups) {
  SmallVector<Value> parts;
  for (size_t i = 0; i < groups.order.size(); i += groups.width)
    parts.push_back(vector::ShuffleOp::create(
        builder, loc, vector, vector,
        ArrayRef(groups.order).slice(i, groups.width)));
  return parts;
}

void remarkWidth(Operation *op, const AccessWidth &width, BufferType buffer,
                 int64_t maxBytes) {
  int64_t bytes = width.groups.width * buffer.getElementBits() / 8;
  if (bytes < maxBytes && bytes < 4)
    remark::missed(
        op->getLoc(),
        remark::RemarkOpts::name("narrow-access").category("tile-vectorize"))
        << remark::reason("accesses of {0} bytes: {1}", bytes, width.limit);
}

/// Reads a tile from global memory; zero out of bounds.
Value loadGlobal(OpBuilder &builder, Operation *op, VectorType type,
                 const Layout &dist, const BufferParts &buffer,
                 ValueRange indices, const Chip &chip) {
  Location loc = op->getLoc();
  AccessWidth width =
      accessWidth(dist, buffer.type, indices, chip.maxGlobalAccess);
  remarkWidth(op, width, buffer.type, chip.maxGlobalAccess);
  const AccessGroups &groups = width.groups;
  auto part = VectorType::get({groups.width}, type.getElementType());
  GlobalAccess access(builder, loc, dist, buffer, indices);
  SmallVector<Value> parts;
  for (Run run : runsOfEqualBounds(access, groups)) {
    SmallVector<Value> offsets;
    for (int64_t i = run.begin; i < run.end; ++i)
      offsets.push_back(access.offset(groups.order[i * groups.width]));
    auto loads = [&] {
      return llvm::map_to_vector(offsets, [&](Value offset) {
        return loadVector(builder, loc, buffer.memory, offset, part);
      });
    };
    Value inside = access.inBounds(groups.order[run.begin * groups.width]);
    if (!inside) {
      llvm::append_range(parts, loads());
      continue;
    }
    auto branch = scf::IfOp::create(
        builder, loc, SmallVector<Type>(run.end - run.begin, part), inside,
        /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, loc, loads());
    builder.setInsertionPointToStart(branch.elseBlock());
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(part));
    scf::YieldOp::create(builder, loc,
                         SmallVector<Value>(run.end - run.begin, zero));
    llvm::append_range(parts, branch.getResults());
  }
  return fromAccesses(builder, loc, type, dist, groups, parts);
}

/// Constant indices of a shared buffer; failure if one is not.
FailureOr<SmallVector<int64_t>> constantIndices(ValueRange indices) {
  SmallVector<int64_t> result;
  for (Value index : indices) {
    APInt value;
    if (!matchPattern(index, m_ConstantInt(&value)))
      return failure();
    result.push_back(value.getSExtValue());
  }
  return result;
}

/// Shared accesses: offset of each, behind the buffer's own offset.
SmallVector<Value> sharedOffsets(OpBuilder &builder, Location loc,
                                 const Layout &dist, const BufferParts &buffer,
                                 ArrayRef<int64_t> start,
                                 const AccessGroups &groups) {
  SharedOffsets offsets(builder, loc, dist, buffer.type.getCanonicalLayout(),
                        start, buffer.offset);
  SmallVector<Value> result;
  for (size_t i = 0; i < groups.order.size(); i += groups.width)
    result.push_back(offsets.at(groups.order[i]));
  return result;
}

/// The width of accesses to a shared buffer at constant indices.
AccessGroups sharedGroups(const Layout &dist, BufferType buffer,
                          ArrayRef<int64_t> start, const Chip &chip) {
  int64_t width = chip.maxSharedAccess * 8 / buffer.getElementBits();
  for (int64_t index : start)
    width = std::gcd(width, index);
  return widestAccess(dist, buffer.getCanonicalLayout(), width);
}

void storeShared(OpBuilder &builder, Location loc, Value vector,
                 const Layout &dist, const BufferParts &buffer,
                 ArrayRef<int64_t> start, const Chip &chip) {
  AccessGroups groups = sharedGroups(dist, buffer.type, start, chip);
  for (auto [part, offset] : llvm::zip_equal(
           toAccesses(builder, loc, vector, groups),
           sharedOffsets(builder, loc, dist, buffer, start, groups)))
    storeVector(builder, loc, part, buffer.memory, offset);
}

template <typename OpT> struct MemoryPattern : OpConversionPattern<OpT> {
  MemoryPattern(const TypeConverter &converter, MLIRContext *context,
                const Chip &chip)
      : OpConversionPattern<OpT>(converter, context), chip(chip) {}

  static SmallVector<Value> single(ArrayRef<ValueRange> values) {
    return llvm::map_to_vector(values,
                               [](ValueRange range) { return range.front(); });
  }
  static LogicalResult rejectDynamicStart(Operation *op) {
    return op->emitOpError("accesses a shared buffer at indices that are not "
                           "constant; slice the buffer instead");
  }

  const Chip &chip;
};

struct LoadPattern : MemoryPattern<LoadOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto tile = cast<RankedTensorType>(op.getType());
    if (isSharedTile(tile))
      return op.emitOpError("loads into shared memory; run tile-bufferize "
                            "first");
    Location loc = op.getLoc();
    auto type = getTypeConverter()->convertType<VectorType>(tile);
    Layout dist = getCanonicalLayout(tile);
    BufferParts buffer(op.getBuffer().getType(), adaptor.getBuffer());
    if (!buffer.type.isShared()) {
      rewriter.replaceOp(op, loadGlobal(rewriter, op, type, dist, buffer,
                                        single(adaptor.getIndices()), chip));
      return success();
    }
    auto start = constantIndices(single(adaptor.getIndices()));
    if (failed(start))
      return rejectDynamicStart(op);
    if (chip.ldmatrix)
      if (std::optional<MatrixAccess> matrices =
              matchLoadMatrix(dist, buffer.type.getCanonicalLayout(), *start,
                              buffer.type.getElementBits())) {
        rewriter.replaceOp(op, emitLoadMatrix(rewriter, loc, *matrices, type,
                                              buffer.type, *start,
                                              buffer.memory, buffer.offset));
        return success();
      }
    AccessGroups groups = sharedGroups(dist, buffer.type, *start, chip);
    auto part = VectorType::get({groups.width}, type.getElementType());
    SmallVector<Value> parts;
    for (Value offset :
         sharedOffsets(rewriter, loc, dist, buffer, *start, groups))
      parts.push_back(loadVector(rewriter, loc, buffer.memory, offset, part));
    rewriter.replaceOp(op,
                       fromAccesses(rewriter, loc, type, dist, groups, parts));
    return success();
  }
};

struct StorePattern : MemoryPattern<StoreOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Layout dist =
        getCanonicalLayout(cast<RankedTensorType>(op.getValue().getType()));
    BufferParts buffer(op.getBuffer().getType(), adaptor.getBuffer());
    SmallVector<Value> indices = single(adaptor.getIndices());
    Value value = adaptor.getValue().front();
    if (buffer.type.isShared()) {
      auto start = constantIndices(indices);
      if (failed(start))
        return rejectDynamicStart(op);
      storeShared(rewriter, loc, value, dist, buffer, *start, chip);
      rewriter.eraseOp(op);
      return success();
    }
    AccessWidth width =
        accessWidth(dist, buffer.type, indices, chip.maxGlobalAccess);
    remarkWidth(op, width, buffer.type, chip.maxGlobalAccess);
    SmallVector<Value> parts = toAccesses(rewriter, loc, value, width.groups);
    GlobalAccess access(rewriter, loc, dist, buffer, indices);
    for (Run run : runsOfEqualBounds(access, width.groups)) {
      OpBuilder::InsertionGuard guard(rewriter);
      auto at = [&](int64_t i) {
        return width.groups.order[i * width.groups.width];
      };
      SmallVector<Value> offsets;
      for (int64_t i = run.begin; i < run.end; ++i)
        offsets.push_back(access.offset(at(i)));
      if (Value inside = access.inBounds(at(run.begin)))
        rewriter.setInsertionPointToStart(
            scf::IfOp::create(rewriter, loc, inside, /*withElse=*/false)
                .thenBlock());
      for (int64_t i = run.begin; i < run.end; ++i)
        storeVector(rewriter, loc, parts[i], buffer.memory,
                    offsets[i - run.begin]);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct AtomicRMWPattern : MemoryPattern<AtomicRMWOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(AtomicRMWOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Layout dist =
        getCanonicalLayout(cast<RankedTensorType>(op.getValue().getType()));
    BufferParts buffer(op.getBuffer().getType(), adaptor.getBuffer());
    GlobalAccess access(rewriter, loc, dist, buffer,
                        single(adaptor.getIndices()));
    // Every element once: neither copies in registers nor in other threads.
    AccessGroups groups =
        accessWidth(dist, buffer.type, single(adaptor.getIndices()),
                    buffer.type.getElementBits() / 8)
            .groups;
    Value owner = emitIsOwner(rewriter, loc, dist);
    if (groups.order.size() > 1)
      remark::missed(
          loc,
          remark::RemarkOpts::name("scalar-atomic").category("tile-vectorize"))
          << remark::reason("{0} atomics of one element each",
                            groups.order.size());
    for (int64_t r : groups.order) {
      OpBuilder::InsertionGuard guard(rewriter);
      Value offset = access.offset(r);
      Value condition = access.inBounds(r);
      if (owner)
        condition = condition
                        ? arith::AndIOp::create(rewriter, loc, owner, condition)
                        : owner;
      if (condition)
        rewriter.setInsertionPointToStart(
            scf::IfOp::create(rewriter, loc, condition, /*withElse=*/false)
                .thenBlock());
      Value element = vector::ExtractOp::create(rewriter, loc,
                                                adaptor.getValue().front(), r);
      memref::AtomicRMWOp::create(rewriter, loc, op.getKind(), element,
                                  buffer.memory, offset);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// True in the one thread of those that hold copies of an element that acts;
  /// null if there are no copies.
  static Value emitIsOwner(OpBuilder &builder, Location loc,
                           const Layout &dist) {
    // Copies are distinguished by the replicating digits: keep only those, as
    // digits of coordinate 0 that must all be 0.
    auto replicas = [](ArrayRef<Digit> digits) {
      Digits result;
      for (const Digit &digit : digits)
        result.push_back({digit.extent, 0, digit.stride == 0 ? 1 : 0});
      return result;
    };
    if (dist.replication(kLane) == 1 && dist.replication(kWarp) == 1)
      return {};
    int64_t shape[] = {dist.axisSize(kLane) + dist.axisSize(kWarp)};
    Layout copies = Layout::distributed({}, replicas(dist.axis(kLane)),
                                        replicas(dist.axis(kWarp)), shape);
    Value index = emitThreadCoordinates(builder, loc, copies)[0];
    return arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, index,
        arith::ConstantIntOp::create(builder, loc, 0, 32));
  }
};

struct CopyPattern : MemoryPattern<CopyOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(CopyOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    BufferParts source(op.getSource().getType(), adaptor.getSource());
    BufferParts dest(op.getDest().getType(), adaptor.getDest());
    SmallVector<Value> indices = single(adaptor.getIndices());
    SmallVector<int64_t> start(indices.size(), 0);
    auto func = op->getParentOfType<mlir::gpu::GPUFuncOp>();
    int64_t warps = func.getKnownBlockSizeAttr()[0] / chip.warpSize;
    LayoutAttrInterface attr = copyLayout(source.type, dest.type, warps);
    Layout dist = *attr.getLayout(dest.type.getShape(),
                                  dest.type.getElementBits(), nullptr);

    if (op.getAsync() && chip.asyncCopy) {
      AccessWidth width =
          accessWidth(dist, source.type, indices, chip.maxGlobalAccess);
      int64_t bytes = dest.type.getElementBits() / 8;
      AccessGroups groups = sharedGroups(dist, dest.type, start, chip);
      if (groups.width > width.groups.width)
        groups = width.groups;
      // Narrower on one side: regroup, so that both sides allow it.
      groups = widestAccess(dist, dest.type.getCanonicalLayout(),
                            std::min(groups.width, width.groups.width));
      if (groups.width * bytes >= 4) {
        GlobalAccess access(rewriter, loc, dist, source, indices);
        SmallVector<Value> offsets =
            sharedOffsets(rewriter, loc, dist, dest, start, groups);
        Value all = arith::ConstantIndexOp::create(rewriter, loc, groups.width);
        Value none = arith::ConstantIndexOp::create(rewriter, loc, 0);
        for (auto [i, offset] : llvm::enumerate(offsets)) {
          int64_t r = groups.order[i * groups.width];
          Value inside = access.inBounds(r);
          Value valid = inside ? Value(arith::SelectOp::create(
                                     rewriter, loc, inside, all, none))
                               : all;
          tile::gpu::AsyncCopyOp::create(
              rewriter, loc, source.memory, access.offset(r), dest.memory,
              offset, valid, rewriter.getI64IntegerAttr(groups.width));
        }
        rewriter.eraseOp(op);
        return success();
      }
      remark::missed(loc, remark::RemarkOpts::name("synchronous-copy")
                              .category("tile-vectorize"))
          << remark::reason("asynchronous copies need at least 4 bytes: {0}",
                            width.limit);
    }

    auto type =
        VectorType::get({dist.axisSize(kRegister)}, dest.type.getElementType());
    Value tile = loadGlobal(rewriter, op, type, dist, source, indices, chip);
    storeShared(rewriter, loc, tile, dist, dest, start, chip);
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// How threads share a copy: 16 bytes each along the dimension that is fast
  /// in global memory; where another one is fast in shared memory, 8 bytes
  /// along that as well, so that both sides are wide.
  LayoutAttrInterface copyLayout(BufferType source, BufferType dest,
                                 int64_t warps) const {
    ArrayRef<int64_t> shape = dest.getShape();
    int64_t rank = shape.size(), bytes = dest.getElementBits() / 8;
    int64_t fast = rank - 1, fastShared = rank - 1;
    auto strided = cast<StridedAttr>(source.getLayout());
    Layout memory = dest.getCanonicalLayout();
    for (int64_t dim = 0; dim < rank; ++dim) {
      if (strided.getStrides()[dim] == 1)
        fast = dim;
      if (!memory.axis(dim).empty() && memory.axis(dim)[0].stride == 1)
        fastShared = dim;
    }
    SmallVector<int64_t> thread(rank, 1), order{fast};
    thread[fast] = std::gcd(chip.maxGlobalAccess / bytes, shape[fast]);
    if (fastShared != fast)
      thread[fastShared] = std::gcd(8 / bytes, shape[fastShared]);
    for (int64_t dim = rank; dim-- > 0;)
      if (dim != fast)
        order.push_back(dim);
    return BlockedAttr::getCoalesced(source.getContext(), shape, thread, order,
                                     chip.warpSize, warps);
  }
};

struct AllocPattern : MemoryPattern<AllocOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(AllocOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    if (!op.getOffset())
      return op.emitOpError("has no offset; run tile-plan-shared-memory first");
    auto func = op->getParentOfType<mlir::gpu::GPUFuncOp>();
    Value bytes;
    if (chip.vendor == Vendor::AMD) {
      bytes = func.getWorkgroupAttributions().front();
    } else {
      auto type = MemRefType::get(
          {ShapedType::kDynamic}, rewriter.getI8Type(),
          MemRefLayoutAttrInterface(),
          mlir::gpu::AddressSpaceAttr::get(rewriter.getContext(),
                                           mlir::gpu::AddressSpace::Workgroup));
      bytes = mlir::gpu::DynamicSharedMemoryOp::create(rewriter, loc, type);
    }
    Value offset =
        arith::ConstantIndexOp::create(rewriter, loc, *op.getOffset());
    auto type = cast<MemRefType>(flattenBuffer(op.getType()).front());
    Value size = arith::ConstantIndexOp::create(rewriter, loc,
                                                op.getType().getStorageSize());
    Value view =
        memref::ViewOp::create(rewriter, loc, type, bytes, offset, size);
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    rewriter.replaceOpWithMultiple(op, {SmallVector<Value>{view, zero}});
    return success();
  }
};

struct SlicePattern : MemoryPattern<SliceOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(SliceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    BufferParts buffer(op.getSource().getType(), adaptor.getSource());
    Value offset = buffer.offset;
    SmallVector<Value> indices = single(adaptor.getIndices());
    size_t next = 0;
    for (auto [dim, kept] : llvm::enumerate(op.getKept()))
      if (!kept)
        offset = arith::AddIOp::create(
            rewriter, loc, offset,
            buffer.scale(rewriter, loc, indices[next++], dim));
    rewriter.replaceOpWithMultiple(op, {buffer.slice(offset, op.getKept())});
    return success();
  }
};

struct DimPattern : MemoryPattern<DimOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(DimOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    BufferParts buffer(op.getBuffer().getType(), adaptor.getBuffer());
    rewriter.replaceOp(op, buffer.extent(rewriter, op.getLoc(), op.getDim()));
    return success();
  }
};

struct CommitGroupPattern : MemoryPattern<CommitGroupOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(CommitGroupOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (chip.asyncCopy)
      tile::gpu::CommitGroupOp::create(rewriter, op.getLoc());
    rewriter.eraseOp(op); // without them every copy is complete at once
    return success();
  }
};

struct WaitGroupPattern : MemoryPattern<WaitGroupOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(WaitGroupOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (chip.asyncCopy)
      tile::gpu::WaitGroupOp::create(
          rewriter, op.getLoc(), rewriter.getI32IntegerAttr(op.getPending()));
    rewriter.eraseOp(op);
    return success();
  }
};

struct BarrierPattern : MemoryPattern<BarrierOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(BarrierOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<mlir::gpu::BarrierOp>(op);
    return success();
  }
};

} // namespace

void tile::populateMemoryPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns,
                                  const Chip &chip) {
  patterns.add<AllocPattern, AtomicRMWPattern, BarrierPattern,
               CommitGroupPattern, CopyPattern, DimPattern, LoadPattern,
               SlicePattern, StorePattern, WaitGroupPattern>(
      converter, patterns.getContext(), chip);
}
