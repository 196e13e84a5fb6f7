//===- MemoryPatterns.cpp - Loads, stores and copies ----------------------===//
//
// Every element is stored or copied once: if several threads hold copies of an
// element, only the first of them stores it.
//
//===----------------------------------------------------------------------===//

#include "../AMD/BufferAccess.h"
#include "../AMD/DirectCopy.h"
#include "../Access/BoundedAccess.h"
#include "../Access/ThreadAddress.h"
#include "../Access/VectorAccess.h"
#include "../Lowering.h"
#include "../NVIDIA/MatrixAccess.h"
#include "../TileVectors.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tile/Analysis/AccessWidth.h"
#include "tile/Analysis/MemoryLayouts.h"
#include "tile/Analysis/RowRuns.h"
#include "tile/Analysis/TransposingReads.h"
#include <map>
#include <numeric>

using namespace mlir;
using namespace tile;

/// Returns true if accesses of `op` that the bounds may cut are divided into
/// single elements. In a loop, the masks of a few elements, which need no
/// branch, cost less than the branch for those that are cut. Elements of less
/// than a register would have to be packed, too.
static bool avoidsPartial(Operation *op, const Chip &chip, BufferType type,
                          const AccessWidth &width) {
  constexpr size_t kMostMasks = 16;
  return chip.bufferFlags != 0 && type.getElementBits() >= 32 &&
         width.groups.order.size() <= kMostMasks &&
         op->getParentOfType<LoopLikeOpInterface>();
}

/// Returns the width of the accesses of a tile to a buffer in global memory.
static AccessWidth decideGlobalWidth(Lowering &b, Operation *op,
                                     const Layout &dist,
                                     const MemoryOperand &operand) {
  WidthRequest request = anyWidth(operand.type, b.chip.maxGlobalAccess);
  request.canBePartial = true;
  AccessWidth width = decideWidth(dist, operand, request);
  if (width.partialDim && avoidsPartial(op, b.chip, operand.type, width)) {
    request.canBePartial = false;
    width = decideWidth(dist, operand, request);
  }
  remarkLimits(op, width);
  if (width.partialDim)
    remark::analysis(
        op->getLoc(),
        remark::RemarkOpts::name("partial-access").category("tile-vectorize"))
        << remark::reason(
               "{0} may end within {1} elements along dimension {2}: threads "
               "at the end access fewer at a time",
               operand.name, width.groups.width, *width.partialDim);
  return width;
}

/// Emits loads of a tile from global memory. Elements are zero out of bounds
/// and, if `active` is not null, in threads where it is false.
static Value loadGlobal(Lowering &b, Operation *op, VectorType type,
                        const Layout &dist, const BufferParts &buffer,
                        ValueRange indices, Value active = {}) {
  AccessWidth width =
      decideGlobalWidth(b, op, dist, memoryOperand(buffer, indices));
  const AccessGroups &groups = width.groups;
  auto part = VectorType::get({groups.width}, type.getElementType());
  // Without branches, bounds take a comparison and a selection in all threads.
  SmallVector<unsigned> within;
  if (b.chip.bufferFlags != 0)
    within = findDimsWithin(buffer, indices, dist.shape());
  GlobalAccess access(b, dist, buffer, indices, /*thread=*/{},
                      /*gathered=*/nullptr, within);
  auto windowed =
      BufferAccess::find(b, op, b.chip, dist, buffer, indices, access, width);
  SmallVector<Value> parts =
      windowed ? windowed->load(part, active)
               : loadInBounds(b, access, width, buffer.memory, part, active);
  return fromAccesses(b, type, dist, groups, parts);
}

DenseSet<Operation *> tile::findRowsAhead(Operation *root, const Chip &chip) {
  DenseSet<Operation *> found;
  root->walk([&](LoadOp load) {
    // A loop carries the result of the branch that contains the load.
    auto branch = dyn_cast<scf::IfOp>(load->getParentOp());
    if (!branch || !load->hasOneUse() ||
        !isa<scf::YieldOp>(*load->user_begin()))
      return;
    OpOperand &yielded = *load->use_begin();
    Value result = branch.getResult(yielded.getOperandNumber());
    if (!result.hasOneUse())
      return;
    Operation *user = *result.user_begin();
    auto loop = dyn_cast<scf::ForOp>(
        isa<scf::YieldOp>(user) ? user->getParentOp() : user);
    auto func = load->getParentOfType<mlir::gpu::GPUFuncOp>();
    if (loop && getSchedule(loop).stages &&
        !load->getParentOfType<WarpRolesOp>() &&
        findRowRun(load, chip, func.getKnownBlockSizeAttr()[0] / chip.warpSize))
      found.insert(load);
  });
  return found;
}

/// Emits a load of a part of one row, for tile-copy-ahead.
static Value loadRowAhead(Lowering &b, LoadOp op, VectorType type,
                          const Layout &dist, const BufferParts &buffer,
                          ValueRange indices) {
  RowLoad row{buffer.memory, buffer.offset, b.i32(0), {}, {}};
  unsigned along = 0;
  Value count, inside;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    row.offset = b.add(row.offset, buffer.scale(b, index, dim));
    int64_t extent = op.getType().getDimSize(dim);
    Value end = buffer.extent(b, dim);
    if (extent == 1) {
      inside = b.both(inside, arith::CmpIOp::create(
                                  b, arith::CmpIPredicate::slt, index, end));
      continue;
    }
    along = dim;
    count = arith::SubIOp::create(b, end, index);
    count = arith::MaxSIOp::create(b, count, b.index(0));
    count = arith::MinSIOp::create(b, count, b.index(extent));
  }
  if (inside)
    count = b.select(inside, count, b.index(0));
  row.count = b.toI32(count);
  row.place = emitThreadCoordinates(b, dist)[along];
  for (int64_t r = 0; r < dist.axisSize(kRegister); ++r)
    row.distances.push_back(dist.element(r, 0, 0)[along]);
  remark::passed(op.getLoc(),
                 remark::RemarkOpts::name("row-run").category("tile-vectorize"))
      << remark::reason("threads copy the aligned words that contain a row of "
                        "{0}",
                        memoryOperand(buffer, indices).name);
  return loadRow(b, row, type.getElementType());
}

/// Calls `emit` with the insertion point inside a branch for the threads that
/// hold the first copies of their elements.
static void emitForOwner(Emitter &b, const Layout &dist,
                         llvm::function_ref<void()> emit) {
  OpBuilder::InsertionGuard guard(b);
  if (Value owner = emitIsOwner(b, dist))
    b.enterIf(owner);
  emit();
}

static void storeShared(Lowering &b, Operation *op, Value vector,
                        const Layout &dist, const BufferParts &buffer,
                        ValueRange indices, ArrayRef<int64_t> start) {
  bool hasCopies =
      llvm::any_of(ArrayRef<unsigned>{kRegister, kLane, kWarp},
                   [&](unsigned axis) { return dist.replication(axis) != 1; });
  if (b.chip.stmatrix && !hasCopies)
    if (std::optional<MatrixAccess> matrices =
            matchMatrixAccess(dist, buffer.type.getCanonicalLayout(), start,
                              buffer.type.getElementBits()))
      return emitStoreMatrix(b, *matrices, vector, buffer.type, start,
                             buffer.memory, buffer.offset);
  AccessWidth width =
      decideWidth(dist, memoryOperand(buffer, indices),
                  anyWidth(buffer.type, b.chip.maxSharedAccess));
  remarkLimits(op, width);
  const AccessGroups &groups = width.groups;
  for (auto [part, offset] :
       llvm::zip_equal(toAccesses(b, vector, groups),
                       sharedOffsets(b, dist, buffer, start, groups)))
    storeVector(b, part, buffer.memory, offset);
}

static void storeGlobal(Lowering &b, Operation *op, Value vector,
                        const Layout &dist, const BufferParts &buffer,
                        ValueRange indices) {
  AccessWidth width =
      decideGlobalWidth(b, op, dist, memoryOperand(buffer, indices));
  SmallVector<Value> parts = toAccesses(b, vector, width.groups);
  GlobalAccess access(b, dist, buffer, indices);
  if (auto windowed = BufferAccess::find(b, op, b.chip, dist, buffer, indices,
                                         access, width))
    windowed->store(parts);
  else
    storeInBounds(b, access, width, buffer.memory, parts);
}

/// Emits reads of a tile in the LDS that transpose elements among lanes.
static Value loadTransposing(Emitter &b, const TransposingReads &reads,
                             VectorType type, const Layout &dist,
                             const BufferParts &buffer,
                             ArrayRef<int64_t> start) {
  auto part = VectorType::get({reads.groups.width}, type.getElementType());
  SmallVector<Value> parts;
  for (Value offset :
       sharedOffsets(b, reads.addresses, buffer, start, reads.groups))
    parts.push_back(
        amdgpu::TransposeLoadOp::create(b, part, buffer.memory, offset));
  return fromAccesses(b, type, dist, reads.groups, parts);
}

static LogicalResult convertLoad(LoadOp op, Parts<LoadOp> operands,
                                 Lowering &b) {
  auto tile = cast<RankedTensorType>(op.getType());
  if (isSharedTile(tile))
    return op.emitOpError("loads into shared memory; run tile-bufferize first");
  VectorType type = b.vectorOf(tile);
  Layout dist = getCanonicalLayout(tile);
  BufferParts buffer(op.getBuffer().getType(), operands.getBuffer());
  SmallVector<Value> indices = single(operands.getIndices());
  if (b.rowsAhead.contains(op))
    return b.replace(op, loadRowAhead(b, op, type, dist, buffer, indices));
  if (!buffer.type.isShared())
    return b.replace(op, loadGlobal(b, op, type, dist, buffer, indices));
  FailureOr<SmallVector<int64_t>> start = constantStart(op, indices);
  if (failed(start))
    return failure();
  if (b.chip.ldmatrix)
    if (std::optional<MatrixAccess> matrices =
            matchMatrixAccess(dist, buffer.type.getCanonicalLayout(), *start,
                              buffer.type.getElementBits()))
      return b.replace(op,
                       emitLoadMatrix(b, *matrices, type, buffer.type, *start,
                                      buffer.memory, buffer.offset));
  if (auto reads = findTransposingReads(
          dist,
          {buffer.type.getCanonicalLayout(), {start->begin(), start->end()}},
          buffer.type.getElementBits(), b.chip))
    return b.replace(op,
                     loadTransposing(b, *reads, type, dist, buffer, *start));
  AccessWidth width =
      decideWidth(dist, memoryOperand(buffer, indices),
                  anyWidth(buffer.type, b.chip.maxSharedAccess));
  remarkLimits(op, width);
  const AccessGroups &groups = width.groups;
  auto part = VectorType::get({groups.width}, type.getElementType());
  SmallVector<Value> parts;
  for (Value offset : sharedOffsets(b, dist, buffer, *start, groups))
    parts.push_back(loadVector(b, buffer.memory, offset, part));
  return b.replace(op, fromAccesses(b, type, dist, groups, parts));
}

/// Returns the memory that `gather` reads, for the width of its accesses. The
/// places of rows are unknown: the stride between them is represented by one
/// that is only known to have the same divisors. If each element has an index
/// of its own, it lies in another row than its neighbours along any dimension.
static MemoryOperand getGatheredMemory(GatherOp gather,
                                       const BufferParts &buffer,
                                       ValueRange indices) {
  auto strided = cast<StridedAttr>(buffer.type.getLayout());
  SmallVector<int64_t> strides(strided.getStrides());
  SmallVector<int64_t> divisors(strided.getDivisors());
  SmallVector<int64_t> shape(buffer.type.getShape());
  bool hasRowForEach =
      cast<RankedTensorType>(gather.getRows().getType()).getRank() ==
      cast<RankedTensorType>(gather.getType()).getRank();
  for (size_t dim = 0; dim < strides.size(); ++dim) {
    if (dim != gather.getDim() && !hasRowForEach)
      continue;
    if (strides[dim] != kDynamic)
      divisors[dim] = std::gcd(strides[dim], int64_t(1) << 20);
    strides[dim] = kDynamic;
    shape[dim] = ShapedType::kDynamic;
  }
  MemoryOperand operand = memoryOperand(buffer, indices);
  operand.type =
      BufferType::get(gather.getContext(), shape, buffer.type.getElementType(),
                      StridedAttr::get(gather.getContext(), strides, divisors,
                                       strided.getAlign()),
                      buffer.type.getSpace());
  return operand;
}

static LogicalResult convertGather(GatherOp op, Parts<GatherOp> operands,
                                   Lowering &b) {
  auto tile = cast<RankedTensorType>(op.getType());
  VectorType type = b.vectorOf(tile);
  Layout dist = getCanonicalLayout(tile);
  BufferParts buffer(op.getBuffer().getType(), operands.getBuffer());
  SmallVector<Value> indices = single(operands.getIndices());
  GatheredRows rows{unsigned(op.getDim()), operands.getRows().front(), {}};
  Layout rowsLayout = layoutOf(op.getRows());
  std::map<Coordinates, int64_t> registers;
  for (auto [r, coordinates] : llvm::enumerate(registerCoordinates(rowsLayout)))
    registers.try_emplace(coordinates, r);
  for (Coordinates coordinates : registerCoordinates(dist)) {
    if (rowsLayout.rank() != dist.rank())
      coordinates = {coordinates[rows.dim]};
    rows.registers.push_back(registers.at(coordinates));
  }
  // An unknown start.
  SmallVector<Value> starts(indices);
  starts[rows.dim] = arith::IndexCastOp::create(
      b, b.getIndexType(),
      vector::ExtractOp::create(b, rows.rows, rows.registers.front()));
  MemoryOperand memory = getGatheredMemory(op, buffer, starts);
  AccessWidth width = decideGlobalWidth(b, op, dist, memory);
  GlobalAccess access(b, dist, buffer, indices, /*thread=*/{}, &rows);
  auto part = VectorType::get({width.groups.width}, type.getElementType());
  SmallVector<Value> parts =
      loadInBounds(b, access, width, buffer.memory, part, /*active=*/{});
  return b.replace(op, fromAccesses(b, type, dist, width.groups, parts));
}

static LogicalResult convertStore(StoreOp op, Parts<StoreOp> operands,
                                  Lowering &b) {
  Layout dist =
      getCanonicalLayout(cast<RankedTensorType>(op.getValue().getType()));
  BufferParts buffer(op.getBuffer().getType(), operands.getBuffer());
  SmallVector<Value> indices = single(operands.getIndices());
  Value value = operands.getValue().front();
  FailureOr<SmallVector<int64_t>> start;
  if (buffer.type.isShared() && failed(start = constantStart(op, indices)))
    return failure();
  emitForOwner(b, dist, [&] {
    if (buffer.type.isShared())
      storeShared(b, op, value, dist, buffer, indices, *start);
    else
      storeGlobal(b, op, value, dist, buffer, indices);
  });
  return b.erase(op);
}

namespace {
/// The division of a tile into asynchronous copies.
struct AsyncCopies {
  Layout dist;
  AccessWidth width;

  int64_t countPerThread() const {
    return width.groups.order.size() / width.groups.width;
  }
};
} // namespace

/// Emits the copies of `op` by cp.async. Refuses if neighbouring elements are
/// too few for one.
static Refusal emitAsyncCopy(Lowering &b, CopyOp op, const BufferParts &source,
                             ValueRange indices, const BufferParts &dest,
                             ValueRange origin,
                             llvm::function_ref<Layout(int64_t)> layout,
                             int64_t elements) {
  // The width for both sides: a group must be contiguous in both memories.
  MemoryOperand operands[] = {memoryOperand(source, indices),
                              memoryOperand(dest, origin)};
  WidthRequest request = anyWidth(
      source.type, std::min(b.chip.maxGlobalAccess, b.chip.maxSharedAccess));
  int64_t bits = dest.type.getElementBits();
  auto hasInstruction = [&](const AsyncCopies &copies) {
    return llvm::is_contained(b.chip.asyncCopy.bytes,
                              copies.width.groups.width * bits / 8);
  };
  auto divide = [&](bool canBePartial) {
    request.canBePartial = canBePartial;
    AsyncCopies copies{layout(elements), {}};
    copies.width = decideWidth(copies.dist, operands, request);
    // If a thread cannot copy all its neighbouring elements by one access,
    // neighbouring threads copy neighbouring accesses.
    int64_t width = copies.width.groups.width;
    if (hasInstruction(copies) && width < elements) {
      Layout narrow = layout(width);
      AccessWidth others = decideWidth(narrow, operands, request);
      if (others.groups.width == width) {
        others.limits = copies.width.limits;
        copies = {narrow, others};
      }
    }
    return copies;
  };
  // The instruction reads the first elements only and writes zeros for the
  // others, if it is told so. The number of elements takes registers, which
  // pays if a thread has fewer copies.
  AsyncCopies copies = divide(/*canBePartial=*/false);
  AsyncCopies partial = divide(/*canBePartial=*/true);
  if (!hasInstruction(copies) ||
      partial.countPerThread() < copies.countPerThread())
    copies = std::move(partial);
  const AccessWidth &width = copies.width;
  if (!hasInstruction(copies))
    return "asynchronous copies need at least 4 bytes: " +
           width.limits.back().str();
  const Layout &dist = copies.dist;
  const AccessGroups &groups = width.groups;
  std::optional<unsigned> partialDim = width.partialDim;
  remarkLimits(op, width);
  emitForOwner(b, dist, [&] {
    GlobalAccess access(b, dist, source, indices);
    SmallVector<int64_t> start(indices.size(), 0);
    SmallVector<Value> offsets = sharedOffsets(b, dist, dest, start, groups);
    Value all = b.index(groups.width), none = b.index(0);
    // Tiles are read from shared memory only, so the copy bypasses L1. The
    // hardware can bypass it only for copies of 16 bytes.
    bool bypass = groups.width * bits == 128;
    for (auto [i, offset] : llvm::enumerate(offsets)) {
      int64_t r = groups.order[i * groups.width];
      Value valid;
      if (partialDim)
        valid = access.countInBounds(r, *partialDim, groups.width);
      else if (Value inside = access.inBounds(r))
        valid = b.select(inside, all, none);
      nvgpu::DeviceAsyncCopyOp::create(
          b, nvgpu::DeviceAsyncTokenType::get(b.getContext()), dest.memory,
          offset, source.memory, access.offset(r), b.getIndexAttr(groups.width),
          valid, bypass ? b.getUnitAttr() : UnitAttr());
    }
  });
  return std::nullopt;
}

static LogicalResult convertCopy(CopyOp op, Parts<CopyOp> operands,
                                 Lowering &b) {
  const Chip &chip = b.chip;
  BufferParts source(op.getSource().getType(), operands.getSource());
  BufferParts dest(op.getDest().getType(), operands.getDest());
  SmallVector<Value> indices = single(operands.getIndices());
  SmallVector<Value> origin(indices.size(), b.index(0));
  auto func = op->getParentOfType<mlir::gpu::GPUFuncOp>();
  int64_t warps = func.getKnownBlockSizeAttr()[0] / chip.warpSize;
  int64_t elements = chip.maxGlobalAccess * 8 / dest.type.getElementBits();
  auto layout = [&](int64_t width) {
    return *getCopyLayout(source.type, dest.type, width, warps, chip)
                .getLayout(dest.type.getShape(), dest.type.getElementBits(),
                           nullptr);
  };

  if (op.getAsync() && chip.asyncCopy.mechanism != AsyncCopy::None) {
    bool isDirect = chip.asyncCopy.mechanism == AsyncCopy::DirectToLDS;
    Refusal refusal = isDirect ? emitDirectCopy(b, op, source, indices, dest,
                                                origin, chip, warps)
                               : emitAsyncCopy(b, op, source, indices, dest,
                                               origin, layout, elements);
    if (!refusal)
      return b.erase(op);
    if (isDirect)
      refusal = "copies without registers do not fit: " + *refusal;
    remark::missed(
        op.getLoc(),
        remark::RemarkOpts::name("synchronous-copy").category("tile-vectorize"))
        << remark::reason("{0}", *refusal);
  }

  Layout dist = layout(elements);
  auto type =
      VectorType::get({dist.axisSize(kRegister)}, dest.type.getElementType());
  Value tile =
      loadGlobal(b, op, type, dist, source, indices, emitIsOwner(b, dist));
  emitForOwner(b, dist, [&] {
    SmallVector<int64_t> start(indices.size(), 0);
    storeShared(b, op, tile, dist, dest, origin, start);
  });
  return b.erase(op);
}

void tile::addMemoryConversions(ConversionAdder &conversions) {
  conversions.addAll(convertCopy, convertGather, convertLoad, convertStore);
}
