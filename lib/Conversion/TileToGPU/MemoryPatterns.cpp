//===- MemoryPatterns.cpp - Loads, stores and copies ----------------------===//
//
// Every element is stored or copied once: if several threads hold copies of an
// element, only the first of them stores it.
//
//===----------------------------------------------------------------------===//

#include "AMD/DirectCopy.h"
#include "GlobalAccess.h"
#include "NVIDIA/MatrixAccess.h"
#include "Patterns.h"
#include "ThreadAddress.h"
#include "VectorAccess.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/AccessWidth.h"
#include "tile/Analysis/MemoryLayouts.h"
#include <numeric>

using namespace mlir;
using namespace tile;

namespace {

/// Emits loads of a tile from global memory. Elements are zero out of bounds
/// and, if `active` is not null, in threads where it is false.
Value loadGlobal(OpBuilder &builder, Operation *op, VectorType type,
                 const Layout &dist, const BufferParts &buffer,
                 ValueRange indices, const Chip &chip, Value active = {}) {
  Location loc = op->getLoc();
  AccessWidth width = decideWidth(dist, memoryOperand(buffer, indices),
                                  anyWidth(buffer.type, chip.maxGlobalAccess));
  remarkLimits(op, width);
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
    if (inside && active)
      inside = arith::AndIOp::create(builder, loc, active, inside);
    else if (active)
      inside = active;
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

/// Calls `emit` with the insertion point inside a branch for the threads that
/// hold the first copies of their elements.
void emitForOwner(OpBuilder &builder, Location loc, const Layout &dist,
                  llvm::function_ref<void()> emit) {
  OpBuilder::InsertionGuard guard(builder);
  if (Value owner = emitIsOwner(builder, loc, dist))
    builder.setInsertionPointToStart(
        scf::IfOp::create(builder, loc, owner, /*withElse=*/false).thenBlock());
  emit();
}

void storeShared(OpBuilder &builder, Operation *op, Value vector,
                 const Layout &dist, const BufferParts &buffer,
                 ValueRange indices, ArrayRef<int64_t> start,
                 const Chip &chip) {
  Location loc = op->getLoc();
  bool hasCopies =
      llvm::any_of(ArrayRef<unsigned>{kRegister, kLane, kWarp},
                   [&](unsigned axis) { return dist.replication(axis) != 1; });
  if (chip.stmatrix && !hasCopies)
    if (std::optional<MatrixAccess> matrices =
            matchMatrixAccess(dist, buffer.type.getCanonicalLayout(), start,
                              buffer.type.getElementBits())) {
      emitStoreMatrix(builder, loc, *matrices, vector, buffer.type, start,
                      buffer.memory, buffer.offset);
      return;
    }
  AccessWidth width = decideWidth(dist, memoryOperand(buffer, indices),
                                  anyWidth(buffer.type, chip.maxSharedAccess));
  remarkLimits(op, width);
  const AccessGroups &groups = width.groups;
  for (auto [part, offset] : llvm::zip_equal(
           toAccesses(builder, loc, vector, groups),
           sharedOffsets(builder, loc, dist, buffer, start, groups)))
    storeVector(builder, loc, part, buffer.memory, offset);
}

void storeGlobal(OpBuilder &builder, Operation *op, Value vector,
                 const Layout &dist, const BufferParts &buffer,
                 ValueRange indices, const Chip &chip) {
  Location loc = op->getLoc();
  AccessWidth width = decideWidth(dist, memoryOperand(buffer, indices),
                                  anyWidth(buffer.type, chip.maxGlobalAccess));
  remarkLimits(op, width);
  SmallVector<Value> parts = toAccesses(builder, loc, vector, width.groups);
  GlobalAccess access(builder, loc, dist, buffer, indices);
  for (Run run : runsOfEqualBounds(access, width.groups)) {
    OpBuilder::InsertionGuard guard(builder);
    auto at = [&](int64_t i) {
      return width.groups.order[i * width.groups.width];
    };
    SmallVector<Value> offsets;
    for (int64_t i = run.begin; i < run.end; ++i)
      offsets.push_back(access.offset(at(i)));
    if (Value inside = access.inBounds(at(run.begin)))
      builder.setInsertionPointToStart(
          scf::IfOp::create(builder, loc, inside, /*withElse=*/false)
              .thenBlock());
    for (int64_t i = run.begin; i < run.end; ++i)
      storeVector(builder, loc, parts[i], buffer.memory,
                  offsets[i - run.begin]);
  }
}

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
              matchMatrixAccess(dist, buffer.type.getCanonicalLayout(), *start,
                                buffer.type.getElementBits())) {
        rewriter.replaceOp(op, emitLoadMatrix(rewriter, loc, *matrices, type,
                                              buffer.type, *start,
                                              buffer.memory, buffer.offset));
        return success();
      }
    SmallVector<Value> indices = single(adaptor.getIndices());
    AccessWidth width =
        decideWidth(dist, memoryOperand(buffer, indices),
                    anyWidth(buffer.type, chip.maxSharedAccess));
    remarkLimits(op, width);
    const AccessGroups &groups = width.groups;
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
      emitForOwner(rewriter, loc, dist, [&] {
        storeShared(rewriter, op, value, dist, buffer, indices, *start, chip);
      });
      rewriter.eraseOp(op);
      return success();
    }
    emitForOwner(rewriter, loc, dist, [&] {
      storeGlobal(rewriter, op, value, dist, buffer, indices, chip);
    });
    rewriter.eraseOp(op);
    return success();
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
    SmallVector<Value> origin(indices.size(),
                              arith::ConstantIndexOp::create(rewriter, loc, 0));
    auto func = op->getParentOfType<mlir::gpu::GPUFuncOp>();
    int64_t warps = func.getKnownBlockSizeAttr()[0] / chip.warpSize;
    int64_t elements = chip.maxGlobalAccess * 8 / dest.type.getElementBits();
    auto layout = [&](int64_t width) {
      return *getCopyLayout(source.type, dest.type, width, chip.warpSize, warps)
                  .getLayout(dest.type.getShape(), dest.type.getElementBits(),
                             nullptr);
    };
    Layout dist = layout(elements);

    auto remarkSynchronous = [&](const std::string &reason) {
      remark::missed(loc, remark::RemarkOpts::name("synchronous-copy")
                              .category("tile-vectorize"))
          << remark::reason("{0}", reason);
    };
    if (op.getAsync() && chip.asyncCopy.mechanism == AsyncCopy::DirectToLDS) {
      Refusal refusal = emitDirectCopy(rewriter, op, source, indices, dest,
                                       origin, chip, warps);
      if (!refusal) {
        rewriter.eraseOp(op);
        return success();
      }
      remarkSynchronous("copies without registers do not fit: " + *refusal);
    }
    if (op.getAsync() && chip.asyncCopy.mechanism == AsyncCopy::CpAsync) {
      // The width for both sides: a group must be contiguous in both memories.
      MemoryOperand operands[] = {memoryOperand(source, indices),
                                  memoryOperand(dest, origin)};
      WidthRequest request = anyWidth(
          source.type, std::min(chip.maxGlobalAccess, chip.maxSharedAccess));
      AccessWidth width = decideWidth(dist, operands, request);
      AccessGroups groups = width.groups;
      int64_t bytes = dest.type.getElementBits() / 8;
      if (llvm::is_contained(chip.asyncCopy.bytes, groups.width * bytes)) {
        // If a thread cannot copy all its neighbouring elements by one access,
        // neighbouring threads copy neighbouring accesses.
        if (groups.width < elements) {
          Layout narrow = layout(groups.width);
          AccessGroups others = decideWidth(narrow, operands, request).groups;
          if (others.width == groups.width) {
            dist = narrow;
            groups = others;
          }
        }
        remarkLimits(op, width);
        emitForOwner(rewriter, loc, dist, [&] {
          GlobalAccess access(rewriter, loc, dist, source, indices);
          SmallVector<Value> offsets =
              sharedOffsets(rewriter, loc, dist, dest, start, groups);
          Value all =
              arith::ConstantIndexOp::create(rewriter, loc, groups.width);
          Value none = arith::ConstantIndexOp::create(rewriter, loc, 0);
          // Tiles are read from shared memory only, so the copy bypasses L1.
          // The hardware can bypass it only for copies of 16 bytes.
          bool bypass = groups.width * dest.type.getElementBits() == 128;
          for (auto [i, offset] : llvm::enumerate(offsets)) {
            int64_t r = groups.order[i * groups.width];
            Value inside = access.inBounds(r);
            Value valid;
            if (inside)
              valid = arith::SelectOp::create(rewriter, loc, inside, all, none);
            nvgpu::DeviceAsyncCopyOp::create(
                rewriter, loc, nvgpu::DeviceAsyncTokenType::get(getContext()),
                dest.memory, offset, source.memory, access.offset(r),
                rewriter.getIndexAttr(groups.width), valid,
                bypass ? rewriter.getUnitAttr() : UnitAttr());
          }
        });
        rewriter.eraseOp(op);
        return success();
      }
      remarkSynchronous("asynchronous copies need at least 4 bytes: " +
                        width.limits.back().str());
    }

    auto type =
        VectorType::get({dist.axisSize(kRegister)}, dest.type.getElementType());
    Value tile = loadGlobal(rewriter, op, type, dist, source, indices, chip,
                            emitIsOwner(rewriter, loc, dist));
    emitForOwner(rewriter, loc, dist, [&] {
      storeShared(rewriter, op, tile, dist, dest, origin, start, chip);
    });
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void tile::populateMemoryPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns,
                                  const Chip &chip) {
  patterns.add<CopyPattern, LoadPattern, StorePattern>(
      converter, patterns.getContext(), chip);
}
