//===- BulkAddPatterns.cpp - Bulk reductions to global memory -------------===//

#include "../GlobalAccess.h"
#include "../Patterns.h"
#include "../SharedAddress.h"
#include "../VectorAccess.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "tile/Analysis/BulkRuns.h"
#include "tile/Conversion/GPUToLLVM/NVIDIA/Assembly.h"

using namespace mlir;
using namespace tile;

/// Returns the name of the type of the elements in the instruction.
static std::string typeSuffix(Type element) {
  std::string name;
  llvm::raw_string_ostream(name) << element;
  return element.getIntOrFloatBitWidth() == 16 ? "noftz." + name : name;
}

/// Starts to add `count` elements from `index` of `source` on to those from
/// `place` of `dest` on, if `active`. nvvm has no cp.reduce.async.bulk.
static void emitBulkAdd(OpBuilder &builder, Location loc, Value source,
                        Value index, Value dest, Value place, int64_t count,
                        Value active) {
  Type element = cast<MemRefType>(source.getType()).getElementType();
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, dest);
  Value distance = arith::MulIOp::create(
      builder, loc, place, arith::ConstantIndexOp::create(builder, loc, bytes));
  Value to = arith::IndexCastUIOp::create(
      builder, loc, builder.getI64Type(),
      arith::AddIOp::create(builder, loc, base, distance));
  emitAssembly(
      builder, loc,
      "@$2 cp.reduce.async.bulk.global.shared::cta.bulk_group.add." +
          typeSuffix(element) + " [$0], [$1], " + Twine(count * bytes) + ";",
      "l,r,b", {to, sharedAddress(builder, loc, source, index), active});
}

namespace {

struct BulkAddPattern : MemoryPattern<BulkAddOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(BulkAddOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    BufferParts source(op.getSource().getType(), adaptor.getSource());
    BufferParts dest(op.getDest().getType(), adaptor.getDest());
    SmallVector<Value> indices = single(adaptor.getIndices());
    BulkRuns runs = findBulkRuns(source.type, memoryOperand(dest, indices));
    if (runs.refusal)
      return op.emitOpError() << "cannot be done by TMA: " << *runs.refusal;
    // Runs start at multiples of 16 bytes from the start of the source.
    int64_t bytes =
        knownDivisor(source.offset) * source.type.getElementBits() / 8;
    if (bytes % kBulkBytes != 0)
      return op.emitOpError()
             << "cannot be done by TMA: its source "
                "is known to begin at a multiple of "
             << bytes << " bytes, which must be " << kBulkBytes;
    GlobalAccess access(rewriter, loc, runs.order, dest, indices);
    for (const BulkRun &run : runs.runs) {
      Value index = arith::AddIOp::create(
          rewriter, loc, source.offset,
          arith::ConstantIndexOp::create(rewriter, loc, run.begin));
      Value active = access.inBounds(run.begin);
      if (!active)
        active = arith::ConstantIntOp::create(rewriter, loc, 1, 1);
      emitBulkAdd(rewriter, loc, source.memory, index, dest.memory,
                  access.offset(run.begin), run.count, active);
    }
    NVVM::CpAsyncBulkCommitGroupOp::create(rewriter, loc);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void tile::populateBulkAddPatterns(const TypeConverter &converter,
                                   RewritePatternSet &patterns,
                                   const Chip &chip) {
  patterns.add<BulkAddPattern>(converter, patterns.getContext(), chip);
}
