//===- BufferPatterns.cpp - Buffers, views, barriers and copy groups ------===//

#include "../Access/VectorAccess.h"
#include "../Kernel/Kernel.h"
#include "../Lowering.h"
#include "../Roles.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;
using namespace tile;

static LogicalResult convertAlloc(AllocOp op, Parts<AllocOp>, Lowering &b) {
  if (!op.getOffset())
    return op.emitOpError("has no offset; run tile-plan-shared-memory first");
  Value bytes;
  if (b.chip.vendor == Vendor::AMD) {
    auto func = op->getParentOfType<mlir::gpu::GPUFuncOp>();
    if (func.getWorkgroupAttributions().empty())
      return op.emitOpError(
          "is in a kernel without shared_bytes; run tile-plan-shared-memory "
          "first");
    bytes = func.getWorkgroupAttributions().front();
  } else {
    auto type = MemRefType::get(
        {ShapedType::kDynamic}, b.getI8Type(), MemRefLayoutAttrInterface(),
        mlir::gpu::AddressSpaceAttr::get(b.getContext(),
                                         mlir::gpu::AddressSpace::Workgroup));
    bytes = mlir::gpu::DynamicSharedMemoryOp::create(b, type);
  }
  Value offset = b.index(*op.getOffset());
  if (Value group = emitGroupOffset(op, b))
    offset = b.add(offset, group);
  auto type = cast<MemRefType>(flattenBuffer(op.getType()).front());
  Value size = b.index(op.getType().getStorageSize());
  Value view = memref::ViewOp::create(b, type, bytes, offset, size);
  return b.replaceByParts(op, {view, b.index(0)});
}

static LogicalResult convertSlice(SliceOp op, Parts<SliceOp> operands,
                                  Lowering &b) {
  BufferParts buffer(op.getSource().getType(), operands.getSource());
  Value offset = buffer.offset;
  SmallVector<Value> indices = single(operands.getIndices());
  size_t next = 0;
  for (auto [dim, kept] : llvm::enumerate(op.getKept()))
    if (!kept)
      offset = b.add(offset, buffer.scale(b, indices[next++], dim));
  return b.replaceByParts(op, buffer.slice(offset, op.getKept()));
}

static LogicalResult convertNarrow(NarrowOp op, Parts<NarrowOp> operands,
                                   Lowering &b) {
  BufferParts buffer(op.getSource().getType(), operands.getSource());
  unsigned dim = op.getDim();
  Value offset =
      b.add(buffer.offset, buffer.scale(b, operands.getStart().front(), dim));
  buffer.extents[dim] = operands.getLength().front();
  SmallVector<bool> all(buffer.type.getRank(), true);
  return b.replaceByParts(op, buffer.slice(offset, all));
}

static LogicalResult convertPaged(PagedOp op, Parts<PagedOp> operands,
                                  Lowering &b) {
  BufferParts source(op.getSource().getType(), operands.getSource());
  BufferParts table(op.getTable().getType(), operands.getTable());
  auto layout = cast<StridedAttr>(op.getType().getLayout());
  Value one = b.index(1);
  Value room = b.mul(table.extent(b, 0), layout.getPage());
  Value length = arith::MinSIOp::create(b, operands.getLength().front(), room);
  SmallVector<Value> parts{source.memory, source.offset, length};
  for (Value extent : ArrayRef(source.extents).drop_front(2))
    if (extent)
      parts.push_back(extent);
  // The distance between rows may be known; the type of the view has none.
  parts.push_back(source.scale(b, one, 1));
  for (Value stride : ArrayRef(source.strides).drop_front(2))
    if (stride)
      parts.push_back(stride);
  parts.append({source.extent(b, 0), table.memory, table.offset,
                table.scale(b, one, 0), source.scale(b, one, 0)});
  return b.replaceByParts(op, parts);
}

static LogicalResult
convertLoadScalar(LoadScalarOp op, Parts<LoadScalarOp> operands, Lowering &b) {
  BufferParts buffer(op.getBuffer().getType(), operands.getBuffer());
  Value offset = buffer.offset;
  for (auto [dim, index] : llvm::enumerate(single(operands.getIndices())))
    offset = b.add(offset, buffer.scale(b, index, dim));
  return b.replace(op, memref::LoadOp::create(b, buffer.memory, offset));
}

static LogicalResult convertDim(DimOp op, Parts<DimOp> operands, Lowering &b) {
  BufferParts buffer(op.getBuffer().getType(), operands.getBuffer());
  return b.replace(op, buffer.extent(b, op.getDim()));
}

static LogicalResult convertCommitGroup(CommitGroupOp op, Parts<CommitGroupOp>,
                                        Lowering &b) {
  switch (b.chip.asyncCopy.mechanism) {
  case AsyncCopy::None: // no copy is pending
    break;
  case AsyncCopy::CpAsync:
    // nvgpu's group names its copies by tokens, which here are in other
    // regions.
    NVVM::CpAsyncCommitGroupOp::create(b);
    break;
  case AsyncCopy::DirectToLDS:
    tile::gpu::CommitCopiesOp::create(b);
    break;
  }
  return b.erase(op);
}

static LogicalResult convertWaitGroup(WaitGroupOp op, Parts<WaitGroupOp>,
                                      Lowering &b) {
  switch (b.chip.asyncCopy.mechanism) {
  case AsyncCopy::None:
    break;
  case AsyncCopy::CpAsync:
    // The wait of nvgpu names a group by its token. In a pipelined loop, only
    // the number of newer groups is known.
    NVVM::CpAsyncWaitGroupOp::create(b, op.getPending());
    break;
  case AsyncCopy::DirectToLDS:
    tile::gpu::WaitCopiesOp::create(b, op.getPending());
    break;
  }
  return b.erase(op);
}

static LogicalResult convertScheduleBarrier(ScheduleBarrierOp op,
                                            Parts<ScheduleBarrierOp>,
                                            Lowering &b) {
  if (b.chip.vendor != Vendor::AMD)
    return b.erase(op);
  // Scalar instructions may cross: they compute addresses and predicates.
  // Vector instructions may where two are issued together. Elsewhere those that
  // read loads in flight would move in front of the products that hide these.
  auto crossing = amdgpu::sched_barrier_opt_enum::salu;
  if (b.chip.throughput.pairs == F32Pairs::Dual)
    crossing = crossing | amdgpu::sched_barrier_opt_enum::valu;
  amdgpu::SchedBarrierOp::create(b, crossing);
  return b.erase(op);
}

static LogicalResult convertBarrier(BarrierOp op, Parts<BarrierOp>,
                                    Lowering &b) {
  // On AMD GPUs gpu.barrier becomes one that orders shared memory alone.
  bool needsFences = op.getGlobal() && b.chip.vendor == Vendor::AMD;
  if (needsFences)
    LLVM::FenceOp::create(b, LLVM::AtomicOrdering::release, "workgroup");
  mlir::gpu::BarrierOp::create(b);
  if (needsFences)
    LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acquire, "workgroup");
  return b.erase(op);
}

void tile::addBufferConversions(ConversionAdder &conversions) {
  conversions.addAll(convertAlloc, convertBarrier, convertCommitGroup,
                     convertDim, convertLoadScalar, convertNarrow, convertPaged,
                     convertScheduleBarrier, convertSlice, convertWaitGroup);
}
