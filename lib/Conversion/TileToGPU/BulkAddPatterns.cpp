//===- BulkAddPatterns.cpp - Bulk reductions to global memory -------------===//

#include "GlobalAccess.h"
#include "Patterns.h"
#include "VectorAccess.h"
#include "tile/Analysis/BulkRuns.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;
using namespace tile;

namespace {

struct BulkAddPattern : MemoryPattern<BulkAddOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(BulkAddOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    if (!chip.bulkCopy)
      return op.emitOpError() << chip.name << " has no TMA";
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
      tile::gpu::BulkAddOp::create(rewriter, loc, source.memory, index,
                                   dest.memory, access.offset(run.begin),
                                   run.count, active);
    }
    tile::gpu::BulkCommitOp::create(rewriter, loc);
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
